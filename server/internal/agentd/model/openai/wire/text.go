package wire

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Text is a text in the form of model.Unquote that servers send in different forms. null is empty.
// A list of parts is the text of its text parts. Any other value is its JSON, such as arguments
// that are an object.
type Text string

// UnmarshalJSON accepts any JSON value.
func (l *Text) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case bytes.Equal(data, []byte("null")):
	case data[0] == '"':
		text, err := model.Unquote(data)
		*l = Text(text)
		return err
	case data[0] == '[':
		var parts []struct {
			Type string `json:"type"`
			Text Text   `json:"text"` // may begin or end with half a character
		}
		if json.Unmarshal(data, &parts) != nil {
			*l = Text(data)
			break
		}
		var text strings.Builder
		for _, part := range parts {
			if part.Type == "text" {
				text.WriteString(string(part.Text))
			}
		}
		*l = Text(text.String())
	default:
		*l = Text(data)
	}
	return nil
}

// Count returns a number of tokens. A negative number becomes 0.
func Count(tokens int64) uint64 { return uint64(max(0, tokens)) }

// ResultText returns the text of a tool's result. It marks an error in its text, because the APIs
// have no field for it.
func ResultText(from *model.ToolResult) string {
	result := tool.Result{Content: from.Content}
	text := result.Text()
	if from.IsError && !strings.HasPrefix(strings.ToLower(text), "error") {
		return "Error: " + text
	}
	return text
}
