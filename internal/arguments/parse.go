package arguments

import (
	"bytes"
	"encoding/json"
)

// Parsed is argument text that is a JSON object. The zero value is none. It is safe for concurrent use.
type Parsed struct{ form *form }

// Canonical returns the same value in one form: keys sorted, no white space, numbers as written. Two texts that mean the
// same arguments have the same canonical form. It must not be changed, and is nil for the zero Parsed.
func (p Parsed) Canonical() json.RawMessage {
	if p.form == nil {
		return nil
	}
	return p.form.canonical
}

// Object returns the arguments as encoding/json decodes them with UseNumber. It must not be changed. It is nil for the zero
// Parsed. They are made when they are asked for first.
func (p Parsed) Object() map[string]any {
	object, _ := p.form.decoded().(map[string]any)
	return object
}

// Parse reads argument text, of which it keeps nothing. Empty text means {}. It refuses what different readers would read
// differently: a property that stands twice, halves of characters, bytes that are no UTF-8, numbers beyond all that tools
// compute with. The error is written for a model.
func Parse(text []byte) (Parsed, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	if f := read(text); f != nil && f.parts[0].kind == kindObject {
		return Parsed{f}, nil
	}
	return Parsed{}, refusal(text)
}

// ParseValue reads any JSON value, such as a structured result. It refuses what Parse refuses.
func ParseValue(text []byte) (Parsed, error) {
	if f := read(text); f != nil {
		return Parsed{f}, nil
	}
	return Parsed{}, refusal(text)
}

// encode writes a value in its canonical form.
func encode(value any) (json.RawMessage, error) {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(data.Bytes(), "\n"), nil
}
