package jsontext

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// writer writes the canonical form of a text that was read, and moves the positions of the parts to
// it.
type writer struct {
	text  []byte
	parts []Part
	out   []byte
}

// value writes a part and the parts within. It returns false if a property occurs twice in an
// object.
func (w *writer) value(i uint32) bool {
	switch p := &w.parts[i]; p.Kind {
	case KindText:
		w.str(p)
		return true
	case KindArray:
		return w.array(i)
	case KindObject:
		return w.object(i)
	default:
		raw := w.text[p.Start:p.End]
		p.Start = uint32(len(w.out))
		w.out = append(w.out, raw...)
		p.End = uint32(len(w.out))
		return true
	}
}

func (w *writer) array(i uint32) bool {
	p := &w.parts[i]
	p.Start = uint32(len(w.out))
	w.out = append(w.out, '[')
	for at := i + 1; at < p.Next; at = w.parts[at].Next {
		if at > i+1 {
			w.out = append(w.out, ',')
		}
		if !w.value(at) {
			return false
		}
	}
	w.out = append(w.out, ']')
	p.End = uint32(len(w.out))
	return true
}

func (w *writer) object(i uint32) bool {
	p := &w.parts[i]
	p.Start = uint32(len(w.out))
	w.out = append(w.out, '{')
	ok := true
	if p.marks&unsorted != 0 {
		ok = w.inOrder(i)
	} else {
		for at := i + 1; at < p.Next && ok; at = w.parts[at+1].Next {
			ok = w.member(at)
		}
	}
	w.out = append(w.out, '}')
	p.End = uint32(len(w.out))
	return ok
}

// named is a property of an object: the index of its name among the parts, and the decoded name.
type named struct {
	at   uint32
	says []byte
}

// inOrder writes the members of an object in the order of their names.
func (w *writer) inOrder(i uint32) bool {
	var few [fewParts / 2]named
	names := few[:0]
	for at := i + 1; at < w.parts[i].Next; at = w.parts[at+1].Next {
		names = append(names, named{at, w.says(&w.parts[at])})
	}
	slices.SortFunc(names, func(a, b named) int { return bytes.Compare(a.says, b.says) })
	for n := range names[1:] {
		if bytes.Equal(names[n].says, names[n+1].says) {
			return false
		}
	}
	for _, name := range names {
		if !w.member(name.at) {
			return false
		}
	}
	return true
}

// says returns the decoded name of a part that has not been written yet. It is cached, because
// sorting reads it many times and names may be long.
func (w *writer) says(p *Part) []byte {
	raw := w.text[p.Start:p.End]
	if p.marks&spelled == 0 {
		return raw
	}
	return appendDecoded(make([]byte, 0, len(raw)), raw)
}

func (w *writer) member(at uint32) bool {
	if w.out[len(w.out)-1] != '{' {
		w.out = append(w.out, ',')
	}
	w.str(&w.parts[at])
	w.out = append(w.out, ':')
	return w.value(at + 1)
}

// str writes a string or a name.
func (w *writer) str(p *Part) {
	raw := w.text[p.Start:p.End]
	w.out = append(w.out, '"')
	p.Start = uint32(len(w.out))
	if p.marks&spelled == 0 {
		w.out = append(w.out, raw...)
	} else {
		p.marks &^= spelled
		for len(raw) > 0 {
			r, n := Character(raw)
			raw = raw[n:]
			before := len(w.out)
			if w.out = appendSpelled(w.out, r); w.out[before] == '\\' {
				p.marks |= spelled
			}
		}
	}
	p.End = uint32(len(w.out))
	w.out = append(w.out, '"')
}

const hexDigits = "0123456789abcdef"

// appendSpelled appends a character in canonical form, like encoding/json: it escapes only what
// must be escaped.
func appendSpelled(out []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(out, '\\', byte(r))
	case '\b':
		return append(out, '\\', 'b')
	case '\f':
		return append(out, '\\', 'f')
	case '\n':
		return append(out, '\\', 'n')
	case '\r':
		return append(out, '\\', 'r')
	case '\t':
		return append(out, '\\', 't')
	case '\u2028', '\u2029':
		return append(out, '\\', 'u', '2', '0', '2', hexDigits[r&0xF])
	}
	if r < ' ' {
		return append(out, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&0xF])
	}
	return utf8.AppendRune(out, r)
}

// appendDecoded appends the decoded content of a string.
func appendDecoded[T []byte | string](out []byte, text T) []byte {
	for len(text) > 0 {
		r, n := Character(text)
		out, text = utf8.AppendRune(out, r), text[n:]
	}
	return out
}

// Character returns the first character of a string's content, and its length in the text.
func Character[T []byte | string](text T) (rune, int) {
	if text[0] < utf8.RuneSelf && text[0] != '\\' {
		return rune(text[0]), 1
	}
	if text[0] != '\\' {
		return utf8.DecodeRuneInString(string(text[:min(len(text), utf8.UTFMax)]))
	}
	switch text[1] {
	case 'u':
		first, _ := codeUnit(text)
		if utf16.IsSurrogate(first) {
			second, _ := codeUnit(text[6:])
			return utf16.DecodeRune(first, second), 12
		}
		return first, 6
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	default:
		return rune(text[1]), 2
	}
}

// codeUnit returns the code unit of an escape such as \u00e9 at the beginning of a text.
func codeUnit[T []byte | string](text T) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	var unit rune
	for i := 2; i < 6; i++ {
		unit <<= 4
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			unit |= rune(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			unit |= rune(c|0x20-'a') + 10
		default:
			return 0, false
		}
	}
	return unit, true
}
