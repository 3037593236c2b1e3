package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/toolhost/toolhost/sdk"
)

// forms returns the secret in the forms in which it is often written.
func forms(secret string) []string {
	return []string{
		secret,
		string(asJSON(secret)),
		fmt.Sprintf("%q", secret),
		fmt.Sprintf("%x", secret),
		"https://example.org/" + url.PathEscape(secret) + "?key=" + url.QueryEscape(secret),
		base64.StdEncoding.EncodeToString([]byte(secret)),
		"Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+secret)),
		base64.RawURLEncoding.EncodeToString([]byte(secret)),
		strings.ToUpper(secret),
	}
}

// printAll prints the secret in two writes, on separate lines, at the place where a long line is
// cut, and without a line end.
func printAll(to io.Writer, secret, all string) error {
	const longest = 8 << 10 // default length of a line
	half := len(secret) / 2
	for _, piece := range []string{
		"printed " + all + "\n",
		"twice " + secret[:half], secret[half:] + "\n",
		secret + "\n",
		strings.Repeat("x", longest-half) + secret + strings.Repeat("y", 100) + "\n",
		`{"@level":"warn","@message":` + string(asJSON(all)) + `,"key":` + string(asJSON(secret)) + "}\n",
		"unended " + secret,
	} {
		if _, err := io.WriteString(to, piece); err != nil {
			return err
		}
	}
	return nil
}

// results returns a result that contains the secret in one form.
func results(way, secret, all string) (sdk.Result, bool) {
	switch way {
	case "text":
		return text("text " + all), true
	case "large":
		return text(strings.Repeat("much ", 20_000) + all), true
	case "json":
		return sdk.Result{Content: []sdk.Content{{Kind: "json", JSON: asJSON(map[string]any{secret: []string{all}})}}}, true
	case "file":
		return sdk.Result{Content: []sdk.Content{{Kind: "file", Name: "key.txt", MediaType: "text/plain", Data: []byte(all)}}}, true
	case "rest":
		result := text("done")
		result.Effects = []sdk.Effect{{Key: "key", Value: asJSON(all)}}
		result.Metadata = map[string]json.RawMessage{"key": asJSON(all)}
		return result, true
	}
	return sdk.Result{}, false
}

func text(s string) sdk.Result {
	return sdk.Result{Content: []sdk.Content{{Kind: "text", Text: s}}}
}

func asJSON(value any) json.RawMessage {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts
	}
	return encoded
}
