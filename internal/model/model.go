// Package model is what the agent knows of language models: messages in, a stream of chunks and one response out.
//
// It owns the neutral vocabulary and the Model interface. Providers live in subpackages (anthropic, openai, scripted)
// and translate their wire formats into it; nothing outside them imports a provider's SDK.
package model

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/toolhost/toolhost/tool"
)

// Model generates responses. Implementations are safe for concurrent use.
type Model interface {
	// Name returns the model as people write it, such as "anthropic:claude-sonnet-4-5".
	Name() string
	// Generate streams one response: any number of deltas, then one chunk with Response set, which is the last. An
	// error ends the stream and is, or wraps, an *Error. Cancelling ctx ends the stream with an error soon. Generate
	// does not retry: the agent owns that.
	Generate(ctx context.Context, req Request) iter.Seq2[Chunk, error]
}

// Choosy is a model whose API does not take every tool, or not so many. What it refuses it leaves out of requests; whoever
// wants to know that beforehand asks it. Models that take all tools need not implement it.
type Choosy interface {
	// Refuses returns why the API would refuse a tool; empty if it takes it.
	Refuses(t Tool) string
	// MostTools returns how many tools a request may have; 0 if there is no bound.
	MostTools() int
}

// Request is a conversation that wants one more response.
type Request struct {
	System    string
	Messages  []Message
	Tools     []Tool
	MaxTokens int // the most tokens the response may have; 0: the provider's default

	// What follows is never sent: it is for models that are no models, which have to know where a conversation is.

	// Summary is the number of the summary of the conversation that the response is to be, from 1. 0: it is to be none.
	Summary int
	// Replaced is how many of the model's responses are no longer in Messages, because a summary took their place.
	Replaced int
}

// Tool is a tool as a model is told of it.
type Tool struct {
	Name        string
	Description string
	InputSchema json.RawMessage // empty: an object without properties
	// Examples show how the tool is meant to be called. A provider's API gets them in its own form where it has one, otherwise they
	// become part of the description.
	Examples []tool.InputExample
}

// Role is who speaks.
type Role string

// The roles. Tool results travel in a user message.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is what one side said.
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

// ToolCall is a call that the model asks for.
type ToolCall struct {
	// ID is the provider's id, kept so that the result can be paired with it. The agent mints its own call ids.
	ID string `json:"id"`
	// Name is the tool's name as the model wrote it; it may not exist.
	Name string `json:"name"`
	// Arguments is the argument text as the model wrote it; usually, not always, JSON. It is a string so that a
	// message with bad JSON can still be stored.
	Arguments string `json:"arguments"`
}

// ToolResult answers a ToolCall.
type ToolResult struct {
	ID      string         `json:"id"` // ToolCall.ID
	Name    string         `json:"name"`
	Content []tool.Content `json:"content"`
	IsError bool           `json:"is_error,omitempty"`
}

// Opaque is a block that only its provider understands and that must be sent back unchanged, such as signed thinking.
type Opaque struct {
	Provider string          `json:"provider"` // "anthropic", "openai"
	JSON     json.RawMessage `json:"json"`
}

// Chunk is a piece of a response as it streams. Exactly one field is set.
type Chunk struct {
	TextDelta     *TextDelta
	CallBegun     *CallBegun
	ArgumentDelta *ArgumentDelta
	Response      *Response // the whole; the last chunk
	// Alive says that the model is at work although there is nothing to show: it thinks, say, or its server wants the
	// connection kept.
	Alive bool
}

// TextDelta is a piece of text.
type TextDelta struct{ Text string }

// CallBegun says that a tool call has begun; its arguments follow.
type CallBegun struct {
	Index int // the call's place among the response's calls, from 0
	ID    string
	Name  string
}

// ArgumentDelta is a piece of a call's argument text. It may end anywhere.
type ArgumentDelta struct {
	Index int
	Text  string
}

// Response is a whole answer of a model.
type Response struct {
	Message    Message
	StopReason StopReason
	Usage      tool.Usage
}

// StopReason is why a model stopped.
type StopReason string

// The reasons, each with the action that the agent takes.
const (
	StopEndTurn         StopReason = "end_turn"         // finish
	StopToolUse         StopReason = "tool_use"         // run the calls
	StopMaxTokens       StopReason = "max_tokens"       // run none of the calls; raise the cap once
	StopPauseTurn       StopReason = "pause_turn"       // send back unchanged and go on
	StopRefusal         StopReason = "refusal"          // run nothing; finish
	StopContentFilter   StopReason = "content_filter"   // run nothing; finish
	StopContextOverflow StopReason = "context_overflow" // run nothing; finish
)
