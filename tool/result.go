package tool

import (
	"encoding/json"
	"strings"
	"time"
)

// Result is the answer of a call to the model. The zero value is an empty success.
type Result struct {
	Content []Content `json:"content"`
	IsError bool      `json:"is_error,omitempty"`
	// changes of the run's context, in the order of calls
	Effects []Effect `json:"effects,omitempty"`
	// the execution time; the host sets it
	Duration time.Duration              `json:"duration,omitempty"`
	Usage    Usage                      `json:"usage,omitzero"`
	Cost     float64                    `json:"cost,omitempty"`
	Metadata map[string]json.RawMessage `json:"metadata,omitempty"`
}

// Text returns the result as text: its text blocks, JSON blocks as JSON and a line for each other
// block, joined by newlines.
func (r *Result) Text() string {
	parts := make([]string, 0, len(r.Content))
	for i := range r.Content {
		parts = append(parts, r.Content[i].asText())
	}
	return strings.Join(parts, "\n")
}

// TextResult returns a result with one block of text.
func TextResult(text string) Result { return Result{Content: []Content{Text(text)}} }

// ErrorResult returns a result that tells the model why the call failed.
func ErrorResult(text string) Result {
	return Result{Content: []Content{Text(text)}, IsError: true}
}

// Effect is a change of the run's context. A tool returns it, and the agent applies it.
type Effect struct {
	Key       string          `json:"key"`
	Operation EffectOperation `json:"operation,omitempty"` // empty: replace
	Value     json.RawMessage `json:"value"`
}

// EffectOperation says how an effect changes the value of its key.
type EffectOperation string

// The operations of an effect.
const (
	EffectReplace EffectOperation = "replace" // replaces the value
	EffectAppend  EffectOperation = "append"  // adds the value as the last element of the list
	EffectMerge   EffectOperation = "merge"   // applies the value as a JSON merge patch, RFC 7396
)

// Usage counts tokens of a language model.
type Usage struct {
	InputTokens      uint64 `json:"input_tokens,omitempty"`
	OutputTokens     uint64 `json:"output_tokens,omitempty"`
	CacheReadTokens  uint64 `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens uint64 `json:"cache_write_tokens,omitempty"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:      u.InputTokens + v.InputTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens + v.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
	}
}
