package mcpclient

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolhost/toolhost/tool"
)

// What a server asks becomes a question of one of its calls.
//
// In version 2026-07-28, the server asks in the answer to a call, so the call is known. Version
// 2025-11-25 does not say which call a request of the server belongs to. A question that reaches
// the caller of another call would show one caller's data to another. So a session of that version
// that may ask has one call at a time (Conn.takeTurn), and a request without a call in progress is
// refused.

// asked are the questions of a call that have no answer yet. call.mu guards it.
type asked struct {
	last    uint32                      // the number of the latest question
	waiting map[uint32]chan tool.Answer // by number; of capacity 1
}

// ask makes questions of the call, and waits for all answers. It fails with the cause of ctx or of
// the end of the call.
func (c *call) ask(ctx context.Context, questions []tool.Question) ([]tool.Answer, error) {
	c.mu.Lock()
	if c.ended || c.lost != nil {
		c.mu.Unlock()
		return nil, errClosed
	}
	if c.asked.waiting == nil {
		c.asked.waiting = map[uint32]chan tool.Answer{}
	}
	arriving := make([]chan tool.Answer, len(questions))
	numbers := make([]uint32, len(questions))
	for i := range questions {
		c.asked.last++
		arriving[i], numbers[i] = make(chan tool.Answer, 1), c.asked.last
		questions[i].ID = numbers[i]
		c.asked.waiting[numbers[i]] = arriving[i]
		c.events = append(c.events, tool.Event{Question: &questions[i]})
	}
	c.mu.Unlock()
	c.rouse()
	defer c.forget(numbers)
	answers := make([]tool.Answer, len(questions))
	for i := range arriving {
		select {
		case answers[i] = <-arriving[i]:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-c.ctx.Done():
			return nil, context.Cause(c.ctx)
		case <-c.conn.done:
			return nil, ErrEnded
		}
	}
	return answers, nil
}

func (c *call) forget(numbers []uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, number := range numbers {
		delete(c.asked.waiting, number)
	}
}

// Answer implements pluginconn.Call. It ignores an answer without a question.
func (c *call) Answer(_ context.Context, number uint32, answer tool.Answer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if waiting := c.asked.waiting[number]; waiting != nil {
		delete(c.asked.waiting, number)
		waiting <- answer
	}
	return nil
}

// permitted reports whether a kind is in a list of what may be asked.
func permitted(kinds []tool.QuestionKind, kind tool.QuestionKind) bool {
	return slices.Contains(kinds, kind)
}

// oneByOne reports whether the session has one call at a time.
func (c *Conn) oneByOne() bool { return len(c.cfg.Asks) > 0 && !c.sessionless() }

// sessionless reports whether the version of the protocol has no sessions, and no requests of the
// server.
func (c *Conn) sessionless() bool { return c.Protocol() >= sessionlessVersion }

// sessionlessVersion is the first version of MCP without sessions.
const sessionlessVersion = "2026-07-28"

// takeTurn waits until the session has no other call, if it has one call at a time. The caller must
// call release.
func (c *Conn) takeTurn(ctx context.Context) (release func(), err error) {
	if !c.oneByOne() {
		return func() {}, nil
	}
	select {
	case c.turn <- struct{}{}:
		return func() { <-c.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.done:
		return nil, ErrEnded
	}
}

// codeUnanswered is the code of the error for a question that has no answer.
const codeUnanswered = -32_000

// protocolError returns the reason why a question has no answer as an error of the protocol. A nil
// reason means an answer of another kind.
func protocolError(e *tool.Error) error {
	if e == nil {
		return &jsonrpc.Error{Code: codeUnanswered, Message: "the answer does not fit the question"}
	}
	code := int64(codeUnanswered)
	if e.Kind == tool.KindInvalidArgument {
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: string(e.Kind) + ": " + clip(e.Message, maxMessage)}
}
