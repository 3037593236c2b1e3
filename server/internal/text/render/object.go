package render

import (
	"bytes"
	"encoding/json"
	"slices"
)

// object is a JSON object that keeps the order of its members and the text of their values.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

// parseObject returns the members of a JSON object. ok is false if the text is another value.
func parseObject(text []byte) (o object, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, false
		}
		m := member{name: name.(string)} // the decoder returns only strings as names
		if err := decoder.Decode(&m.value); err != nil {
			return nil, false
		}
		o = append(o, m)
	}
	return o, true
}

// get returns the value of a member, or nil if there is none. Of repeated names the last counts, as
// in encoding/json.
func (o object) get(name string) json.RawMessage {
	for _, m := range slices.Backward(o) {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// index returns the place of the member that get returns, or -1.
func (o object) index(name string) int {
	for i, m := range slices.Backward(o) {
		if m.name == name {
			return i
		}
	}
	return -1
}

// with returns a copy of the object with a value for a member, in its place or at the end.
func (o object) with(name string, value json.RawMessage) object {
	o = slices.Clone(o)
	if at := o.index(name); at >= 0 {
		o[at].value = value
		return o
	}
	return append(o, member{name, value})
}

// without returns a copy of the object without a member.
func (o object) without(name string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.name == name })
}

// text returns the object as JSON.
func (o object) text() json.RawMessage {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, quote(m.name)...)
		b = append(b, ':')
		b = append(b, m.value...)
	}
	return append(b, '}')
}

// quote returns a string as JSON.
func quote(s string) []byte {
	text, err := encode(s)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return text
}

// unquote returns the value of a JSON string, or "" if the text is another value.
func unquote(text json.RawMessage) string {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return ""
	}
	return s
}

// compact returns JSON without white space. It returns invalid JSON unchanged.
func compact(text json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return text
	}
	return b.Bytes()
}

// orEmpty returns the arguments of a call, or {} if there are none.
func orEmpty(arguments json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(arguments)) == 0 {
		return json.RawMessage("{}")
	}
	return arguments
}
