package tool

import (
	"encoding/json"
	"strings"
	"time"
)

// Result is what a call answers to the model. The zero value is an empty success.
type Result struct {
	Content  []Content                  `json:"content"`
	IsError  bool                       `json:"is_error,omitempty"`
	Effects  []Effect                   `json:"effects,omitempty"`  // folded into the run's context, in call order
	Duration time.Duration              `json:"duration,omitempty"` // how long the tool ran; set by the host
	Usage    Usage                      `json:"usage,omitzero"`
	Cost     float64                    `json:"cost,omitempty"`
	Metadata map[string]json.RawMessage `json:"metadata,omitempty"`
}

// Text returns what the result says in text: its text blocks, JSON blocks as JSON and a line for each other block,
// joined by newlines.
func (r *Result) Text() string {
	parts := make([]string, 0, len(r.Content))
	for i := range r.Content {
		parts = append(parts, r.Content[i].asText())
	}
	return strings.Join(parts, "\n")
}

// TextResult returns a result of one text block.
func TextResult(text string) Result { return Result{Content: []Content{Text(text)}} }

// ErrorResult returns a result that tells the model that the call failed, and why.
func ErrorResult(text string) Result {
	return Result{Content: []Content{Text(text)}, IsError: true}
}

// Effect is a change to the run's context that a tool returns instead of making it.
type Effect struct {
	Key       string          `json:"key"`
	Operation EffectOperation `json:"operation,omitempty"` // empty: replace
	Value     json.RawMessage `json:"value"`
}

// EffectOperation is how an effect's value joins the value that its key has.
type EffectOperation string

// The operations of an effect.
const (
	EffectReplace EffectOperation = "replace" // takes the place of the old value
	EffectAppend  EffectOperation = "append"  // becomes the last element of the list
	EffectMerge   EffectOperation = "merge"   // a JSON merge patch, RFC 7396
)

// Usage counts a model's tokens.
type Usage struct {
	InputTokens      uint64 `json:"input_tokens,omitempty"`
	OutputTokens     uint64 `json:"output_tokens,omitempty"`
	CacheReadTokens  uint64 `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens uint64 `json:"cache_write_tokens,omitempty"`
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:      u.InputTokens + v.InputTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens + v.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
	}
}
