package secrets

import "strings"

// The replacer finds hexadecimal digits that are all in upper or all in lower case. This file finds
// what no list of forms can contain: digits in mixed case or with other separators, percent escapes
// of any characters, and dumps whose lines have offsets and a column of text. Each search decodes
// the text once, records the position of each byte, and looks for the values in the decoded bytes.

const (
	otherKind = iota
	digitKind
	separatorKind
)

// kindInHex distinguishes hexadecimal digits, what programs write between them, and other bytes.
var kindInHex = func() (kinds [256]uint8) {
	for _, c := range []byte("0123456789abcdefABCDEF") {
		kinds[c] = digitKind
	}
	for _, c := range []byte(" \t\r\n:,-%\\x") {
		kinds[c] = separatorKind
	}
	return kinds
}()

// digitOf returns the value of a hexadecimal digit.
func digitOf(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}

// unhexed returns a text without the secrets in hexadecimal digits, in any case and with any usual
// separators, line breaks included.
func (m *matcher) unhexed(text string) string {
	if len(m.plain) == 0 || len(text) > longestJoined {
		return text
	}
	var spans []span
	for at := 0; at < len(text); at++ {
		if kindInHex[text[at]] != digitKind {
			continue
		}
		begin, digits := at, 0
		for ; at < len(text) && kindInHex[text[at]] != otherKind; at++ {
			if kindInHex[text[at]] == digitKind {
				digits++
			}
		}
		if digits >= 2*m.shortestPlain {
			spans = append(spans, m.hexSpans(text[begin:at], begin)...)
		}
	}
	return without(text, spans)
}

// hexSpans returns the ranges of secrets in a run of digits and separators. offset is the position
// of the run in the text. A digit that does not belong to the secret may precede it, so the search
// tries both ways to pair the digits.
func (m *matcher) hexSpans(run string, offset int) []span {
	digits, places := make([]byte, 0, len(run)), make([]int, 0, len(run))
	for i := 0; i < len(run); i++ {
		if kindInHex[run[i]] == digitKind && !strings.HasPrefix(run[i:], "0x") {
			digits, places = append(digits, digitOf(run[i])), append(places, offset+i)
		}
	}
	var spans []span
	for first := range 2 {
		decoded := make([]byte, 0, len(digits)/2)
		for i := first; i+1 < len(digits); i += 2 {
			decoded = append(decoded, digits[i]<<4|digits[i+1])
		}
		m.eachPlain(string(decoded), func(begin, end int, name string) {
			spans = append(spans, span{places[first+2*begin], places[first+2*end-1] + 1, name})
		})
	}
	return spans
}

// eachPlain calls found for each value in a decoded text.
func (m *matcher) eachPlain(decoded string, found func(begin, end int, name string)) {
	if len(decoded) < m.shortestPlain {
		return
	}
	for _, s := range m.plain {
		for at := 0; ; {
			i := strings.Index(decoded[at:], s.value)
			if i < 0 {
				break
			}
			at += i + len(s.value)
			found(at-len(s.value), at, s.name)
		}
	}
}

// unpercented returns a text without the secrets in which any characters are written as percent
// escapes, in any case.
func (m *matcher) unpercented(text string) string {
	if len(m.plain) == 0 || len(text) > longestJoined || strings.IndexByte(text, '%') < 0 {
		return text
	}
	decoded, places, escapes := make([]byte, 0, len(text)), make([]int, 0, len(text)+1), 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		places = append(places, i)
		if c == '%' && i+2 < len(text) && kindInHex[text[i+1]] == digitKind && kindInHex[text[i+2]] == digitKind {
			c = digitOf(text[i+1])<<4 | digitOf(text[i+2])
			i += 2
			escapes++
		}
		decoded = append(decoded, c)
	}
	if escapes == 0 {
		return text
	}
	places = append(places, len(text))
	var spans []span
	m.eachPlain(string(decoded), func(begin, end int, name string) {
		spans = append(spans, span{places[begin], places[end], name})
	})
	return without(text, spans)
}

// undumped returns a text without the lines of dumps with offsets that contain a secret or a part
// of it, such as those of xxd, hexdump and od. It replaces whole lines, because their last column
// may have the bytes as text.
func (m *matcher) undumped(text string) string {
	if len(m.plain) == 0 || len(text) > longestJoined {
		return text
	}
	var spans []span
	var decoded []byte
	var lines []span // of each decoded byte, the range of its line
	end := func() {
		m.eachPlain(string(decoded), func(begin, end int, name string) {
			spans = append(spans, span{lines[begin].begin, lines[end-1].end, name})
		})
		decoded, lines = decoded[:0], lines[:0]
	}
	at := 0
	for line := range strings.Lines(text) {
		content := strings.TrimRight(line, "\r\n")
		bytes := dumpedLine(content)
		if len(bytes) == 0 {
			end()
		}
		for _, b := range bytes {
			decoded, lines = append(decoded, b), append(lines, span{begin: at, end: at + len(content)})
		}
		at += len(line)
	}
	end()
	return without(text, spans)
}

// shortestOffset is the number of digits of an offset that a dump has at least.
const shortestOffset = 6

// dumpedLine returns the bytes in a line of a dump, or nil if the line is none. A line has an
// offset, groups of digits, and possibly a column of text. xxd writes a colon behind the offset, and
// two spaces before the text. Others mark the text, and write the bytes of a group of four digits in
// reverse order.
func dumpedLine(line string) []byte {
	line = strings.TrimLeft(line, " ")
	offset := 0
	for offset < len(line) && kindInHex[line[offset]] == digitKind {
		offset++
	}
	if offset < shortestOffset || offset == len(line) {
		return nil
	}
	rest, isXXD := strings.CutPrefix(line[offset:], ":")
	if isXXD {
		rest, _, _ = strings.Cut(strings.TrimLeft(rest, " "), "  ")
	} else if rest[0] != ' ' && rest[0] != '\t' {
		return nil
	}
	var bytes []byte
	for _, group := range strings.Fields(rest) {
		if len(group)%2 != 0 || strings.ContainsFunc(group, func(r rune) bool { return r >= 0x80 || kindInHex[r] != digitKind }) {
			break // the column of text
		}
		from := len(bytes)
		for i := 0; i < len(group); i += 2 {
			bytes = append(bytes, digitOf(group[i])<<4|digitOf(group[i+1]))
		}
		if !isXXD && len(group) == 4 {
			bytes[from], bytes[from+1] = bytes[from+1], bytes[from]
		}
	}
	return bytes
}
