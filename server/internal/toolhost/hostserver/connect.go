package hostserver

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/intake"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/tool"
)

const (
	// outboxBytes is the number of bytes that a Connect stream queues before its calls block. It is
	// enough to keep the transport busy.
	outboxBytes = 256 << 10
	// leastOutboxBytes is outboxBytes for a stream that begins while there is no more memory. Events
	// of calls wait earlier then.
	leastOutboxBytes = 16 << 10
	// leastStreamBytes is the memory of such a stream without its calls: the outbox of a caller that
	// does not read holds up to twice its limit, and gRPC buffers its quota and a batch. It fits into
	// the share of a connection with room for some small calls, so that other connections cannot shut
	// the callers of a new one out.
	leastStreamBytes = 2*leastOutboxBytes + 96<<10
	// lastCalls is the time after the begin of a shutdown in which a stream still accepts calls. A
	// caller may have sent them before it knew of the shutdown.
	lastCalls = time.Second
)

type connectStream = grpc.BidiStreamingServer[toolhostv1.ConnectRequest, toolhostv1.ConnectResponse]

// connection is one Connect stream with its calls.
type connection struct {
	service *toolService
	stream  connectStream
	ctx     context.Context            // the context of the stream, with the memory account of the connection
	caller  remote                     // of the stream
	valid   func(context.Context) bool // reports whether the caller's credential is still valid; nil: it always is
	hold    budget.Hold                // the memory of the outbox
	frames  *flow.Stream[*toolhostv1.ConnectResponse, *toolhostv1.ConnectRequest]
	running sync.WaitGroup // calls whose outcome was not sent; see enter and done
	unsent  atomic.Int64   // the number of these calls

	mutex    sync.Mutex
	open     map[uint32]*numberedCall
	highest  uint32 // the highest number used so far
	draining bool   // no new calls are accepted
}

// numberedCall is a call on a Connect stream, with the credit that its caller granted.
type numberedCall struct {
	streamCall
	connection *connection
	number     uint32
	credit     flow.Credit
}

// Connect implements toolhost.v1.ToolService.
func (s *toolService) Connect(stream connectStream) error {
	c := &connection{service: s, stream: stream, ctx: withAccount(stream.Context()), caller: callerOf(stream.Context()), valid: gate.Recheck(stream.Context()), open: map[uint32]*numberedCall{}}
	c.hold.On(budget.FromContext(c.ctx))
	c.hold.For(c.caller.Principal, false)
	defer c.hold.Release()
	limit, err := c.reserve()
	if err != nil { // before the headers: a client knows that a stream without headers executed nothing
		return noRoom(err)
	}
	if err := stream.SendHeader(metadata.Pairs(flow.BatchKey, flow.BatchValue)); err != nil {
		return err
	}
	c.frames = flow.NewStream[*toolhostv1.ConnectResponse, *toolhostv1.ConnectRequest](stream.Send, hostpb.LinkResponse, limit)
	c.frames.PeerMetadata(metadata.ValueFromIncomingContext(stream.Context(), flow.BatchKey))
	received := make(chan error, 1)
	// ends with the stream, at the latest when this handler returns; the server waits for it
	s.tasks.Go(func() { received <- c.receive() })
	err = c.wait(received)
	if err == nil {
		err = c.frames.Drain(stream.Context())
	}
	// Close waits for a send that may block until this handler returns. The server waits for it.
	s.tasks.Go(c.frames.Close)
	c.giveUpAll(err) // calls that are left have no caller
	c.running.Wait()
	return err
}

// reserve reserves the memory of the stream, and returns the limit of its outbox.
func (c *connection) reserve() (limit int, err error) {
	if err := c.hold.TryReserve(leastStreamBytes); err != nil {
		return 0, err
	}
	if c.hold.TryReserve(2*(outboxBytes-leastOutboxBytes)) != nil {
		return leastOutboxBytes, nil
	}
	return outboxBytes, nil
}

// wait returns nil when the caller has half-closed the stream, or the server is shutting down, and
// every call has ended. It returns an error when the stream is broken.
func (c *connection) wait(received <-chan error) error {
	drain := c.service.drain
	var late <-chan time.Time
	var idle chan struct{}
	for {
		select {
		case err := <-received:
			if err != nil {
				return err
			}
			received = nil
			c.callerDone()
		case <-drain:
			drain, late = nil, time.After(lastCalls)
			continue
		case <-late:
		case <-c.frames.Ended():
			return c.frames.Err()
		case <-idle:
			return nil
		}
		if idle == nil {
			c.refuseCalls()
			idle = make(chan struct{})
			go func() { // ends with the calls, at the latest with the stream
				c.running.Wait()
				close(idle)
			}()
		}
	}
}

// receive reads frames until the caller half-closes the stream, and then returns nil.
func (c *connection) receive() error {
	for {
		req, err := c.stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		c.frames.Receive(req, c.take)
	}
}

// take handles one frame. It does not wait for a call.
func (c *connection) take(req *toolhostv1.ConnectRequest) {
	if start := req.GetStart(); start != nil {
		c.start(req.GetCall(), start)
	} else {
		c.dispatch(req)
	}
}

// start starts a call, or answers with the reason for refusing it.
func (c *connection) start(number uint32, start *toolhostv1.StartCall) {
	call, refused := c.enter(number, start)
	if refused != nil {
		c.answer(number, failed(start, refused))
		return
	}
	call.emit = func(m *toolhostv1.CallEvent) error { return c.emit(number, call, m) }
	c.service.pool.Go(func() { // ends with the call, at the latest with the stream
		defer c.done(call)
		defer c.forget(number, call)
		call.run()
	})
}

// enter registers a call under its number. The goroutine that ends the call calls done. The number
// is free again before the outcome is sent, and the outcome waits until the caller reads. So a
// caller that does not read could collect unsent outcomes without limit. Therefore enter refuses
// calls when there are twice maxOpen of them.
func (c *connection) enter(number uint32, start *toolhostv1.StartCall) (*numberedCall, *tool.Error) {
	call := &numberedCall{connection: c, number: number}
	call.valid, call.stream = c.valid, c.ctx
	if refused := call.recheck(); refused != nil {
		return nil, refused
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case number == 0:
		return nil, tool.Errorf(tool.KindInvalidArgument, "a call's number must not be 0")
	case c.open[number] != nil:
		return nil, tool.Errorf(tool.KindInvalidArgument, "the number %d belongs to a call that has not ended, which goes on", number)
	case c.draining:
		return nil, tool.Errorf(tool.KindUnavailable, "toolhost is shutting down; the call was not executed")
	case len(c.open) >= c.service.maxOpen, c.unsent.Load() >= 2*int64(c.service.maxOpen):
		return nil, tool.Errorf(tool.KindRateLimited, "the stream has %d open calls, and the limit is %d; wait for one to end, or open another stream", c.unsent.Load(), c.service.maxOpen)
	}
	c.highest = max(c.highest, number)
	call.init(c.ctx, &c.caller, c.service, start)
	if refused := call.reserve(); refused != nil {
		call.giveUp(refused)
		return nil, refused
	}
	call.credit.Grant(hostpb.Window)
	c.open[number] = call
	c.running.Add(1)
	c.unsent.Add(1)
	return call, nil
}

// done records that the outcome of a call was sent or cannot be sent.
func (c *connection) done(call *numberedCall) {
	call.letGo()
	c.unsent.Add(-1)
	c.running.Done()
}

// answer sends an outcome for a number that is not a call of this stream.
func (c *connection) answer(number uint32, e tool.Event) {
	for m := range hostpb.FromEvent(e) {
		_ = c.frames.PutNow(&toolhostv1.ConnectResponse{Call: number, Event: m}) // if it fails, wait returns
	}
}

// droppedText is the size of the text for ended calls above which the connection is slowed down. A
// caller that sends so much does not read that its call was refused.
const droppedText = 16 << 10

// dispatch passes a frame to its call. It drops frames of a call that has ended, which the caller
// may have sent before it knew.
func (c *connection) dispatch(req *toolhostv1.ConnectRequest) {
	number := req.GetCall()
	c.mutex.Lock()
	call, known := c.open[number], number != 0 && number <= c.highest
	c.mutex.Unlock()
	if call == nil {
		text, account := len(req.GetAppend().GetText()), budget.FromContext(c.ctx)
		intake.Carry(account, text)
		if text >= droppedText {
			account.Slow()
		}
		if !known {
			c.answer(number, failed(nil, tool.Errorf(tool.KindInvalidArgument, "there is no call with the number %d; begin with `start`", number)))
		}
		return
	}
	switch frame := req.GetFrame().(type) {
	case *toolhostv1.ConnectRequest_Append:
		call.append(frame.Append.GetText())
	case *toolhostv1.ConnectRequest_Complete:
		call.finish()
	case *toolhostv1.ConnectRequest_Cancel:
		call.cancel(frame.Cancel.GetReason())
	case *toolhostv1.ConnectRequest_Credit:
		call.credit.Grant(int(frame.Credit.GetBytes()))
	}
}

// emit sends an event when the call has credit for it and the stream has room.
func (c *connection) emit(number uint32, call *numberedCall, m *toolhostv1.CallEvent) error {
	ctx := call.ctx
	if m.GetEnded() != nil {
		// before the caller can read the end and reuse the number
		c.forget(number, call)
		ctx = c.stream.Context()
	} else if err := call.credit.Acquire(ctx, m.SizeWire()); err != nil {
		return err
	}
	frame := &toolhostv1.ConnectResponse{Call: number, Event: m}
	return c.frames.Put(ctx, frame, frame.SizeWire())
}

func (c *connection) forget(number uint32, call *numberedCall) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.open[number] == call {
		delete(c.open, number)
	}
}

func (c *connection) refuseCalls() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.draining = true
}

func (c *connection) calls() []*numberedCall {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	calls := make([]*numberedCall, 0, len(c.open))
	for _, call := range c.open {
		calls = append(calls, call)
	}
	return calls
}

func (c *connection) callerDone() {
	for _, call := range c.calls() {
		call.callerDone()
	}
}

func (c *connection) giveUpAll(cause error) {
	c.refuseCalls()
	for _, call := range c.calls() {
		call.giveUp(cause)
	}
}
