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
	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/tool"
)

const (
	// outboxBytes is what one Connect stream queues before its calls wait: enough to keep the transport busy.
	outboxBytes = 256 << 10
	// streamBytes is what one Connect stream may take besides its calls: the outbox holds up to twice its bound, if its caller
	// does not read.
	streamBytes = 2 * outboxBytes
)

type connectStream = grpc.BidiStreamingServer[toolhostv1.ConnectRequest, toolhostv1.ConnectResponse]

// connection is one Connect stream.
type connection struct {
	service *toolService
	stream  connectStream
	ctx     context.Context // the stream's, with the connection's account
	hold    budget.Hold     // for the outbox
	frames  *flow.Stream[*toolhostv1.ConnectResponse, *toolhostv1.ConnectRequest]
	running sync.WaitGroup // the calls whose end was not sent; see enter and done
	unsent  atomic.Int64   // how many these are
	came    time.Time      // the message that is being read; receive's alone

	mutex    sync.Mutex
	open     map[uint32]*numberedCall
	highest  uint32 // number ever used
	draining bool   // no calls are taken any more
}

// numberedCall is a call on a Connect stream with the credit that its caller gave it.
type numberedCall struct {
	streamCall
	connection *connection
	number     uint32
	credit     flow.Credit
	over       atomic.Bool // deliver has the outcome; for calls of which the caller wants only that
	stop       func() bool // stops givenUp
}

// Connect implements toolhost.v1.ToolService.
func (s *toolService) Connect(stream connectStream) error {
	if err := stream.SendHeader(metadata.Pairs(flow.BatchKey, flow.BatchValue)); err != nil {
		return err
	}
	c := &connection{service: s, stream: stream, ctx: withAccount(stream.Context()), open: map[uint32]*numberedCall{}}
	c.hold.On(budget.FromContext(c.ctx))
	if err := c.hold.TryReserve(streamBytes); err != nil {
		return noRoom(err)
	}
	defer c.hold.Release()
	c.frames = flow.NewStream[*toolhostv1.ConnectResponse, *toolhostv1.ConnectRequest](stream.Send, hostpb.LinkResponse, outboxBytes)
	c.frames.PeerMetadata(metadata.ValueFromIncomingContext(stream.Context(), flow.BatchKey))
	// The calls belong to the stream, also where nothing is received or sent any more.
	defer context.AfterFunc(stream.Context(), func() { c.giveUpAll(context.Cause(stream.Context())) })()
	received := make(chan error, 1)
	// Reads until the stream ends, at the latest when this handler returns; the server waits for it.
	s.tasks.Go(func() { received <- c.receive() })
	err := c.wait(received)
	if err == nil {
		err = c.frames.Drain(stream.Context())
	}
	// Closing waits for a send that the caller may hold up until this handler returns; the server waits for it.
	s.tasks.Go(c.frames.Close)
	c.giveUpAll(err) // if there are any, they have nobody left to end for
	c.running.Wait()
	return err
}

// wait returns nil when the caller has half-closed or the server shuts down, and every call has ended; and an error
// when the stream is broken.
func (c *connection) wait(received <-chan error) error {
	drain := c.service.drain
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
			drain = nil
		case <-c.frames.Ended():
			return c.frames.Err()
		case <-idle:
			return nil
		}
		if idle == nil {
			c.refuseCalls()
			idle = make(chan struct{})
			go func() { // ends with the calls, which end at the latest with the stream
				c.running.Wait()
				close(idle)
			}()
		}
	}
}

// receive reads frames until the caller half-closes, and then returns nil.
func (c *connection) receive() error {
	for {
		req, err := c.stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		c.came = time.Now()
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

// start begins a call or answers why not.
func (c *connection) start(number uint32, start *toolhostv1.StartCall) {
	call, refused := c.enter(number, start)
	switch {
	case refused != nil:
		c.answer(number, failed(start, refused))
	case start.GetComplete() && start.GetOptions().GetOutcomeOnly():
		call.do()
	default:
		call.emit = func(m *toolhostv1.CallEvent) error { return c.emit(number, call, m) }
		c.service.pool.Go(func() {
			defer c.done(call)
			defer c.forget(number, call)
			call.run()
		})
	}
}

// enter makes a call known under its number. Whoever brings it to its end calls done. A call is not open any more once its end is to
// be sent, which waits for a caller who does not read: who begins others meanwhile is stopped at twice the number.
func (c *connection) enter(number uint32, start *toolhostv1.StartCall) (*numberedCall, *tool.Error) {
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
	call := &numberedCall{connection: c, number: number}
	call.came = c.came
	call.init(c.ctx, c.service, start)
	if refused := call.reserve(); refused != nil {
		return nil, refused
	}
	call.credit.Grant(hostpb.Window)
	c.open[number] = call
	c.running.Add(1)
	c.unsent.Add(1)
	return call, nil
}

// done says that the end of a call was sent, or cannot be.
func (c *connection) done(call *numberedCall) {
	call.letGo()
	c.unsent.Add(-1)
	c.running.Done()
}

// do makes a call of which the caller wants the outcome alone. It needs no goroutine of the stream's: the host brings the
// outcome. Whatever ends its context first ends the call for its caller.
func (n *numberedCall) do() {
	n.stop = context.AfterFunc(&n.ctx, n.givenUp)
	defer n.service.guard.caught("a call on a stream", func(e *tool.Error) { n.giveUp(e) })
	request, err := callOf(n.stream, n.start.GetTool(), n.start.GetArguments(), n.start.GetOptions())
	if err != nil {
		n.giveUp(err)
		return
	}
	request.ReceivedAt = n.came
	n.service.host.Do(&n.ctx, request, n.opened, n.bring)
}

// bring brings the outcome to the caller, unless the call was given up.
func (n *numberedCall) bring(e tool.Event) {
	n.stop()
	if n.over.CompareAndSwap(false, true) {
		n.connection.deliver(n.number, n, e)
	}
}

// givenUp ends the call for its caller after the call was given up. It runs in its own goroutine, which
// ends at the latest with the stream.
func (n *numberedCall) givenUp() {
	if n.over.CompareAndSwap(false, true) {
		n.connection.deliver(n.number, n, failed(n.start, tool.AsError(context.Cause(&n.ctx))))
	}
}

// deliver sends the end of a call, without waiting: where it has to wait for the caller, it does so in a goroutine.
func (c *connection) deliver(number uint32, call *numberedCall, e tool.Event) {
	if c.offer(number, call, e) {
		call.giveUp(nil)
		c.done(call)
		return
	}
	if err := call.hold.TryReserve(sizeOf(e)); err != nil { // until its caller has read it
		e = unread(call.start, e, err)
	}
	c.service.pool.Go(func() { // ends at the latest with the stream
		defer c.done(call)
		defer call.giveUp(nil)
		defer c.forget(number, call)
		defer c.service.guard.caught("the outcome of a call on a stream", func(bug *tool.Error) { c.tell(number, call, failed(call.start, bug)) })
		c.tell(number, call, e)
	})
}

// unread is the end of a call that cannot be kept until its caller reads it.
func unread(start *toolhostv1.StartCall, e tool.Event, err error) tool.Event {
	failure := tool.Errorf(tool.KindUnavailable,
		"the call has ended, and its outcome was dropped because its caller does not read the stream: %w; the same call, sent again with the same call id, tells the outcome", err)
	failure.CallID, failure.Plugin, failure.Instance = e.Ended.CallID, e.Ended.Plugin, e.Ended.Instance
	return failed(start, failure)
}

// sizeOf returns about how many bytes the outcome of a call holds.
func sizeOf(e tool.Event) int {
	size := 0
	for i := range e.Ended.Result.Content {
		c := &e.Ended.Result.Content[i]
		size += len(c.Text) + len(c.JSON) + len(c.Data)
	}
	return size
}

// tell sends the end of a call, or, if the call is given up before all of it is sent, why.
func (c *connection) tell(number uint32, call *numberedCall, e tool.Event) {
	for m := range hostpb.FromEvent(e) {
		err := c.emit(number, call, m)
		if err == nil {
			continue
		}
		if m.GetEnded() == nil { // else there is nobody to hear it
			c.tell(number, call, failed(call.start, tool.AsError(call.because(err))))
		}
		return
	}
}

// offer sends the end of a call if it is small and the stream has room for it, and reports whether it did.
func (c *connection) offer(number uint32, call *numberedCall, e tool.Event) (sent bool) {
	defer c.service.guard.caught("the outcome of a call on a stream", func(*tool.Error) {})
	for m := range hostpb.FromEvent(e) {
		if m.GetEnded() == nil {
			return false // the first of many
		}
		c.forget(number, call) // the caller may use the number again as soon as it reads the end
		frame := &toolhostv1.ConnectResponse{Call: number, Event: m}
		sent, err := c.frames.Offer(frame, frame.SizeWire())
		return sent || err != nil // where it fails there is nobody to hear it
	}
	return false
}

// answer sends the end of something that is no call of this stream.
func (c *connection) answer(number uint32, e tool.Event) {
	for m := range hostpb.FromEvent(e) {
		_ = c.frames.PutNow(&toolhostv1.ConnectResponse{Call: number, Event: m}) // if it fails, wait returns
	}
}

// droppedText is how much text of a call that has ended slows its connection down: a caller that goes on sending does not read
// that it was refused.
const droppedText = 16 << 10

// dispatch hands a frame to its call. Frames of a call that has ended were on their way when it did, and are dropped.
func (c *connection) dispatch(req *toolhostv1.ConnectRequest) {
	number := req.GetCall()
	c.mutex.Lock()
	call, known := c.open[number], number != 0 && number <= c.highest
	c.mutex.Unlock()
	if call == nil {
		text, account := len(req.GetAppend().GetText()), budget.FromContext(c.ctx)
		carry(account, text)
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

// emit sends an event of a call once the call has credit for it and the stream has room.
func (c *connection) emit(number uint32, call *numberedCall, m *toolhostv1.CallEvent) error {
	var ctx context.Context = &call.ctx
	if m.GetEnded() != nil {
		// The caller may use the number again as soon as it reads the end.
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
