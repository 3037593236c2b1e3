package model

import (
	"bytes"
	"encoding/json"
)

// ArgumentObject returns the arguments as a JSON object. Some providers refuse a conversation whose
// arguments are anything else. A JSON object stays as it is, except that U+FFFD replaces what is
// not Unicode. Empty arguments become {}. Any other text becomes the value of the key INVALID_JSON
// of an object, so that the model sees what it wrote.
func (c *ToolCall) ArgumentObject() json.RawMessage {
	text := bytes.TrimSpace([]byte(c.Arguments))
	if len(text) == 0 {
		return json.RawMessage("{}")
	}
	if text[0] == '{' && json.Valid(text) {
		return CleanJSON(text)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	// Encoding a struct with one string cannot fail. The encoder replaces invalid UTF-8.
	_ = encoder.Encode(struct {
		Text string `json:"INVALID_JSON"`
	}{c.Arguments})
	return bytes.TrimSpace(out.Bytes())
}
