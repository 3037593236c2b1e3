// Package jsontext parses the JSON text of a call's arguments, and writes values and paths in
// messages.
//
// A parsed text has a canonical form, in which two texts with the same value are equal, and a table
// of its parts, by which validation examines the text without decoding it. The package refuses
// texts that readers of JSON understand differently, and bounds the memory of every text. It knows
// no schemas.
package jsontext

import (
	"bytes"
	"encoding/json"
	"sync"
)

// Parsed is argument text that was parsed as a JSON object. The zero value holds no arguments. It
// is safe for concurrent use.
type Parsed struct{ form *form }

// Canonical returns the arguments in canonical form: sorted keys, no white space, numbers as
// written. It is nil for the zero Parsed. Callers must not change it.
func (p Parsed) Canonical() json.RawMessage {
	if p.form == nil {
		return nil
	}
	return p.form.canonical
}

// Meaning returns the same text for all arguments that mean the same, also if their numbers are
// written differently: 1, 1.0 and 10e-1 are one number. It is exact for numbers of any size. It
// serves comparison only; a tool receives its numbers as they were written. Callers must not change
// it.
func (p Parsed) Meaning() json.RawMessage {
	if p.form == nil || p.form.plain {
		return p.Canonical()
	}
	return meaning(p.form.canonical)
}

// Object returns the arguments as encoding/json decodes them with UseNumber. The first call decodes
// them. It is nil for the zero Parsed. Callers must not change it.
func (p Parsed) Object() map[string]any {
	object, _ := p.form.decoded().(map[string]any)
	return object
}

// Parse parses argument text and does not keep it. Empty text means {}. It refuses what readers of
// JSON understand differently: a property that occurs twice, an unpaired surrogate, bytes that are
// not UTF-8, and numbers beyond those that tools can compute with. The error is written for a
// model.
func Parse(text []byte) (Parsed, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	if f := read(text); f != nil && f.parts[0].Kind == KindObject {
		return Parsed{f}, nil
	}
	return Parsed{}, refusal(text)
}

// ParseValue parses any JSON value, such as a structured result. It refuses what Parse refuses.
func ParseValue(text []byte) (Parsed, error) {
	if f := read(text); f != nil {
		return Parsed{f}, nil
	}
	return Parsed{}, refusal(text)
}

// Encode returns a value in canonical form.
func Encode(value any) (json.RawMessage, error) {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(data.Bytes(), "\n"), nil
}

// Read is ParseValue without the reason for a refusal, because finding the reason is slow.
func Read(text []byte) (p Parsed, ok bool) {
	f := read(text)
	return Parsed{f}, f != nil
}

// Of returns the Parsed of a value that encoding/json decoded with UseNumber. It keeps the value.
func Of(value any) (Parsed, error) {
	f, err := formOf(value)
	if err != nil {
		return Parsed{}, err
	}
	return Parsed{f}, nil
}

// Value returns the value as encoding/json decodes it with UseNumber. It is nil for the zero
// Parsed. Callers must not change it.
func (p Parsed) Value() any { return p.form.decoded() }

// Parts returns the canonical text and the table of its parts. The first part is the whole value.
// There are none for the zero Parsed, and for a value whose text would be too large. Callers must
// not change the result.
func (p Parsed) Parts() (canonical []byte, parts []Part) {
	if p.form == nil {
		return nil, nil
	}
	return p.form.canonical, p.form.parts
}

// form is a JSON value in its canonical text, with a table of its parts. Validation of ordinary
// arguments works on the text by this table. Most calls never need the decoded Go value, so that
// form decodes it on first use.
type form struct {
	canonical []byte
	parts     []Part // in the order of the text that was read; empty: only value is set
	few       [fewParts]Part
	plain     bool // each number has the form that Meaning would give it

	once  sync.Once // guards the decoding of value
	value any
}

// fewParts is the number of parts that need no separate allocation: about eight properties.
const fewParts = 18

// Part is a value within a form, or the name of a property, which precedes its value. The parts
// within a part follow it.
type Part struct {
	Start, End uint32 // the range in the canonical text; of strings, without the quotes
	Next       uint32 // the index of the next part that is not within this one
	Kind       Kind
	marks      marks
}

// Escaped reports whether a string or name contains escapes in the canonical text.
func (p *Part) Escaped() bool { return p.marks&spelled != 0 }

// Kind is the kind of a part.
type Kind uint8

// The kinds of parts.
const (
	KindNull Kind = iota
	KindFalse
	KindTrue
	KindNumber
	KindText // a string or a name
	KindArray
	KindObject
)

// marks are flags of a part.
type marks uint8

const (
	spelled  marks = 1 << iota // a string whose text contains escapes
	unsorted                   // an object whose names may not be sorted
)

// maxForm bounds the length of a text. Positions have 32 bits, and the canonical form may be twice
// as long as the text.
const maxForm = 1 << 30

// read reads a text that is one JSON value with nothing but white space around it. It returns nil
// for any other text, and for a value that Parse refuses. The function refusal returns the reason.
// read does not keep the text.
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

// formOf returns the form of a value that encoding/json decoded with UseNumber.
func formOf(value any) (*form, error) {
	canonical, err := Encode(value)
	if err != nil {
		return nil, err
	}
	f := read(canonical)
	if f == nil { // a repair may have made the text longer than read accepts
		f = &form{canonical: canonical}
	}
	f.value = value
	return f, nil
}

// decoded returns the value as encoding/json decodes it with UseNumber. Callers must not change it.
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

// decoder decodes parts. The strings and numbers that it returns share the memory of one text.
type decoder struct {
	parts []Part
	text  string
}

func (d decoder) value(i uint32) any {
	p := &d.parts[i]
	switch p.Kind {
	case KindFalse:
		return false
	case KindTrue:
		return true
	case KindNumber:
		return json.Number(d.text[p.Start:p.End])
	case KindText:
		return d.str(p)
	case KindArray:
		items := make([]any, 0, d.count(i, 0))
		for at := i + 1; at < p.Next; at = d.parts[at].Next {
			items = append(items, d.value(at))
		}
		return items
	case KindObject:
		object := make(map[string]any, d.count(i, 1))
		for at := i + 1; at < p.Next; at = d.parts[at+1].Next {
			object[d.str(&d.parts[at])] = d.value(at + 1)
		}
		return object
	default:
		return nil
	}
}

// str returns the decoded string or name.
func (d decoder) str(p *Part) string {
	text := d.text[p.Start:p.End]
	if p.marks&spelled == 0 {
		return text
	}
	return string(appendDecoded(make([]byte, 0, len(text)), text))
}

// count returns the number of values within a part. names is the number of names that precede each
// value: 1 in an object, 0 in an array.
func (d decoder) count(i, names uint32) int {
	n := 0
	for at := i + 1; at < d.parts[i].Next; at = d.parts[at+names].Next {
		n++
	}
	return n
}
