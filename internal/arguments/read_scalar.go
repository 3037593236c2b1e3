package arguments

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

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
			r.note(start, i, kindText, found)
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
// character or not ASCII, or the length of the text.
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
	r.note(start, r.at, kindNumber, 0)
	return r.at-start <= maxDigits && (r.at-start <= surelyFinite && !powers || finite(r.text[start:r.at]))
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
