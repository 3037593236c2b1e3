package arguments

import (
	"bytes"
	"unicode/utf8"
)

// reader reads a text once and records its parts. It stops at the first invalid byte. refusal reads
// the text again to say what is wrong.
type reader struct {
	text   []byte
	at     int
	parts  []part // with positions in text
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
		return r.open(kindObject, depth) && r.members(depth+1)
	case '[':
		return r.open(kindArray, depth) && r.items(depth+1)
	case 't':
		return r.word("true", kindTrue)
	case 'f':
		return r.word("false", kindFalse)
	case 'n':
		return r.word("null", kindNull)
	default:
		return r.number()
	}
}

// note records a part that ends here and has no parts within.
func (r *reader) note(start, end int, kind partKind, marks marks) {
	r.parts = append(r.parts, part{start: uint32(start), end: uint32(end), next: uint32(len(r.parts)) + 1, kind: kind, marks: marks})
}

// counted counts one more value, and reports whether the text may have that many.
func (r *reader) counted() bool {
	r.values++
	return r.values <= maxValues
}

// open begins an object or an array.
func (r *reader) open(kind partKind, depth int) bool {
	r.note(r.at, r.at, kind, 0)
	r.at++
	return depth < maxDepth && r.counted()
}

// members reads the members and the end of the object that was opened last.
func (r *reader) members(depth int) bool {
	self, last := len(r.parts)-1, 0
	for c := r.space(); c != '}' || last > 0; c = r.space() {
		name := len(r.parts)
		if c != '"' || !r.str() || r.parts[name].end-r.parts[name].start > maxName {
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
	r.parts[self].next = uint32(len(r.parts))
	return true
}

// ascend reports whether two names are certainly in order and different.
func (r *reader) ascend(one, other int) bool {
	a, b := &r.parts[one], &r.parts[other]
	return (a.marks|b.marks)&spelled == 0 && bytes.Compare(r.text[a.start:a.end], r.text[b.start:b.end]) < 0
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
	r.parts[self].next = uint32(len(r.parts))
	return true
}

// word reads true, false or null.
func (r *reader) word(word string, kind partKind) bool {
	end := r.at + len(word)
	if end > len(r.text) || string(r.text[r.at:end]) != word {
		return false
	}
	r.note(r.at, end, kind, 0)
	r.at = end
	return true
}
