package sdk

import (
	"context"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// call is one running call and its context. It holds what the context functions return, and sends
// what the tool reports.
type call struct {
	context.Context // the transport's context; it bounds reports
	info            transport.Info
	out             transport.Call

	// turn has room for one token. The goroutine with the token may send, and may use the fields
	// below. A goroutine that waits for a slow receiver can therefore be cancelled, which a mutex
	// does not allow.
	turn     flow.Credit
	phase    tool.StatusState // the state of a status without one: StatusWait or StatusDoing
	state    tool.StatusState // the last state that was sent; empty if none was
	finished bool
}

func newCall(ctx context.Context, info transport.Info, out transport.Call) *call {
	c := &call{Context: ctx, info: info, out: out, phase: tool.StatusWait}
	c.turn.Grant(1)
	return c
}

type callKey struct{}

// Value implements context.Context.
func (c *call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// callOf returns the call of ctx, or nil.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// take waits for the token. It returns false if the call ends first.
func (c *call) take(ctx context.Context) bool {
	if c.turn.Acquire(ctx, 1) != nil {
		return false
	}
	if c.finished {
		c.release()
		return false
	}
	return true
}

func (c *call) release() { c.turn.Grant(1) }

// report sends a status, completed as ReportStatus documents.
func (c *call) report(ctx context.Context, s tool.Status) {
	if ctx != context.Context(c) { // the tool may have made ctx outlive the call
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c, cancel)()
	}
	if !c.take(ctx) {
		return
	}
	defer c.release()
	c.sendStatus(ctx, s)
}

func (c *call) sendStatus(ctx context.Context, s tool.Status) {
	if c.state.Terminal() {
		return
	}
	if s.State == "" && c.state == "" {
		s.State = c.phase
	}
	if rank(s.State) < rank(c.state) {
		s.State = "" // a state never goes back
	}
	if s.State != "" {
		c.state = s.State
	}
	s.Message = strings.ToValidUTF8(s.Message, "\uFFFD")
	if s.Progress != nil {
		progress := *s.Progress
		progress.Message = strings.ToValidUTF8(progress.Message, "\uFFFD")
		s.Progress = &progress
	}
	// An error means that no client sees the status, which does not concern the tool.
	_ = c.out.Send(ctx, tool.Event{Time: time.Now(), Status: &s})
}

// execute marks the end of previews.
func (c *call) execute() {
	if !c.take(c) {
		return
	}
	defer c.release()
	c.phase = tool.StatusDoing
	if c.state == tool.StatusWait {
		c.sendStatus(c, tool.Status{State: tool.StatusDoing})
	}
}

// lastWord bounds how long a cancelled call waits to send its last status, and its last spans.
const lastWord = time.Second

// last returns the context in which the call sends its last frames: that of the call, or a short
// one after its end.
func (c *call) last() (context.Context, context.CancelFunc) {
	if c.Err() == nil {
		return c, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(c), lastWord)
}

// finish sends a terminal state if the tool has reported anything, and refuses all later reports.
func (c *call) finish(ok bool) {
	ctx, cancel := c.last()
	defer cancel()
	if c.turn.Acquire(ctx, 1) != nil {
		return // a report waits for a receiver that does not read; do not wait for it
	}
	defer c.release()
	if c.state != "" && !c.state.Terminal() {
		state := tool.StatusError
		if ok {
			state = tool.StatusSuccess
		}
		c.sendStatus(ctx, tool.Status{State: state})
	}
	c.finished = true
}

// log sends a log record. It reports whether the record was sent.
func (c *call) log(record tool.LogRecord) bool {
	if !c.take(c) {
		return false
	}
	defer c.release()
	return c.out.Send(c, tool.Event{Time: record.Time, Log: &record}) == nil
}

// rank returns the position of a state; "" is before all others.
func rank(s tool.StatusState) int {
	switch s {
	case tool.StatusWait:
		return 1
	case tool.StatusDoing:
		return 2
	case tool.StatusSuccess, tool.StatusError:
		return 3
	}
	return 0
}
