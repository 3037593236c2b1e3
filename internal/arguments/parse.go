package arguments

import (
	"bytes"
	"encoding/json"
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
	if f := read(text); f != nil && f.parts[0].kind == kindObject {
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

// encode returns a value in canonical form.
func encode(value any) (json.RawMessage, error) {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(data.Bytes(), "\n"), nil
}
