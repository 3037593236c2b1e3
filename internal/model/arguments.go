package model

import (
	"bytes"
	"encoding/json"
)

// ArgumentObject returns the arguments as a JSON object, for providers that refuse a conversation with anything else in
// it: as they are if they are one, with U+FFFD in place of what is no Unicode, {} if they are empty, and else an object whose one value, INVALID_JSON, is the text,
// so that the model sees what it wrote.
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
	// Encoding a struct of one string cannot fail: invalid UTF-8 is replaced.
	_ = encoder.Encode(struct {
		Text string `json:"INVALID_JSON"`
	}{c.Arguments})
	return bytes.TrimSpace(out.Bytes())
}
