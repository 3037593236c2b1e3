package scaffold

import (
	"bytes"
	"encoding/json"
)

// member is the position of a member of an object in a JSON text. With it, a change of the member
// keeps every other byte as its author formatted it.
type member struct {
	begin      int // the end of what precedes the member: the opening brace or the member before
	value, end int // the range of the value
	first      bool
}

// memberOf returns the member at a path of names. It returns false if the text has no such member
// or is not valid up to there.
func memberOf(text []byte, names ...string) (member, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	for i, name := range names {
		if token, err := d.Token(); err != nil || token != json.Delim('{') {
			return member{}, false
		}
		found, ok := enter(d, name)
		if !ok {
			return member{}, false
		}
		if i < len(names)-1 {
			continue
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return member{}, false
		}
		found.end = int(d.InputOffset())
		found.value = found.end - len(value)
		return found, true
	}
	return member{}, false
}

// enter reads the members of the object that d is in, up to the value of the named one.
func enter(d *json.Decoder, name string) (member, bool) {
	for first := true; d.More(); first = false {
		begin := int(d.InputOffset())
		token, err := d.Token()
		if err != nil {
			return member{}, false
		}
		if token == name {
			return member{begin: begin, first: first}, true
		}
		var other json.RawMessage
		if err := d.Decode(&other); err != nil {
			return member{}, false
		}
	}
	return member{}, false
}

// replaced returns the text with another value of the member.
func (m member) replaced(text, value []byte) []byte {
	return bytes.Join([][]byte{text[:m.value], value, text[m.end:]}, nil)
}

// removed returns the text without the member and the comma that separates it from another one.
func (m member) removed(text []byte) []byte {
	rest := text[m.end:]
	if m.first {
		if after := bytes.TrimLeft(rest, " \t\r\n"); bytes.HasPrefix(after, []byte(",")) {
			rest = after[1:]
		}
	}
	return bytes.Join([][]byte{text[:m.begin], rest}, nil)
}
