package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// details assembles OpenRouter's reasoning_details from their pieces. Pieces with the same type and
// index are one detail. So are consecutive pieces without an index. Texts are concatenated. For
// other fields the last value that is not null counts. The server wants the details back complete
// and in order.
type details struct {
	all   []*detail
	index map[string]*detail // of all those with an index, by type and index
}

// detail is one detail as far as it has arrived.
type detail struct {
	fields map[string]json.RawMessage
	// texts replace the fields that are texts in pieces. The work for a long text must not grow with
	// the square of its length.
	texts map[string]*strings.Builder
}

// grown lists the fields whose texts arrive in pieces.
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
		d.begin(fields)
		return
	}
	for name, value := range fields {
		switch {
		case absent(value):
		case slices.Contains(grown[:], name):
			known.grow(name, value)
		default:
			known.fields[name] = value
		}
	}
}

// key identifies a detail with an index.
func key(piece map[string]json.RawMessage) string {
	return string(piece["type"]) + "\x00" + string(piece["index"])
}

// find returns the detail that a piece belongs to, or nil if the piece begins a new one.
func (d *details) find(piece map[string]json.RawMessage) *detail {
	if !absent(piece["index"]) {
		return d.index[key(piece)]
	}
	if n := len(d.all); n > 0 && key(d.all[n-1].fields) == key(piece) {
		return d.all[n-1]
	}
	return nil
}

func (d *details) begin(fields map[string]json.RawMessage) {
	began := &detail{fields: fields}
	d.all = append(d.all, began)
	if absent(fields["index"]) {
		return
	}
	if d.index == nil {
		d.index = make(map[string]*detail)
	}
	d.index[key(fields)] = began
}

// grow appends a piece to a text. If the piece or what came before is no text, the piece takes its
// place.
func (d *detail) grow(name string, value json.RawMessage) {
	var before, piece string
	isText := json.Unmarshal(value, &piece) == nil
	text := d.texts[name]
	if text == nil && isText && !absent(d.fields[name]) && json.Unmarshal(d.fields[name], &before) == nil {
		text = &strings.Builder{}
		text.WriteString(before)
	}
	if text == nil || !isText {
		delete(d.texts, name)
		d.fields[name] = value
		return
	}
	text.WriteString(piece)
	if d.texts == nil {
		d.texts = make(map[string]*strings.Builder)
	}
	d.texts[name] = text
}

// list returns the details, or nil if there are none.
func (d *details) list() []json.RawMessage {
	var list []json.RawMessage
	for _, one := range d.all {
		for name, text := range one.texts {
			one.fields[name] = encoded(text.String())
		}
		list = append(list, encoded(one.fields))
	}
	return list
}

// encoded returns the JSON of a text, or of JSON that was decoded. Encoding these cannot fail.
func encoded(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return bytes.TrimSpace(out.Bytes())
}
