// Package model defines the agent's view of language models: a request with a conversation, and a
// stream of chunks that ends with one response.
//
// It owns the provider-neutral types and the Model interface. The subpackages anthropic, openai,
// gemini and scripted translate wire formats into these types. No other package imports a
// provider's SDK.
package model

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

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

// ToolLimiter is a Model whose API refuses some tools or limits their number. Such a model omits
// refused tools from its requests. The agent uses this interface to know them before a request. A
// model that accepts all tools does not implement it.
type ToolLimiter interface {
	// Refuses returns the reason why the API refuses a tool. Empty means that it accepts the tool.
	Refuses(t Tool) string
	// MaxTools returns the largest number of tools in a request. 0 means no limit.
	MaxTools() int
}

// Featured is a Model that can do more than read text and call tools. A model without this
// interface has none of the features.
type Featured interface {
	Features() Features
}

// Features says what a model can do beyond text and tools. The zero value means nothing more.
type Features struct {
	// Schema says that the API makes the response fit Request.Schema. Without it, the model ignores
	// Request.Schema, and the agent offers a tool for the answer instead.
	Schema bool
	// Attachments are the MIME types of the attachments that the model reads, such as "image/png" or
	// "text/*". The agent sends no others.
	Attachments []string
}

// Accepts reports whether the model reads attachments of a MIME type, which may have parameters.
func (f Features) Accepts(mimeType string) bool {
	bare, _, _ := strings.Cut(mimeType, ";")
	bare = strings.ToLower(strings.TrimSpace(bare))
	return slices.ContainsFunc(f.Attachments, func(accepted string) bool {
		group, any := strings.CutSuffix(accepted, "/*")
		return accepted == bare || any && strings.HasPrefix(bare, group+"/")
	})
}

// CheckAttachments returns an *Error for the first attachment of a conversation that the model does
// not read, or that has no content. Every model calls it before it sends a request: with a note in
// place of the attachment, the model would answer as if it had read it.
func (f Features) CheckAttachments(messages []Message) error {
	for i := range messages {
		for _, b := range messages[i].Blocks {
			switch a := b.Attachment; {
			case a == nil:
			case !f.Accepts(a.MIMEType):
				return &Error{Message: fmt.Sprintf("the API of the model does not accept attachments of the type %.100q, which %.100q has; it accepts %s",
					a.MIMEType, a.Name, cmp.Or(strings.Join(f.Attachments, ", "), "none"))}
			case len(a.Data) == 0:
				return &Error{Message: fmt.Sprintf("the attachment %.100q has no content", a.Name)}
			}
		}
	}
	return nil
}

// Reads reports whether the model reads all attachments of a conversation.
func (f Features) Reads(messages []Message) bool {
	for i := range messages {
		for _, b := range messages[i].Blocks {
			if b.Attachment != nil && !f.Accepts(b.Attachment.MIMEType) {
				return false
			}
		}
	}
	return true
}

// FeaturesOf returns the features of a model.
func FeaturesOf(m Model) Features {
	if f, ok := m.(Featured); ok {
		return f.Features()
	}
	return Features{}
}

// Request asks for the next response of a conversation.
type Request struct {
	System    string
	Messages  []Message
	Tools     []Tool
	MaxTokens int // limit of the response; 0 means the provider's default
	Sampling  Sampling
	// Schema is the JSON Schema, of type object, that the text of the response has to fit. Empty
	// means any text. Only a model with Features.Schema reads it.
	Schema json.RawMessage

	// Providers do not send the fields below. The scripted model uses them to find its place in the
	// conversation.

	// Summary says that the response will be the Nth summary of the conversation, counted from 1. 0
	// means that it is not a summary.
	Summary int
	// Replaced is the number of earlier responses that a summary has replaced in Messages.
	Replaced int
}

// Sampling says how a model chooses its words and how long it thinks. The zero value means the
// defaults of the provider. A provider refuses what its API does not have with an error that names
// the setting.
type Sampling struct {
	// Temperature is from 0 to 2. Nil means the provider's default.
	Temperature *float64 `json:"temperature,omitempty"`
	// TopP is from 0 to 1. Nil means the provider's default.
	TopP *float64 `json:"top_p,omitempty"`
	// Effort is how much a reasoning model thinks. Empty means the provider's default.
	Effort Effort `json:"effort,omitempty"`
}

// Effort is how much a reasoning model thinks before it responds.
type Effort string

// The efforts. A provider maps them to its own levels.
const (
	EffortNone   Effort = "none"
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
)

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
	Attachment *Attachment `json:"attachment,omitempty"`  // user only
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

// Attachment is an image, a PDF or another file that a user attached to a message. The agent sends
// it only to a model whose Features.Attachments has its type.
type Attachment struct {
	Name     string `json:"name,omitempty"` // of the file, for the model; may be empty
	MIMEType string `json:"mime_type"`
	// Data is the content. It is empty in a journal that keeps the content elsewhere; a Request
	// always has it.
	Data []byte `json:"data,omitempty"`
	// Size is the length of Data, and SHA256 its digest in hexadecimal. A journal has them in place of
	// Data. Providers do not send them.
	Size   int    `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

// Opaque is a block that only its provider understands, such as signed thinking. The provider
// expects it back unchanged.
type Opaque struct {
	Provider string          `json:"provider"` // such as "anthropic" or "openai-responses"
	JSON     json.RawMessage `json:"json"`
}

// MostCalls is the largest number of tool calls in a response. No model makes nearly as many. A
// response with more is malformed, because each call costs time and memory before it is made.
const MostCalls = 1000

// Chunk is one element of a streamed response. Exactly one field is set.
type Chunk struct {
	TextDelta     *TextDelta
	CallBegun     *CallBegun
	ArgumentDelta *ArgumentDelta
	// ReasoningDelta is a piece of the model's reasoning, as far as the provider shows it.
	ReasoningDelta *ReasoningDelta
	Response       *Response // the complete response, in the last chunk
	// Alive says that the model is working but has nothing to show, for example because it is
	// thinking or because its server keeps the connection open.
	Alive bool
}

// TextDelta is a piece of text.
type TextDelta struct{ Text string }

// ReasoningDelta is a piece of the model's reasoning. It is shown and then dropped. What a provider
// expects back is an Opaque block of the response.
type ReasoningDelta struct{ Text string }

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
