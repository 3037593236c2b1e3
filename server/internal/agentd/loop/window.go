package loop

import (
	"fmt"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Window says how much a model can read at once, and when a conversation is compacted so that it
// fits. Compaction first clears the results of old calls. If that is not enough, the model writes a
// summary.
type Window struct {
	// Tokens is the size of the model's window, input and output. In an agent's configuration and
	// in a task, 0 means 128,000. In a journal, 0 means unknown: the conversation is then compacted
	// when the model rejects it or asks for it.
	Tokens int64 `json:"tokens,omitempty"`
	// ClearAt is the fraction of the window from which old results are cleared. 0 means 0.5.
	ClearAt float64 `json:"clear_at,omitempty"`
	// SummarizeAt is the fraction of the window from which the conversation is summarized. 0 means
	// 0.8.
	SummarizeAt float64 `json:"summarize_at,omitempty"`
	// Keep is the number of last responses that stay unchanged, with their results. 0 means 3.
	Keep int `json:"keep,omitempty"`
}

const (
	// Common models read at least this much. If a model reads less, it rejects a request, and the run
	// continues with a smaller window.
	defaultWindow      = 128_000
	defaultClearAt     = 0.5
	defaultSummarizeAt = 0.8
	defaultKeep        = 3

	// bytesPerToken is a rough average. It is less than for English prose, because many tool
	// results are not prose.
	bytesPerToken = 3
	// worthClearing is the fraction of the window that clearing has to free, because each clearing
	// invalidates the provider's cache of the conversation.
	worthClearing = 0.05
	// imageBytes is the number of bytes for which an image counts. It does not depend on the
	// image's size, because models read images scaled.
	imageBytes = 1600 * bytesPerToken
)

// Or returns w with zero fields taken from d, and then from the defaults.
func (w Window) Or(d Window) Window {
	return Window{
		Tokens:      FirstPositive(w.Tokens, d.Tokens, defaultWindow),
		ClearAt:     FirstPositive(w.ClearAt, d.ClearAt, defaultClearAt),
		SummarizeAt: FirstPositive(w.SummarizeAt, d.SummarizeAt, defaultSummarizeAt),
		Keep:        FirstPositive(w.Keep, d.Keep, defaultKeep),
	}
}

// Over returns w with zero fields taken from d.
func (w Window) Over(d Window) Window {
	return Window{
		Tokens: FirstPositive(w.Tokens, d.Tokens, 0), ClearAt: FirstPositive(w.ClearAt, d.ClearAt, 0),
		SummarizeAt: FirstPositive(w.SummarizeAt, d.SummarizeAt, 0), Keep: FirstPositive(w.Keep, d.Keep, 0),
	}
}

// Check returns an error if the window is not valid.
func (w Window) Check() error {
	if w.Tokens < 0 || w.Keep < 0 || w.ClearAt < 0 || w.SummarizeAt < 0 || w.ClearAt > 1 || w.SummarizeAt > 1 {
		return fmt.Errorf("the window %+v is none: what is in it must not be negative, and parts of it are at most 1", w)
	}
	return nil
}

func (w Window) keep() int { return FirstPositive(w.Keep, defaultKeep, 1) }

// part returns a fraction of the window, in tokens.
func (w Window) part(p float64) int64 { return int64(p * float64(w.Tokens)) }

// windowUse is how full the window is, and the state of compaction.
type windowUse struct {
	tokens int64 // tokens up to and including the last response, as the model reported; 0: unknown
	bytes  int   // the size of the conversation at that time

	full          bool   // the window was full, so the last response was cut
	overflowed    bool   // compacted because it did not fit, and no response since
	summaryWanted string // why a summary is due in any case; empty: it is not
	summaryFailed bool   // a summary failed since the last response

	compacted uint64 // the Seq of the last compaction
	summaries int    // the number of summaries
	replaced  int    // the number of responses that they replaced
	fallback  int    // AssistantMessage.Fallback of the last response
}

// measure records the size of the conversation after a response.
func (r *windowUse) measure(p *AssistantMessage, size int) {
	r.fallback = p.Fallback
	r.tokens, r.bytes = int64(min(p.Usage.Tokens(), 1<<63-1)), size
	if p.StopReason != model.StopContextOverflow {
		r.overflowed, r.summaryFailed, r.summaryWanted = false, false, ""
	}
}

// filled returns the approximate number of tokens of the next request.
func (r *windowUse) filled(c *conversation) int64 {
	bytes := c.size
	for _, u := range c.unread {
		bytes += sizeOfBlocks(userBlocks(u.text, u.attached))
	}
	if r.tokens == 0 {
		return int64(bytes) / bytesPerToken
	}
	return max(0, r.tokens+int64(bytes-r.bytes)/bytesPerToken)
}

const (
	// leastShown is what a result may always show, in bytes: enough to identify it.
	leastShown = 512
	// mostShown is the most bytes of a result that a model sees. The model can read more with a
	// tool.
	mostShown = 16 << 10
	// resultsShare is the fraction of the remaining tokens that the results of one response may
	// use.
	resultsShare = 0.25
)

// MaxShown returns how many bytes of its result each of n calls may show, from the remaining
// tokens. It returns nil if the window is unknown.
func (s *State) MaxShown(n int) *int {
	w := s.windowInUse()
	if w.Tokens == 0 {
		return nil
	}
	left := max(0, w.part(w.SummarizeAt)-s.window.filled(&s.conversation))
	shown := int(resultsShare*float64(left)) * bytesPerToken / max(n, 1)
	shown = min(max(shown, leastShown), mostShown)
	return &shown
}

// sizeOf returns the bytes of text in messages. Images and files count as text of the same number
// of tokens.
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
		case b.Attachment != nil:
			n += sizeOfAttachment(b.Attachment)
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
