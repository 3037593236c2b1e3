// Package model has the agent's view of language models: a conversation goes in, and a stream of
// chunks that ends with one response comes out.
//
// It owns the provider-neutral types and the Model interface. The subpackages anthropic, openai and
// scripted translate wire formats into these types. No other package imports a provider's SDK.
package model

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/toolhost/toolhost/tool"
)

// Model generates responses. Implementations are safe for concurrent use.
type Model interface {
	// Name returns the full name of the model, such as "anthropic:claude-sonnet-4-5".
	Name() string
	// Generate streams one response: any number of deltas, and then one last chunk with Response
	// set. An error ends the stream. It is or wraps an *Error. Canceling ctx ends the stream with
	// an error after a short time. Generate does not retry. The agent does.
	Generate(ctx context.Context, req Request) iter.Seq2[Chunk, error]
}

// ToolLimiter is a model whose API refuses some tools or limits their number. The model omits
// refused tools from its requests. Callers use this interface to find out in advance. A model that
// accepts all tools does not implement it.
type ToolLimiter interface {
	// Refuses returns the reason why the API refuses a tool. Empty means that it accepts the tool.
	Refuses(t Tool) string
	// MaxTools returns the largest number of tools in a request. 0 means no limit.
	MaxTools() int
}

// Request asks for the next response of a conversation.
type Request struct {
	System    string
	Messages  []Message
	Tools     []Tool
	MaxTokens int // limit of the response; 0 means the provider's default

	// Providers do not send the fields below. The scripted model uses them to find its place in the
	// conversation.

	// Summary says that the response will be the Nth summary of the conversation, counted from 1. 0
	// means that it is not a summary.
	Summary int
	// Replaced is the number of earlier responses that a summary has replaced in Messages.
	Replaced int
}

// Tool is a tool as the model sees it.
type Tool struct {
	Name        string
	Description string
	InputSchema json.RawMessage // empty means an object without properties
	// Examples are sample calls. A provider sends them in the form of its API, or appends them to
	// the description if its API has no such form.
	Examples []tool.InputExample
}

// Role is the author of a message.
type Role string

// The roles. A user message carries tool results.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one message of the conversation.
type Message struct {
	Role   Role    `json:"role"`
	Blocks []Block `json:"blocks"`
}

// Block is a part of a message. Exactly one field is set.
type Block struct {
	Text       *Text       `json:"text,omitempty"`
	ToolCall   *ToolCall   `json:"tool_call,omitempty"`   // assistant only
	ToolResult *ToolResult `json:"tool_result,omitempty"` // user only
	Opaque     *Opaque     `json:"opaque,omitempty"`      // assistant only
}

// Text is plain text.
type Text struct {
	Text string `json:"text"`
}

// ToolCall is a call that the model requests.
type ToolCall struct {
	// ID is the provider's id. It pairs the call with its result. The agent generates its own call
	// ids.
	ID string `json:"id"`
	// Name is the tool's name as the model wrote it. Such a tool may not exist.
	Name string `json:"name"`
	// Arguments is the argument text as the model wrote it. It is usually JSON, but need not be. It
	// is a string so that a message with invalid JSON can be stored.
	Arguments string `json:"arguments"`
}

// ToolResult is the result of a ToolCall.
type ToolResult struct {
	ID      string         `json:"id"` // ToolCall.ID
	Name    string         `json:"name"`
	Content []tool.Content `json:"content"`
	IsError bool           `json:"is_error,omitempty"`
}

// Opaque is a block that only its provider understands, such as signed thinking. The provider
// expects it back unchanged.
type Opaque struct {
	Provider string          `json:"provider"` // "anthropic", "openai"
	JSON     json.RawMessage `json:"json"`
}

// Chunk is one element of a streamed response. Exactly one field is set.
type Chunk struct {
	TextDelta     *TextDelta
	CallBegun     *CallBegun
	ArgumentDelta *ArgumentDelta
	Response      *Response // the complete response, in the last chunk
	// Alive says that the model is working but has nothing to show, for example because it is
	// thinking or because its server keeps the connection open.
	Alive bool
}

// TextDelta is a piece of text.
type TextDelta struct{ Text string }

// CallBegun says that a tool call has begun. Its arguments follow.
type CallBegun struct {
	Index int // index among the calls of the response, from 0
	ID    string
	Name  string
}

// ArgumentDelta is a piece of a call's argument text. It may end at any byte.
type ArgumentDelta struct {
	Index int
	Text  string
}

// Response is a complete response of a model.
type Response struct {
	Message    Message
	StopReason StopReason
	Usage      tool.Usage
}

// StopReason is the reason why a response ended.
type StopReason string

// The stop reasons, each with the agent's action.
const (
	StopEndTurn StopReason = "end_turn" // end the run
	StopToolUse StopReason = "tool_use" // execute the calls
	// execute no call; raise the token limit once
	StopMaxTokens StopReason = "max_tokens"
	// send the message back unchanged and continue
	StopPauseTurn       StopReason = "pause_turn"
	StopRefusal         StopReason = "refusal"          // execute nothing; end the run
	StopContentFilter   StopReason = "content_filter"   // execute nothing; end the run
	StopContextOverflow StopReason = "context_overflow" // execute nothing; end the run
)
