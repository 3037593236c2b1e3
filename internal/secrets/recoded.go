package secrets

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf16"
)

// recoded returns the rarer forms of a value: its bytes as programs dump them, one by one; UTF-16 in both orders, also in
// hexadecimal digits and base64; and the value in capital and in small letters.
func recoded(value string) []string {
	all := dumped(value)
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		var wide []byte
		for _, unit := range utf16.Encode([]rune(value)) {
			wide = order.AppendUint16(wide, unit)
		}
		digits := hex.EncodeToString(wide)
		all = append(all, string(wide), digits, strings.ToUpper(digits))
		all = append(all, within(base64.RawStdEncoding, string(wide))...)
	}
	if len(value) >= shortestFolded {
		all = append(all, strings.ToUpper(value), strings.ToLower(value))
	}
	return all
}

// dumped returns the hexadecimal digits of a value with something between its bytes or in front of them.
func dumped(value string) []string {
	var all []string
	bytes := make([]string, 0, len(value))
	for i := range len(value) {
		bytes = append(bytes, hex.EncodeToString([]byte{value[i]}))
	}
	for _, between := range []string{" ", ":", `\x`, "%", ", 0x", ",0x"} {
		text := strings.Join(bytes, between)
		all = append(all, text, upperDigits(text))
	}
	return all
}

// upperDigits writes 0x6f as 0x6F.
func upperDigits(text string) string { return strings.ReplaceAll(strings.ToUpper(text), "X", "x") }

// base64Forms returns the characters that stand for a value in base64, alone and as a part of something longer.
func base64Forms(value string) []string {
	all := append(within(base64.RawStdEncoding, value), within(base64.RawURLEncoding, value)...)
	all = slices.DeleteFunc(all, func(form string) bool { return len(form) < shortest })
	slices.Sort(all)
	return slices.Compact(all)
}

// coded is a secret as it stands in base64.
type coded struct{ form, name string }

// longestJoined bounds the texts, in bytes, in which base64 is found across line breaks. It bounds the memory of one search.
const longestJoined = 1 << 20

// span is where a secret stands in a text.
type span struct {
	begin, end int
	name       string
}

// unwrapped returns a text without the secrets in base64 that line breaks interrupt, wherever the lines end. Its cost is one
// search of the text for each form.
func (m *matcher) unwrapped(text string) string {
	if len(m.coded) == 0 || len(text) > longestJoined || !wraps(text) {
		return text
	}
	kept, places := make([]byte, 0, len(text)), make([]int, 0, len(text))
	for i := range len(text) {
		if text[i] != '\n' && text[i] != '\r' {
			kept, places = append(kept, text[i]), append(places, i)
		}
	}
	joined := string(kept)
	var spans []span
	for _, c := range m.coded {
		for at := 0; ; {
			found := strings.Index(joined[at:], c.form)
			if found < 0 {
				break
			}
			begin, end := at+found, at+found+len(c.form)
			spans = append(spans, span{places[begin], places[end-1] + 1, c.name})
			at = end
		}
	}
	return without(text, spans)
}

// without puts the names of secrets in the place of spans. Of those that overlap, the first gives the name.
func without(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.end, a.end)) })
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.begin >= at {
			b.WriteString(text[at:s.begin] + "[secret " + s.name + "]")
		}
		at = max(at, s.end)
	}
	return b.String() + text[at:]
}

// wraps reports whether a line break stands between two characters of base64.
func wraps(text string) bool {
	for at := 1; at < len(text); {
		found := strings.IndexByte(text[at:], '\n')
		if found < 0 {
			return false
		}
		end := at + found
		at = end + 1
		begin := strings.TrimRight(text[:end], "\r")
		if len(begin) > 0 && at < len(text) && isBase64(begin[len(begin)-1]) && isBase64(text[at]) {
			return true
		}
	}
	return false
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("+/-_", c) >= 0
}
