package openai

import (
	"encoding/json"

	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/wire"
	"github.com/toolhost/toolhost/tool"
)

// event is one event of a stream, with the fields that this package uses. Fields that servers fill
// in different forms have the type wire.Text.
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
	Content      content     `json:"content"`
	Refusal      wire.Text   `json:"refusal"`
	ToolCalls    []callDelta `json:"tool_calls"`
	FunctionCall *function   `json:"function_call"` // the predecessor of tool_calls
	// The model's thoughts. Servers use different names.
	ReasoningContent noted     `json:"reasoning_content"`
	Reasoning        wire.Text `json:"reasoning"`
	// ReasoningDetails has pieces of OpenRouter's reasoning_details, which include signatures or
	// encrypted data of the model's own API.
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
}

type callDelta struct {
	Index    *int      `json:"index"` // nil if the server does not send it
	ID       wire.Text `json:"id"`
	Function function  `json:"function"`
	// Extra is what Gemini's endpoint adds to a call: its signature.
	Extra json.RawMessage `json:"extra_content"`
}

type function struct {
	Name      wire.Text `json:"name"`
	Arguments wire.Text `json:"arguments"`
}

type usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	TotalTokens      int64 `json:"total_tokens"`
	// CachedTokens and CacheHitTokens are the names of other servers for the tokens that the prompt
	// cache supplied. The second one is DeepSeek's.
	CachedTokens   int64 `json:"cached_tokens"`
	CacheHitTokens int64 `json:"prompt_cache_hit_tokens"`
	Details        *struct {
		CachedTokens     int64 `json:"cached_tokens"`
		CacheWriteTokens int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

// tokens returns the usage. OpenAI counts reasoning as completion tokens. Other servers may count
// it only in the total.
func (u *usage) tokens() tool.Usage {
	read, written := wire.Count(u.PromptTokens), max(wire.Count(u.CompletionTokens), wire.Count(u.TotalTokens)-min(wire.Count(u.PromptTokens), wire.Count(u.TotalTokens)))
	tokens := tool.Usage{InputTokens: read, OutputTokens: written, CacheReadTokens: wire.Count(max(u.CachedTokens, u.CacheHitTokens))}
	if u.Details != nil {
		tokens.CacheReadTokens = max(tokens.CacheReadTokens, wire.Count(u.Details.CachedTokens))
		tokens.CacheWriteTokens = wire.Count(u.Details.CacheWriteTokens)
	}
	return tokens
}

// noted is a text that records whether it was present, even as "" or null.
type noted struct {
	set  bool
	text wire.Text
}

// UnmarshalJSON accepts any JSON value.
func (n *noted) UnmarshalJSON(data []byte) error {
	n.set = true
	return n.text.UnmarshalJSON(data)
}

// content is a text. Mistral sends it as a list of parts, which may have thoughts.
type content struct{ text, thoughts wire.Text }

// UnmarshalJSON accepts any JSON value.
func (c *content) UnmarshalJSON(data []byte) error {
	var parts []struct {
		Type     string    `json:"type"`
		Thinking wire.Text `json:"thinking"`
	}
	// It is no list of parts if it cannot be read as one.
	_ = json.Unmarshal(data, &parts)
	for _, part := range parts {
		if part.Type == "thinking" {
			c.thoughts += part.Thinking
		}
	}
	return c.text.UnmarshalJSON(data)
}
