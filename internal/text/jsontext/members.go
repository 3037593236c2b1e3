package jsontext

import (
	"bytes"
	"encoding/json"
)

// Member is a member of a JSON object. Value is its text, valid JSON.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Members returns the members of a JSON object in their order, those with the same name, too. It
// reports false for what is no JSON object.
func Members(object []byte) ([]Member, bool) {
	if !json.Valid(object) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(object))
	if opening, err := d.Token(); err != nil || opening != json.Delim('{') {
		return nil, false
	}
	var members []Member
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return nil, false
		}
		members = append(members, Member{name.(string), value})
	}
	return members, true
}
