package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// shortest is the length in bytes that a value, or a form of it, needs to be redacted. Shorter
	// ones occur in too many unrelated texts.
	shortest = 6
	// shortestPiece is the smallest length of a line that is redacted, if a value has several
	// lines. Shorter lines reveal little and occur by chance in other texts.
	shortestPiece = 16
	// shortestFolded is the length in bytes that a value needs to be found in upper or lower case.
	// A shorter one may be an ordinary word in that form.
	shortestFolded = 12
	// longestWrapped bounds the length in bytes of values that are found in base64 with line breaks.
	// It bounds the memory of a Redactor.
	longestWrapped = 4 << 10
)

// forms returns the forms in which a value may be written: unchanged; escaped for JSON, Go, URLs
// and HTML; with doubled quotes; in base64, also within a longer text; in hexadecimal digits, all
// upper or all lower case; in upper and lower case; and the single lines of a value of several
// lines, because logs cut texts into lines.
func forms(value string) []string {
	all := encodings(value)
	if len(value) >= shortestFolded {
		all = append(all, strings.ToUpper(value), strings.ToLower(value))
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
	all = append(all, escapedMarkup(value)...)
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		all = append(all, encoding.EncodeToString([]byte(value)))
		all = append(all, within(encoding.WithPadding(base64.NoPadding), value)...)
	}
	return all
}

// escapedJSON returns the value as the content of a JSON string, as different encoders write it.
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

// escapedASCII returns JSON with escapes for all characters that are not ASCII.
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

// escapedURL returns the value as part of a URL, in its query and in its path, as different
// encoders write it.
func escapedURL(value string) []string {
	query, path := url.QueryEscape(value), url.PathEscape(value)
	// JavaScript's encodeURIComponent leaves these characters unchanged.
	component := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query)
	all := []string{query, path, component, strings.ReplaceAll(query, "+", "%20")}
	for _, text := range all[:len(all):len(all)] {
		all = append(all, lowerEscapes(text))
	}
	return all
}

// escapedMarkup returns the value as part of HTML or XML, as different encoders write quotes, and
// in quotes that are doubled, as CSV and SQL write them.
func escapedMarkup(value string) []string {
	text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(value)
	return []string{
		text, html.EscapeString(value), strings.NewReplacer(`"`, "&quot;", "'", "&#x27;").Replace(text),
		strings.NewReplacer(`"`, "&quot;", "'", "&#39;").Replace(text), strings.NewReplacer(`"`, "&quot;", "'", "&apos;").Replace(text),
		strings.ReplaceAll(value, `"`, `""`), strings.ReplaceAll(value, "'", "''"),
	}
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

// within returns the base64 characters that depend on the value alone if it is encoded as part of a
// longer text, for each alignment. Characters that contain bits of the neighboring bytes differ.
func within(encoding *base64.Encoding, value string) []string {
	var all []string
	for before := range 3 {
		text := encoding.EncodeToString(append(make([]byte, before), value...))
		begin, end := (8*before+5)/6, 8*(before+len(value))/6
		all = append(all, text[begin:end])
	}
	return all
}

// pieces returns the lines of a value of several lines, also if its line ends are written as \n, as
// in keys in JSON. The first and last lines of such keys are not secret.
func pieces(value string) []string {
	lines := strings.FieldsFunc(strings.ReplaceAll(value, `\n`, "\n"), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) < 2 {
		return nil
	}
	return slices.DeleteFunc(lines, func(line string) bool {
		return len(line) < shortestPiece || strings.HasPrefix(strings.TrimSpace(line), "-----")
	})
}
