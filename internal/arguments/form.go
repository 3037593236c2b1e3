package arguments

import (
	"encoding/json"
	"sync"
)

// form is a JSON value that was read: the one text that is written for all texts of the same value, and a table of its
// parts, by which it is looked at where it stands. Values as encoding/json makes them are made of it once somebody wants
// them: for most calls nobody does.
type form struct {
	canonical []byte
	parts     []part // as they stood in the text that was read; none: only value tells
	few       [fewParts]part
	plain     bool // no number could be written in another way that Meaning would prefer

	once  sync.Once // makes value of parts
	value any
}

// fewParts is how many parts need no memory of their own: some eight properties.
const fewParts = 18

// part is a value within a form, or the name of a property, which stands before its value. What is within a part follows it.
type part struct {
	start, end uint32 // its place in the canonical form; of texts, between the quotes
	next       uint32 // the part behind it and all within it
	kind       partKind
	marks      marks
}

// partKind is what a part is.
type partKind uint8

const (
	kindNull partKind = iota
	kindFalse
	kindTrue
	kindNumber
	kindText // names are texts, too
	kindArray
	kindObject
)

// marks says more of a part.
type marks uint8

const (
	spelled  marks = 1 << iota // a text that is not written as it is: it holds escapes
	unsorted                   // an object whose names do not stand in their order, or may not
)

// maxForm is how long a text may be: places in it are 32 bits, and its canonical form may be twice as long.
const maxForm = 1 << 30

// read reads a text that is one JSON value, with nothing but white space around it. It returns nil if it is none, or one
// that cannot be used; refusal says why. It keeps nothing of the text.
func read(text []byte) *form {
	if len(text) > maxForm {
		return nil
	}
	f := &form{}
	r := reader{text: text, parts: f.few[:0], plain: true}
	if !r.whole() {
		return nil
	}
	w := writer{text: text, parts: r.parts, out: make([]byte, 0, len(text))}
	if !w.value(0) {
		return nil
	}
	f.canonical, f.parts, f.plain = w.out[:len(w.out):len(w.out)], r.parts, r.plain
	return f
}

// formOf returns the form of a value as encoding/json decodes it with UseNumber.
func formOf(value any) (*form, error) {
	canonical, err := encode(value)
	if err != nil {
		return nil, err
	}
	f := read(canonical)
	if f == nil { // a repair may have made it larger than what is read
		f = &form{canonical: canonical}
	}
	f.value = value
	return f, nil
}

// decoded returns the value as encoding/json decodes it with UseNumber. It must not be changed.
func (f *form) decoded() any {
	if f == nil {
		return nil
	}
	f.once.Do(f.decode)
	return f.value
}

func (f *form) decode() {
	if f.value == nil && len(f.parts) > 0 {
		f.value = decoder{f.parts, string(f.canonical)}.value(0)
	}
}

// decoder makes values of parts. Its texts and numbers share the memory of one text.
type decoder struct {
	parts []part
	text  string
}

func (d decoder) value(i uint32) any {
	p := &d.parts[i]
	switch p.kind {
	case kindFalse:
		return false
	case kindTrue:
		return true
	case kindNumber:
		return json.Number(d.text[p.start:p.end])
	case kindText:
		return d.str(p)
	case kindArray:
		items := make([]any, 0, d.count(i, 0))
		for at := i + 1; at < p.next; at = d.parts[at].next {
			items = append(items, d.value(at))
		}
		return items
	case kindObject:
		object := make(map[string]any, d.count(i, 1))
		for at := i + 1; at < p.next; at = d.parts[at+1].next {
			object[d.str(&d.parts[at])] = d.value(at + 1)
		}
		return object
	default:
		return nil
	}
}

// str returns what a text or a name says.
func (d decoder) str(p *part) string {
	text := d.text[p.start:p.end]
	if p.marks&spelled == 0 {
		return text
	}
	return string(appendSaid(make([]byte, 0, len(text)), text))
}

// count counts the values within a part, each of which has so many names before it.
func (d decoder) count(i, names uint32) int {
	n := 0
	for at := i + 1; at < d.parts[i].next; at = d.parts[at+names].next {
		n++
	}
	return n
}
