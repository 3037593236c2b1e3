package secrets

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
)

// base64Forms returns the base64 characters of a value, alone and as part of a longer text.
func base64Forms(value string) []string {
	all := append(within(base64.RawStdEncoding, value), within(base64.RawURLEncoding, value)...)
	all = slices.DeleteFunc(all, func(form string) bool { return len(form) < shortest })
	slices.Sort(all)
	return slices.Compact(all)
}

// coded is a form of a secret in base64.
type coded struct{ form, name string }

// longestJoined bounds the length in bytes of texts in which base64 is found across line breaks. It
// bounds the memory of one search.
const longestJoined = 1 << 20

// span is the range of a secret in a text.
type span struct {
	begin, end int
	name       string
}

// unwrapped returns a text without the secrets in base64 that line breaks interrupt, at any line
// length. It searches only runs of base64 characters and line breaks that are long enough for a
// secret, once for each form.
func (m *matcher) unwrapped(text string) string {
	if len(m.coded) == 0 || len(text) > longestJoined || strings.IndexByte(text, '\n') < 0 {
		return text
	}
	var spans []span
	for at := 0; at < len(text); at++ {
		begin, digits, broken := at, 0, false
		for ; at < len(text) && kindOfByte[text[at]] != otherByte; at++ {
			if kindOfByte[text[at]] == base64Byte {
				digits++
			} else if digits > 0 {
				broken = true
			}
		}
		if broken && digits >= m.shortestCoded {
			spans = append(spans, m.spansIn(text[begin:at], begin)...)
		}
	}
	return without(text, spans)
}

// spansIn returns the ranges of secrets in a run that begins at an offset of the text.
func (m *matcher) spansIn(run string, offset int) []span {
	kept, places := make([]byte, 0, len(run)), make([]int, 0, len(run))
	for i := range len(run) {
		if kindOfByte[run[i]] == base64Byte {
			kept, places = append(kept, run[i]), append(places, offset+i)
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
	return spans
}

// without replaces ranges by the names of their secrets. The first of overlapping ranges gives the
// name.
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

const (
	otherByte = iota
	base64Byte
	breakByte
)

// kindOfByte distinguishes base64 characters, line breaks, and other bytes.
var kindOfByte = func() (kinds [256]uint8) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		kinds[c] = base64Byte
	}
	kinds['\n'], kinds['\r'] = breakByte, breakByte
	return kinds
}()
