package jsontext

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// reader reads a text once and records its parts. It stops at the first invalid byte. refusal reads
// the text again to say what is wrong.
type reader struct {
	text   []byte
	at     int
	parts  []Part // with positions in text
	values int    // the number of commas and opening brackets
	plain  bool
}

// whole reads the whole text as one value.
func (r *reader) whole() bool {
	if !utf8.Valid(r.text) {
		return false
	}
	r.space()
	return r.value(0) && len(bytes.TrimSpace(r.text[r.at:])) == 0
}

// peek returns the next byte; at the end 0, which is valid nowhere.
func (r *reader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// space skips white space and returns the byte after it.
func (r *reader) space() byte {
	for {
		switch c := r.peek(); c {
		case ' ', '\n', '\t', '\r':
			r.at++
		default:
			return c
		}
	}
}

// value reads a value that is nested at a depth.
func (r *reader) value(depth int) bool {
	switch c := r.peek(); c {
	case '"':
		return r.str()
	case '{':
		return r.open(KindObject, depth) && r.members(depth+1)
	case '[':
		return r.open(KindArray, depth) && r.items(depth+1)
	case 't':
		return r.word("true", KindTrue)
	case 'f':
		return r.word("false", KindFalse)
	case 'n':
		return r.word("null", KindNull)
	default:
		return r.number()
	}
}

// note records a part that ends here and contains no other parts.
func (r *reader) note(start, end int, kind Kind, marks marks) {
	r.parts = append(r.parts, Part{Start: uint32(start), End: uint32(end), Next: uint32(len(r.parts)) + 1, Kind: kind, marks: marks})
}

// counted counts one more value, and reports whether the text may have that many.
func (r *reader) counted() bool {
	r.values++
	return r.values <= maxValues
}

// open begins an object or an array.
func (r *reader) open(kind Kind, depth int) bool {
	r.note(r.at, r.at, kind, 0)
	r.at++
	return depth < maxDepth && r.counted()
}

// members reads the members and the end of the object that was opened last.
func (r *reader) members(depth int) bool {
	self, last := len(r.parts)-1, 0
	for c := r.space(); c != '}' || last > 0; c = r.space() {
		name := len(r.parts)
		if c != '"' || !r.str() || r.parts[name].End-r.parts[name].Start > maxName {
			return false
		}
		if last > 0 && !r.ascend(last, name) {
			r.parts[self].marks |= unsorted
		}
		if last = name; r.space() != ':' {
			return false
		}
		r.at++
		r.space()
		if !r.value(depth) {
			return false
		}
		if r.space() == '}' {
			break
		}
		if r.peek() != ',' || !r.counted() {
			return false
		}
		r.at++
	}
	r.at++
	r.parts[self].Next = uint32(len(r.parts))
	return true
}

// ascend reports whether two names are certainly in order and different.
func (r *reader) ascend(one, other int) bool {
	a, b := &r.parts[one], &r.parts[other]
	return (a.marks|b.marks)&spelled == 0 && bytes.Compare(r.text[a.Start:a.End], r.text[b.Start:b.End]) < 0
}

// items reads the items and the end of the array that was opened last.
func (r *reader) items(depth int) bool {
	self := len(r.parts) - 1
	if r.space() != ']' {
		for {
			if !r.value(depth) {
				return false
			}
			if r.space() == ']' {
				break
			}
			if r.peek() != ',' || !r.counted() {
				return false
			}
			r.at++
			r.space()
		}
	}
	r.at++
	r.parts[self].Next = uint32(len(r.parts))
	return true
}

// word reads true, false or null.
func (r *reader) word(word string, kind Kind) bool {
	end := r.at + len(word)
	if end > len(r.text) || string(r.text[r.at:end]) != word {
		return false
	}
	r.note(r.at, end, kind, 0)
	r.at = end
	return true
}

// str reads a string or a name.
func (r *reader) str() bool {
	start := r.at + 1
	var found marks
	for i := start; ; {
		i = usual(r.text, i)
		if i >= len(r.text) {
			return false
		}
		switch c := r.text[i]; {
		case c == '"':
			r.note(start, i, KindText, found)
			r.at = i + 1
			return true
		case c == '\\':
			n := escape(r.text[i:])
			if n == 0 {
				return false
			}
			found |= spelled
			i += n
		case c < ' ':
			return false
		default:
			if separates(r.text[i:]) {
				found |= spelled
			}
			i++
		}
	}
}

// usual returns the index of the first byte from i on that is a quote, a backslash, a control
// Character or not ASCII, or the length of the text.
func usual(text []byte, i int) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(text); i += 8 {
		// This tests eight bytes at once. It sets the high bit of the first such byte. It may also
		// set the bit of a later byte by mistake, which does no harm, because the loop below tests
		// each byte.
		x := binary.LittleEndian.Uint64(text[i:])
		quote, slash := x^(each*'"'), x^(each*'\\')
		if (x|(x-each*' ')|(quote-each)|(slash-each))&high != 0 {
			break
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// separates reports whether a text begins with U+2028 or U+2029. The canonical form escapes them,
// because older JavaScript could not read them.
func separates(text []byte) bool {
	return len(text) >= 3 && text[0] == 0xE2 && text[1] == 0x80 && text[2]&^1 == 0xA8
}

// escape returns the length of the escape at the beginning of a text. Two escapes that form a
// surrogate pair count as one. It returns 0 for an invalid escape.
func escape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		first, ok := codeUnit(text)
		if !ok {
			return 0
		}
		if !utf16.IsSurrogate(first) {
			return 6
		}
		if second, ok := codeUnit(text[6:]); ok && utf16.DecodeRune(first, second) != utf8.RuneError {
			return 12
		}
	}
	return 0
}

// number reads a number. It returns false for a number that Parse refuses.
func (r *reader) number() bool {
	start := r.at
	if r.peek() == '-' {
		r.at++
	}
	whole := r.at
	if r.digits() == 0 || r.text[whole] == '0' && r.at > whole+1 {
		return false
	}
	plain := r.at-start <= maxZeros || r.ordinary(start)
	if string(r.text[start:r.at]) == "-0" {
		plain = false
	}
	if r.peek() == '.' {
		r.at++
		if plain = false; r.digits() == 0 {
			return false
		}
	}
	powers := false
	if c := r.peek(); c == 'e' || c == 'E' {
		powers = true
		r.at++
		if plain = false; !r.power() {
			return false
		}
	}
	r.plain = r.plain && plain
	r.note(start, r.at, KindNumber, 0)
	return r.at-start <= maxDigits && (r.at-start <= surelyFinite && !powers || Finite(r.text[start:r.at]))
}

// ordinary reports whether a long whole number has the only form in which Meaning would write it.
func (r *reader) ordinary(start int) bool {
	digits := r.text[start:r.at]
	return len(digits)-len(bytes.TrimRight(digits, "0")) <= maxZeros
}

// digits skips digits and returns their number.
func (r *reader) digits() int {
	start := r.at
	for r.at < len(r.text) && r.text[r.at]-'0' <= 9 {
		r.at++
	}
	return r.at - start
}

// power reads the exponent of a number, after the e.
func (r *reader) power() bool {
	if c := r.peek(); c == '+' || c == '-' {
		r.at++
	}
	start, power := r.at, 0
	if r.digits() == 0 {
		return false
	}
	for _, c := range r.text[start:r.at] {
		if power = power*10 + int(c-'0'); power > maxPower {
			return false
		}
	}
	return true
}
