package openai

import (
	"bytes"
	"encoding/json"
	"slices"
)

// details are OpenRouter's reasoning_details as their pieces build them up. Pieces of one type with one index are one detail,
// as are pieces without an index that follow each other: texts are put together, of all else the last that is not null counts.
// A server that wants them back wants them whole, and in their order.
type details struct{ all []map[string]json.RawMessage }

// grown are the fields that come in pieces.
var grown = [...]string{"text", "summary", "data"}

// add takes a piece. One that is no object is left out.
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

// find returns the detail that a piece belongs to, or nil if it begins one.
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

// joined returns two texts as one; the second alone, if they are none.
func joined(a, b json.RawMessage) json.RawMessage {
	var first, second string
	if absent(a) || json.Unmarshal(a, &first) != nil || json.Unmarshal(b, &second) != nil {
		return b
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(first+second) != nil {
		return b // a string can be written
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
		if encoder.Encode(fields) == nil { // what came as JSON can be written as JSON
			list = append(list, bytes.TrimSpace(out.Bytes()))
		}
	}
	return list
}
