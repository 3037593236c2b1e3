package jsontext

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxShown bounds the bytes of a value that a message repeats.
	maxShown = 100
	// MaxNames bounds the names or allowed values that a message lists, and maxList their length in
	// bytes.
	MaxNames = 30
	maxList  = 600
)

// Show returns a value as JSON, cut to a length that suits a message. It reads little more of a
// large value than it returns.
func Show(value any) string {
	var b strings.Builder
	showTo(&b, value)
	return Cut(b.String())
}

func showTo(b *strings.Builder, value any) {
	if b.Len() > maxShown {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		b.WriteByte('{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteByte(',')
			}
			showTo(b, name)
			b.WriteByte(':')
			showTo(b, v[name])
			if b.Len() > maxShown {
				return
			}
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, part := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			showTo(b, part)
			if b.Len() > maxShown {
				return
			}
		}
		b.WriteByte(']')
	case string:
		b.WriteString(distinct(string(Text(v[:min(len(v), maxShown+4)]))))
	default:
		b.Write(Text(v))
	}
}

// distinct returns a JSON string with escapes for characters by which two strings can differ and
// look alike: accents apart from their letters (NFD), spaces other than U+0020, and characters
// without a width. Readers of a message would otherwise see "größe" refused where only "größe" is
// allowed. The result is the same JSON value.
func distinct(text string) string {
	if isASCII(text) {
		return text
	}
	composed := norm.NFC.IsNormalString(text)
	var b strings.Builder
	before := ' '
	for _, r := range text {
		// Part of a word or of an emoji.
		joiner := (r == '\u200c' || r == '\u200d') && before > unicode.MaxASCII
		accent := !composed && unicode.Is(unicode.Mn, r)
		if hidden := r != ' ' && unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Cf, r) && !joiner; accent || hidden {
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, "\\u%04x", unit)
			}
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// Cut shortens a text to a length that suits a message.
func Cut(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

// Quote returns a name as a JSON string, cut if it is long.
func Quote(name string) string {
	return Show(name)
}

// List joins values for a message. The parameter most is the largest number of values. List also
// stops when the text gets too long for a message.
func List(values []any, separator string, most int) string {
	var b strings.Builder
	for i, value := range values {
		shown := Show(value)
		if i == most || b.Len()+len(shown) > maxList {
			fmt.Fprintf(&b, " and %d more", len(values)-i)
			break
		}
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(shown)
	}
	return b.String()
}

// Names joins sorted names, as many as suit a message.
func Names(all []string) string {
	values := make([]any, 0, len(all))
	for _, name := range slices.Sorted(slices.Values(all)) {
		values = append(values, name)
	}
	return List(values, ", ", MaxNames)
}

// Text returns a value in canonical form.
func Text(value any) json.RawMessage {
	data, err := Encode(value)
	if err != nil {
		return nil // cannot happen, because the value came from JSON
	}
	return data
}

// maxTokens bounds the tokens that a message shows at the beginning and at the end of a path.
const maxTokens = 12

// Path returns a location in the usual notation, such as "filter.tags[2]".
func Path(location []string) string {
	if len(location) == 0 {
		return "arguments"
	}
	var b strings.Builder
	for i, token := range location {
		if i == maxTokens && len(location) > 2*maxTokens {
			b.WriteString("…")
		}
		if i >= maxTokens && i < len(location)-maxTokens {
			continue
		}
		switch {
		case isIndex(token):
			fmt.Fprintf(&b, "[%s]", token)
		case !isPlain(token):
			fmt.Fprintf(&b, "[%s]", Quote(token))
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(token)
		}
	}
	return b.String()
}

func isIndex(token string) bool {
	_, err := strconv.Atoi(token)
	return err == nil
}

// isPlain reports whether a path can contain a name without quotes.
func isPlain(name string) bool {
	return name != "" && len(name) <= maxShown && distinct(name) == name && !strings.ContainsAny(name, " .[]\"\\\t\r\n")
}
