package sdk

import (
	"context"
	"strings"
	"time"

	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// call is one call while it runs: what its context knows, and the one way out for what it reports.
type call struct {
	info transport.Info
	out  transport.Call
	ctx  context.Context // the call's own; reports are bounded by it

	// turn holds one token: whoever has it may send and touch the fields below. It is a channel, so that waiting for a
	// slow receiver can be cancelled.
	turn     chan struct{}
	phase    tool.StatusState // what a status without a state means now: StatusWait or StatusDoing
	state    tool.StatusState // the last state sent; empty if nothing was reported
	finished bool
}

func newCall(ctx context.Context, info transport.Info, out transport.Call) *call {
	c := &call{info: info, out: out, turn: make(chan struct{}, 1), phase: tool.StatusWait}
	c.turn <- struct{}{}
	c.ctx = context.WithValue(ctx, callKey{}, c)
	return c
}

type callKey struct{}

// callOf returns the call that ctx belongs to, or nil.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// take waits for the turn. It reports false if the call ended first.
func (c *call) take(ctx context.Context) bool {
	select {
	case <-c.turn:
	case <-ctx.Done():
		return false
	}
	if c.finished {
		c.release()
		return false
	}
	return true
}

func (c *call) release() { c.turn <- struct{}{} }

// report sends a status, completed as ReportStatus promises.
func (c *call) report(ctx context.Context, s tool.Status) {
	// ctx may outlive the call, if the tool made it so.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
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
	if !c.take(c.ctx) {
		return
	}
	defer c.release()
	c.phase = tool.StatusDoing
	if c.state == tool.StatusWait {
		c.sendStatus(c.ctx, tool.Status{State: tool.StatusDoing})
	}
}

// lastWord bounds how long a call that was cancelled waits to send its last status.
const lastWord = time.Second

// finish ends what a tool has reported with a terminal state, and refuses all further reports.
func (c *call) finish(ok bool) {
	ctx := c.ctx
	if ctx.Err() != nil {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
		defer cancel()
		ctx = grace
	}
	select {
	case <-c.turn:
	case <-ctx.Done():
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
	if !c.take(c.ctx) {
		return false
	}
	defer c.release()
	return c.out.Send(c.ctx, tool.Event{Time: record.Time, Log: &record}) == nil
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
