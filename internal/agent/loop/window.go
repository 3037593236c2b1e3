package loop

import (
	"fmt"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// Window says how much a model can read at once, and when a conversation is made smaller so that it fits: first the
// results of old calls are cleared, then, where that is not enough, the model sums up what was said.
type Window struct {
	// Tokens is how many tokens the model can read and write at once. In an agent's configuration and in a task 0 means
	// 128,000; in a journal that nobody knows it: then a conversation is made smaller when the model says that it does not
	// fit, or asks for it.
	Tokens int64 `json:"tokens,omitempty"`
	// ClearAt is the part of the window from which on old results are cleared. 0 means 0.5.
	ClearAt float64 `json:"clear_at,omitempty"`
	// SummarizeAt is the part of the window from which on the conversation is summed up. 0 means 0.8.
	SummarizeAt float64 `json:"summarize_at,omitempty"`
	// Keep is how many of the last responses stay as they are, with their results. 0 means 3.
	Keep int `json:"keep,omitempty"`
}

const (
	defaultWindow      = 128_000 // what the usual models read at least; one that reads less says so, and is heard
	defaultClearAt     = 0.5
	defaultSummarizeAt = 0.8
	defaultKeep        = 3

	// bytesPerToken is how much text a token holds, about: less than in English prose, because much of what tools return
	// is none.
	bytesPerToken = 3
	// worthClearing is the part of the window that clearing has to free: each time, the provider's cache of the
	// conversation is lost.
	worthClearing = 0.05
	// imageBytes is what an image counts, whatever its size: models read them scaled.
	imageBytes = 1600 * bytesPerToken
)

// or returns w with what is 0 taken from d, and then from the defaults.
func (w Window) Or(d Window) Window {
	return Window{
		Tokens:      FirstPositive(w.Tokens, d.Tokens, defaultWindow),
		ClearAt:     FirstPositive(w.ClearAt, d.ClearAt, defaultClearAt),
		SummarizeAt: FirstPositive(w.SummarizeAt, d.SummarizeAt, defaultSummarizeAt),
		Keep:        FirstPositive(w.Keep, d.Keep, defaultKeep),
	}
}

// check returns what is wrong with a window, or nil.
func (w Window) Check() error {
	if w.Tokens < 0 || w.Keep < 0 || w.ClearAt < 0 || w.SummarizeAt < 0 || w.ClearAt > 1 || w.SummarizeAt > 1 {
		return fmt.Errorf("the window %+v is none: what is in it must not be negative, and parts of it are at most 1", w)
	}
	return nil
}

func (w Window) keep() int { return FirstPositive(w.Keep, defaultKeep, 1) }

// part returns a part of the window, in tokens.
func (w Window) part(p float64) int64 { return int64(p * float64(w.Tokens)) }

// room is how full the window is and what is being done about it.
type windowUse struct {
	tokens int64 // of the conversation up to the last response, that included, as the model counted; 0: it did not
	bytes  int   // that the conversation had then

	full          bool   // the last response was cut because there was no more room
	overflowed    bool   // the conversation was made smaller because it did not fit, and the model has not answered since
	summaryWanted string // why the conversation is to be summed up in any case; empty: it is not
	summaryFailed bool   // no summary could be had since the last response

	compacted uint64 // the place of the last event that changed what was said before
	summaries int    // how many there were
	replaced  int    // how many responses they took the place of
}

// measure notes how large the conversation is.
func (r *windowUse) measure(p *AssistantMessage, size int) {
	r.tokens, r.bytes = int64(tokens(p.Usage)), size
	if p.StopReason != model.StopContextOverflow {
		r.overflowed, r.summaryFailed, r.summaryWanted = false, false, ""
	}
}

// filled returns how many tokens the next request has, about.
func (r *windowUse) filled(c *conversation) int64 {
	bytes := c.size
	for _, u := range c.unread {
		bytes += len(u.text)
	}
	if r.tokens == 0 {
		return int64(bytes) / bytesPerToken
	}
	return max(0, r.tokens+int64(bytes-r.bytes)/bytesPerToken)
}

const (
	// leastShown is what a result shows in any case, in bytes: enough to say what it is.
	leastShown = 512
	// mostShown is what a result shows while there is room, in bytes: a tool that returns more is better asked again.
	mostShown = 16 << 10
	// resultsShare is the part of the tokens that are left that the results of one response may take.
	resultsShare = 0.25
)

// maxShown returns how many bytes of its result each of n calls may show, from the tokens that are left; nil where
// nobody knows how many these are.
func (s *State) MaxShown(n int) *int {
	w := s.started.Window
	if w.Tokens == 0 {
		return nil
	}
	left := max(0, w.part(w.SummarizeAt)-s.window.filled(&s.conversation))
	shown := int(resultsShare*float64(left)) * bytesPerToken / max(n, 1)
	shown = min(max(shown, leastShown), mostShown)
	return &shown
}

// sizeOf returns how much text messages hold, in bytes.
func sizeOf(messages []model.Message) int {
	n := 0
	for i := range messages {
		n += sizeOfBlocks(messages[i].Blocks)
	}
	return n
}

func sizeOfBlocks(blocks []model.Block) int {
	n := 0
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			n += len(b.Text.Text)
		case b.ToolCall != nil:
			n += len(b.ToolCall.Name) + len(b.ToolCall.Arguments)
		case b.ToolResult != nil:
			n += resultSize(b.ToolResult)
		case b.Opaque != nil:
			n += len(b.Opaque.JSON)
		}
	}
	return n
}

func resultSize(r *model.ToolResult) int {
	n := 0
	for i := range r.Content {
		c := &r.Content[i]
		n += len(c.Text) + len(c.JSON) + min(len(c.Data), imageBytes)
		if c.Kind == tool.ContentArtifact && c.Artifact != nil {
			n += len(c.Artifact.Head) + len(c.Artifact.Tail)
		}
	}
	return n
}
