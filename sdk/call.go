package sdk

import (
	"context"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// call is one call while it runs, and its context: what that knows, and the one way out for what it reports.
type call struct {
	context.Context // the transport's; reports are bounded by it
	info            transport.Info
	out             transport.Call

	// turn is a credit of one: whoever has it may send and touch the fields below. So waiting for a slow receiver can be
	// cancelled.
	turn     flow.Credit
	phase    tool.StatusState // what a status without a state means now: StatusWait or StatusDoing
	state    tool.StatusState // the last state sent; empty if nothing was reported
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

// callOf returns the call that ctx belongs to, or nil.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// take waits for the turn. It reports false if the call ended first.
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

// report sends a status, completed as ReportStatus promises.
func (c *call) report(ctx context.Context, s tool.Status) {
	if ctx != context.Context(c) { // it may outlive the call, if the tool made it so
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
	s.Tip = strings.ToValidUTF8(s.Tip, "\uFFFD")
	if s.Progress != nil {
		progress := *s.Progress
		progress.Message = strings.ToValidUTF8(progress.Message, "\uFFFD")
		s.Progress = &progress
	}
	// An error means that nobody is there to see it any more, which is no concern of the tool's.
	_ = c.out.Send(ctx, tool.Event{Time: time.Now(), Status: &s})
}

// execute notes that previews are over.
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

// lastWord bounds how long a call that was cancelled waits to send its last status.
const lastWord = time.Second

// finish ends what a tool has reported with a terminal state, and refuses all further reports.
func (c *call) finish(ok bool) {
	ctx := context.Context(c)
	if ctx.Err() != nil {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
		defer cancel()
		ctx = grace
	}
	if c.turn.Acquire(ctx, 1) != nil {
		return // a report is stuck in a receiver that takes nothing; the end of the call overtakes it
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

// log sends a log record and reports whether it was taken.
func (c *call) log(record tool.LogRecord) bool {
	if !c.take(c) {
		return false
	}
	defer c.release()
	return c.out.Send(c, tool.Event{Time: record.Time, Log: &record}) == nil
}

// rank orders the states; "" comes before all.
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
