package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// shortest is how long a value, or one form of it, has to be to be kept out of texts, in bytes: shorter ones are found in
	// too much that has nothing to do with them.
	shortest = 6
	// shortestPiece is how long a line of a value of many has to be: shorter ones tell little, and are found elsewhere.
	shortestPiece = 16
	// shortestFolded is how long a value has to be to be found in capital or small letters, in bytes: a shorter one may be an
	// ordinary word in that form.
	shortestFolded = 12
	// longestRecoded bounds the values, in bytes, that are found in the rarer forms. It bounds the memory of a Redactor.
	longestRecoded = 4 << 10
)

// forms returns how a value may be written: as it is, escaped for JSON, Go and URLs, in hexadecimal digits and in base64,
// there also within something longer; as UTF-16, in capital or small letters; and the lines of a value of many, for what
// cuts texts into lines.
func forms(value string) []string {
	all := encodings(value)
	if len(value) <= longestRecoded {
		all = append(all, recoded(value)...)
	}
	for _, piece := range pieces(value) {
		all = append(all, encodings(piece)...)
	}
	all = slices.DeleteFunc(all, func(form string) bool { return len(form) < shortest })
	slices.Sort(all)
	return slices.Compact(all)
}

func encodings(value string) []string {
	all := []string{value, hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value)))}
	all = append(all, escapedJSON(value)...)
	all = append(all, unquoted(strconv.Quote(value)), unquoted(strconv.QuoteToASCII(value)))
	all = append(all, escapedURL(value)...)
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		all = append(all, encoding.EncodeToString([]byte(value)))
		all = append(all, within(encoding.WithPadding(base64.NoPadding), value)...)
	}
	return all
}

// escapedJSON returns the value as it stands between the quotes of a JSON string, as different writers do it.
func escapedJSON(value string) []string {
	var plain strings.Builder
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // a string cannot fail
	text := unquoted(strings.TrimSuffix(plain.String(), "\n"))
	html, _ := json.Marshal(value) // a string cannot fail
	ascii := escapedASCII(text)
	return []string{text, unquoted(string(html)), ascii, strings.ReplaceAll(text, "/", `\/`), strings.ReplaceAll(ascii, "/", `\/`)}
}

// escapedASCII returns JSON with all that is not ASCII escaped.
func escapedASCII(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// unquoted returns a text without the quotes around it.
func unquoted(text string) string { return text[1 : len(text)-1] }

// escapedURL returns the value as it stands in a URL, in its query and in its path, as different writers do it.
func escapedURL(value string) []string {
	query, path := url.QueryEscape(value), url.PathEscape(value)
	// What JavaScript's encodeURIComponent leaves as it is, beside what Go does.
	component := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query)
	all := []string{query, path, component, strings.ReplaceAll(query, "+", "%20")}
	for _, text := range all[:len(all):len(all)] {
		all = append(all, lowerEscapes(text))
	}
	return all
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(text[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}

// within returns the characters that stand for the value alone where it is encoded as a part of something, wherever it
// begins there: those that hold bits of its neighbours differ.
func within(encoding *base64.Encoding, value string) []string {
	var all []string
	for before := range 3 {
		text := encoding.EncodeToString(append(make([]byte, before), value...))
		begin, end := (8*before+5)/6, 8*(before+len(value))/6
		all = append(all, text[begin:end])
	}
	return all
}

// pieces returns the lines of a value that has several, also where its line ends are written as \n, as keys in JSON are.
// What begins and ends such keys is no secret.
func pieces(value string) []string {
	lines := strings.FieldsFunc(strings.ReplaceAll(value, `\n`, "\n"), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) < 2 {
		return nil
	}
	return slices.DeleteFunc(lines, func(line string) bool {
		return len(line) < shortestPiece || strings.HasPrefix(strings.TrimSpace(line), "-----")
	})
}
