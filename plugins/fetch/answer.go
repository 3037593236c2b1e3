package main

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// answer is a server's response, as far as it was read.
type answer struct {
	*http.Response
	asked     string // the requested URL
	body      []byte
	truncated bool   // the body has more data
	broken    error  // why the body ended too early; nil: it is whole, or limit ended it
	mediaType string // without parameters; detected if the server did not send one
}

// send makes a request and reads at most limit bytes of the body, counted after decompression.
func send(client *http.Client, r *http.Request, limit int64) (*answer, error) {
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") && r.Method != http.MethodHead {
		return nil, fmt.Errorf("it answered in the encoding %q, although it was not told that this is understood", clip(encoding, 40))
	}
	a := &answer{Response: response, asked: r.URL.String()}
	a.body, err = io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err != nil && (len(a.body) == 0 || r.Context().Err() != nil) {
		return nil, fmt.Errorf("reading its answer: %w", err)
	}
	a.truncated, a.broken = err != nil, err
	if int64(len(a.body)) > limit {
		a.body, a.truncated, a.broken = a.body[:limit], true, nil
	}
	a.mediaType = a.kind()
	return a, nil
}

// kind returns the media type of the body.
func (a *answer) kind() string {
	declared, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err == nil && declared != "application/octet-stream" && declared != "binary/octet-stream" {
		return declared
	}
	sniffed, _, _ := mime.ParseMediaType(http.DetectContentType(a.body))
	return sniffed
}

func (a *answer) isHTML() bool {
	return a.mediaType == "text/html" || a.mediaType == "application/xhtml+xml"
}

func (a *answer) isJSON() bool {
	return a.mediaType == "application/json" || strings.HasSuffix(a.mediaType, "+json")
}

// texts are the textual media types outside of text/*.
var texts = []string{
	"application/xml", "application/javascript", "application/ecmascript", "application/yaml", "application/x-yaml",
	"application/toml", "application/x-sh", "application/x-ndjson", "application/jsonl", "application/sql",
	"application/graphql", "application/x-www-form-urlencoded", "application/rtf", "application/x-tex", "application/x-subrip",
}

func (a *answer) isText() bool {
	if strings.HasPrefix(a.mediaType, "text/") || strings.HasSuffix(a.mediaType, "+xml") || a.isHTML() || a.isJSON() || slices.Contains(texts, a.mediaType) {
		return true
	}
	return strings.HasPrefix(a.mediaType, "application/") && !bytes.ContainsRune(a.body, 0) && utf8.Valid(a.body) && len(a.body) > 0
}

// text returns the body as UTF-8.
func (a *answer) text() string {
	body := a.body
	if a.truncated {
		body = wholeRunes(body)
	}
	encoding, name, certain := charset.DetermineEncoding(body[:min(len(body), 1024)], a.Header.Get("Content-Type"))
	if name != "utf-8" && (certain || !utf8.Valid(body)) {
		if decoded, err := encoding.NewDecoder().Bytes(a.body); err == nil {
			body = decoded
		}
	}
	text := strings.ToValidUTF8(string(bytes.TrimPrefix(body, []byte("\uFEFF"))), "\uFFFD")
	// NUL has no meaning in text and takes six bytes in JSON
	return strings.ReplaceAll(text, "\x00", "")
}

// wholeRunes returns b without an incomplete character at its end.
func wholeRunes(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if utf8.RuneStart(b[len(b)-n]) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return b[:len(b)-n]
			}
			break
		}
	}
	return b
}

// name returns a file name for the body.
func (a *answer) name() string {
	_, parameters, _ := mime.ParseMediaType(a.Header.Get("Content-Disposition"))
	for _, name := range []string{parameters["filename"], path.Base(a.Request.URL.Path)} {
		name = path.Base(strings.ReplaceAll(oneLine(name, 100), `\`, "/"))
		if name != "." && name != "/" && name != ".." && name != "" {
			return name
		}
	}
	return "download"
}
