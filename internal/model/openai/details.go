package openai

import (
	"bytes"
	"encoding/json"
	"slices"
)

// details assembles OpenRouter's reasoning_details from their pieces. Pieces with the same type and
// index are one detail. So are consecutive pieces without an index. Texts are concatenated. For
// other fields the last value that is not null counts. The server wants the details back complete
// and in order.
type details struct{ all []map[string]json.RawMessage }

// grown has the fields that arrive in pieces.
var grown = [...]string{"text", "summary", "data"}

// add adds a piece of a detail, as the server streamed it. It ignores a piece that is not a JSON
// object.
func (d *details) add(piece json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(piece, &fields) != nil || fields == nil {
		return
	}
	known := d.find(fields)
	if known == nil {
		d.all = append(d.all, fields)
		return
	}
	for name, value := range fields {
		switch {
		case absent(value):
		case slices.Contains(grown[:], name):
			known[name] = joined(known[name], value)
		default:
			known[name] = value
		}
	}
}

// find returns the detail that a piece belongs to, or nil if the piece begins a new one.
func (d *details) find(piece map[string]json.RawMessage) map[string]json.RawMessage {
	same := func(with map[string]json.RawMessage) bool {
		return bytes.Equal(with["type"], piece["type"]) && bytes.Equal(with["index"], piece["index"])
	}
	if absent(piece["index"]) {
		if n := len(d.all); n > 0 && same(d.all[n-1]) {
			return d.all[n-1]
		}
		return nil
	}
	if i := slices.IndexFunc(d.all, same); i >= 0 {
		return d.all[i]
	}
	return nil
}

// joined concatenates two JSON strings. It returns the second value if one of them is not a string.
func joined(a, b json.RawMessage) json.RawMessage {
	var first, second string
	if absent(a) || json.Unmarshal(a, &first) != nil || json.Unmarshal(b, &second) != nil {
		return b
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(first+second) != nil {
		return b // encoding a string cannot fail
	}
	return bytes.TrimSpace(out.Bytes())
}

// list returns the details, or nil if there are none.
func (d *details) list() []json.RawMessage {
	var list []json.RawMessage
	for _, fields := range d.all {
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if encoder.Encode(fields) == nil { // encoding decoded JSON cannot fail
			list = append(list, bytes.TrimSpace(out.Bytes()))
		}
	}
	return list
}
