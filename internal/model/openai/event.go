package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// event is one event of a stream, with the fields that this package uses. Fields that servers fill
// in different forms have the type loose.
type event struct {
	Choices []struct {
		Index        int     `json:"index"`
		Delta        delta   `json:"delta"`
		Message      delta   `json:"message"` // from servers that do not stream
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content      loose       `json:"content"`
	Refusal      loose       `json:"refusal"`
	ToolCalls    []callDelta `json:"tool_calls"`
	FunctionCall *function   `json:"function_call"` // the predecessor of tool_calls
	// The model's thoughts. Servers use different names.
	ReasoningContent noted `json:"reasoning_content"`
	Reasoning        loose `json:"reasoning"`
	// ReasoningDetails has pieces of OpenRouter's reasoning_details, which include signatures or
	// encrypted data of the model's own API.
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
}

type callDelta struct {
	Index    *int     `json:"index"` // nil if the server does not send it
	ID       loose    `json:"id"`
	Function function `json:"function"`
	// Extra is what Gemini's endpoint adds to a call: its signature.
	Extra json.RawMessage `json:"extra_content"`
}

type function struct {
	Name      loose `json:"name"`
	Arguments loose `json:"arguments"`
}

type usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	Details          *struct {
		CachedTokens     int64 `json:"cached_tokens"`
		CacheWriteTokens int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

func (u *usage) tokens() tool.Usage {
	tokens := tool.Usage{InputTokens: count(u.PromptTokens), OutputTokens: count(u.CompletionTokens)}
	if u.Details != nil {
		tokens.CacheReadTokens = count(u.Details.CachedTokens)
		tokens.CacheWriteTokens = count(u.Details.CacheWriteTokens)
	}
	return tokens
}

func count(tokens int64) uint64 { return uint64(max(0, tokens)) }

// loose is a text in the form of model.Unquote that servers send in different forms. null is empty.
// A list of parts is the text of its text parts. Any other value is its JSON, such as arguments
// that are an object.
type loose string

// UnmarshalJSON accepts any JSON value.
func (l *loose) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case bytes.Equal(data, []byte("null")):
	case data[0] == '"':
		text, err := model.Unquote(data)
		*l = loose(text)
		return err
	case data[0] == '[':
		var parts []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if json.Unmarshal(data, &parts) != nil {
			*l = loose(data)
			break
		}
		var text strings.Builder
		for _, part := range parts {
			if part.Type == "text" {
				text.WriteString(part.Text)
			}
		}
		*l = loose(text.String())
	default:
		*l = loose(data)
	}
	return nil
}

// noted is a text that records whether it was present, even as "" or null.
type noted struct {
	set  bool
	text loose
}

// UnmarshalJSON accepts any JSON value.
func (n *noted) UnmarshalJSON(data []byte) error {
	n.set = true
	return n.text.UnmarshalJSON(data)
}
