package agent

import (
	"fmt"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// maxResponse limits a response of a model in bytes: its text, its calls, its reasoning, and what
// only its provider reads. The journal and the gRPC API carry a response as one event, in which
// arguments are twice, and every later request contains it. The longest responses of today's models
// have less than a megabyte.
const maxResponse = 16 << 20

// responseSize counts the bytes of a response. The zero value is ready.
type responseSize struct{ shown, whole, calls int }

// add counts a chunk. It returns a *model.Error if the response is larger than maxResponse, or has
// more than model.MostCalls calls. A server that sends one such response usually sends the next
// one, so the error counts as malformed.
func (s *responseSize) add(c *model.Chunk) error {
	switch {
	case c.TextDelta != nil:
		s.shown += len(c.TextDelta.Text)
	case c.ReasoningDelta != nil:
		s.shown += len(c.ReasoningDelta.Text)
	case c.ArgumentDelta != nil:
		s.shown += len(c.ArgumentDelta.Text)
	case c.CallBegun != nil:
		s.calls++
		s.shown += len(c.CallBegun.ID) + len(c.CallBegun.Name)
	case c.Response != nil:
		s.whole, s.calls = writtenIn(&c.Response.Message)
	}
	malformed := func(most int, what string) error {
		return &model.Error{Message: fmt.Sprintf("the model's response has more than %d %s", most, what), Retryable: true, Malformed: true}
	}
	switch {
	case max(s.shown, s.whole) > maxResponse:
		return malformed(maxResponse, "bytes")
	case s.calls > model.MostCalls:
		return malformed(model.MostCalls, "tool calls")
	}
	return nil
}

// writtenIn returns the bytes of what a model wrote, and the number of its calls.
func writtenIn(m *model.Message) (size, calls int) {
	for _, b := range m.Blocks {
		switch {
		case b.Text != nil:
			size += len(b.Text.Text)
		case b.ToolCall != nil:
			calls++
			size += len(b.ToolCall.ID) + len(b.ToolCall.Name) + len(b.ToolCall.Arguments)
		case b.Opaque != nil:
			size += len(b.Opaque.JSON)
		}
	}
	return size, calls
}
