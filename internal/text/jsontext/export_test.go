package jsontext

import "encoding/json"

// Wrong returns an error that says what is wrong with a text, according to encoding/json and the
// checks around it.
func Wrong(text []byte) error { return wrong(text) }

// MeaningOfAll is Meaning without the shortcut for values whose numbers have one form.
func MeaningOfAll(p Parsed) json.RawMessage { return meaning(p.form.canonical) }
