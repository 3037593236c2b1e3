package hostserver

import (
	"context"
	"sync"
	"time"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/tool"
)

// maxQueuedText bounds the argument text of one call that the host has not taken yet.
const maxQueuedText = 16 << 20

// streamCall is one call on a stream: frames come in by its methods, which never block, and events go out by emit.
type streamCall struct {
	service *toolService
	start   *toolhostv1.StartCall
	stream  context.Context // of the stream: who calls, and until when
	came    time.Time       // zero: when it is opened
	// ctx ends with the stream, or when the call is given up; then its cause is what the caller is told.
	ctx flow.CallContext
	// emit sends an event and blocks while the caller takes none. It fails when the stream or the call has ended; an
	// end of the call is sent all the same as long as there is a stream.
	emit func(*toolhostv1.CallEvent) error

	mutex     sync.Mutex
	execution tool.Execution // nil until the host has opened the call
	hold      budget.Hold    // for the start of the call and what of its text the host was not given yet
	cancelled bool           // before the host had opened the call
	reason    string         // of that
	text      flow.Text      // that the host was not given yet
	complete  bool           // no text may come any more
	wake      chan struct{}  // holds a token when text or complete changed; nil: no text is to come
	ended     bool           // the end was emitted; used by run alone
}

// init makes a call of the zero value, which who has the stream gives up with it.
func (c *streamCall) init(stream context.Context, s *toolService, start *toolhostv1.StartCall) {
	c.service, c.start, c.stream, c.complete = s, start, stream, start.GetComplete()
	c.ctx.Init(stream, 0, nil)
	if !c.complete {
		c.wake = make(chan struct{}, 1)
	}
}

// callBytes is what a call on a stream takes here besides what its caller sends.
const callBytes = 4 << 10

// reserve makes room for the call, until letGo. It is called after init.
func (c *streamCall) reserve() *tool.Error {
	c.hold.On(budget.FromContext(c.stream))
	if err := c.hold.TryReserve(callBytes + c.start.SizeWire()); err != nil {
		return noRoom(err)
	}
	return nil
}

// letGo gives back what the call takes. It may be called more than once.
func (c *streamCall) letGo() { c.hold.Release() }

// noRoom says that there is no memory for what a caller sends.
func noRoom(err error) *tool.Error {
	e := tool.Errorf(tool.KindRateLimited, "%w; nothing was executed; try again when other calls have ended", err)
	e.RetryAfter = time.Second
	return e
}

// giveUp ends the call for its caller, who is told the cause. It does nothing if the call was given up before.
func (c *streamCall) giveUp(cause error) { c.ctx.End(cause) }

// run opens the call, and returns when its end was emitted or cannot be.
func (c *streamCall) run() {
	defer c.giveUp(nil)
	defer c.service.guard.caught("a call on a stream", c.end)
	if err := c.serve(); err != nil {
		c.end(tool.AsError(err))
	}
}

// serve returns why the call could not be brought to its end, nil if it was.
func (c *streamCall) serve() error {
	call, err := callOf(c.stream, c.start.GetTool(), c.start.GetArguments(), c.start.GetOptions())
	if err != nil {
		return err
	}
	call.ReceivedAt = c.came
	execution, err := c.service.host.Open(&c.ctx, call, c.start.GetComplete())
	if err != nil {
		return c.because(err)
	}
	var feeding sync.WaitGroup
	defer feeding.Wait()
	defer c.giveUp(nil)
	defer execution.Close()
	c.opened(execution)
	if !c.start.GetComplete() {
		feeding.Go(c.feed)
	}
	for {
		event, err := execution.Next(&c.ctx)
		if err != nil {
			return c.because(err)
		}
		for m := range hostpb.FromEvent(event) {
			if err := c.emit(m); err != nil {
				return c.because(err)
			}
		}
		if event.Ended != nil {
			c.ended = true
			return nil
		}
	}
}

// because returns why the call was given up, or err if it was not.
func (c *streamCall) because(err error) error {
	if cause := context.Cause(&c.ctx); cause != nil {
		return cause
	}
	return err
}

// end tells the caller that the call failed outside of the host.
func (c *streamCall) end(failure *tool.Error) {
	if c.ended {
		return
	}
	c.ended = true
	for m := range hostpb.FromEvent(failed(c.start, failure)) {
		_ = c.emit(m) // fails only where nobody is left to be told
	}
}

// failed returns the end of a call that never reached the host, or was taken from it.
func failed(start *toolhostv1.StartCall, failure *tool.Error) tool.Event {
	told := *failure
	if id := start.GetOptions().GetCallId(); told.CallID == "" && tool.CheckID(id) == nil { // what is none may have megabytes
		told.CallID = id
	}
	return tool.Event{Ended: &tool.Outcome{CallID: told.CallID, Plugin: told.Plugin, Instance: told.Instance, Err: &told}}
}

// opened makes the execution known to cancel.
func (c *streamCall) opened(execution tool.Execution) {
	c.mutex.Lock()
	c.execution = execution
	cancelled, reason := c.cancelled, c.reason
	c.mutex.Unlock()
	if cancelled {
		execution.Cancel(reason)
	}
}

// feed hands argument text to the host until it is complete.
func (c *streamCall) feed() {
	defer c.service.guard.caught("the arguments of a call on a stream", func(e *tool.Error) { c.giveUp(e) })
	for {
		select {
		case <-c.wake:
		case <-c.ctx.Done():
			return
		}
		c.mutex.Lock()
		text, complete := c.text, c.complete
		c.text = flow.Text{}
		c.mutex.Unlock()
		if err := c.hand(text.Blocks(), complete); err != nil {
			c.giveUp(tool.AsError(err))
			return
		}
		if complete {
			return
		}
	}
}

// hand hands text to the host; complete says that none follows.
func (c *streamCall) hand(text [][]byte, complete bool) error {
	if complete && len(text) == 0 {
		text = [][]byte{nil}
	}
	for i, block := range text {
		err := c.execution.Send(&c.ctx, block, complete && i == len(text)-1)
		c.hold.Give(len(block))
		if err != nil {
			return err
		}
	}
	return nil
}

// append adds argument text, which it keeps.
func (c *streamCall) append(text []byte) {
	carry(c.hold.Account(), len(text))
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case c.complete:
		c.giveUp(tool.Errorf(tool.KindInvalidArgument, "argument text came after the arguments were complete; the call was stopped"))
	case c.text.Len()+len(text) > maxQueuedText:
		c.giveUp(tool.Errorf(tool.KindInvalidArgument, "more than %d bytes of argument text wait to be read; the call was stopped", maxQueuedText))
	default:
		if err := c.hold.TryReserve(len(text)); err != nil {
			c.giveUp(noRoom(err))
			return
		}
		if c.text.Len() == 0 {
			c.text = flow.TextOf(text)
		} else {
			c.text.Append(text)
		}
		c.notify()
	}
}

// finish says that the arguments are complete. Saying so twice is harmless.
func (c *streamCall) finish() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.complete = true
	c.notify()
}

func (c *streamCall) notify() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// cancel asks the host to stop the call, which still ends with its own end.
func (c *streamCall) cancel(reason string) {
	c.mutex.Lock()
	execution := c.execution
	if execution == nil {
		c.cancelled, c.reason = true, reason
	}
	c.mutex.Unlock()
	if execution != nil {
		execution.Cancel(reason)
	}
}

// callerDone says that the caller sends nothing any more.
func (c *streamCall) callerDone() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.complete {
		c.giveUp(tool.Errorf(tool.KindCancelled, "the call was abandoned: its caller closed the stream before the arguments were complete; nothing was executed"))
	}
}
