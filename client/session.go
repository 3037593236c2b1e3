package client

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/internal/rpc/link"
	"github.com/toolhost/toolhost/tool"
)

// outboxBytes is the number of queued bytes from which Send and Open block. It is enough to keep
// the transport busy.
const outboxBytes = 1 << 20

type connectStream = grpc.BidiStreamingClient[toolhostv1.ConnectRequest, toolhostv1.ConnectResponse]

// session is one Connect stream with its calls. The client owns the goroutine that executes run.
type session struct {
	client *Client
	ready  chan struct{} // closed when stream or err is set
	stream *flow.Stream[*toolhostv1.ConnectRequest, *toolhostv1.ConnectResponse]

	mutex sync.Mutex
	calls map[uint32]*execution
	last  uint32 // the number of the newest call
	err   *tool.Error
}

// shared returns the session that all calls share. It opens one if there is none or if it has
// failed.
func (c *Client) shared(ctx context.Context) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, tool.AsError(err)
	}
	s, err := c.current()
	if err != nil {
		return nil, err
	}
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, tool.AsError(ctx.Err())
	}
	if err := s.failed(); err != nil {
		return nil, err
	}
	return s, nil
}

func (c *Client) current() (*session, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		return nil, tool.Errorf(tool.KindCancelled, "%w", link.ErrClosed)
	}
	if c.session == nil || c.session.failed() != nil {
		c.session = &session{client: c, ready: make(chan struct{}), calls: map[uint32]*execution{}}
		c.tasks.Go(c.session.run)
	}
	return c.session, nil
}

// failed returns why the session accepts no calls, or nil.
func (s *session) failed() *tool.Error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.err
}

// run opens the stream and reads it until it ends or the client is closed.
func (s *session) run() {
	ctx, cancel := context.WithCancel(s.client.ctx)
	defer cancel()
	conn, err := s.client.link.Acquire()
	if err != nil {
		s.fail(tool.AsError(err), false)
		close(s.ready)
		return
	}
	defer func() { s.client.link.Release(conn, err) }()
	var stream connectStream
	stream, err = toolhostv1.NewToolServiceClient(conn).Connect(metadata.AppendToOutgoingContext(ctx, flow.BatchKey, flow.BatchValue))
	if err != nil {
		s.client.link.Retire(conn, err)
		s.fail(s.client.link.Failure(err), false)
		close(s.ready)
		return
	}
	s.stream = flow.NewStream[*toolhostv1.ConnectRequest, *toolhostv1.ConnectResponse](stream.Send, hostpb.LinkRequest, outboxBytes)
	close(s.ready)
	err = s.receive(stream)
	s.client.link.Retire(conn, err)
	s.end(err)
	cancel() // before Close, because it unblocks a send
	s.stream.Close()
}

// end fails the session with the reason for the end of its stream. A server that ends a stream
// regularly has answered every call that it received, so no outcome is unknown.
func (s *session) end(err error) {
	if errors.Is(err, io.EOF) {
		s.fail(tool.Errorf(tool.KindUnavailable, "the toolhost at %s is shutting down; the call was not executed%w", s.client.link.Addr(), link.NoServer(err)), false)
		return
	}
	failure := s.client.link.Failure(err)
	if s.client.ctx.Err() != nil {
		failure = tool.Errorf(tool.KindCancelled, "%w", link.ErrClosed)
	}
	s.fail(failure, true)
}

// fail ends the session and all its calls. lost says whether the host may have executed calls that
// were sent.
func (s *session) fail(err *tool.Error, lost bool) {
	s.mutex.Lock()
	s.err = err
	calls := s.calls
	s.calls = nil
	s.mutex.Unlock()
	for _, e := range calls {
		e.lose(err, lost)
	}
}

// receive reads the stream until it ends.
func (s *session) receive(stream connectStream) error {
	for first := true; ; first = false {
		resp, err := stream.Recv()
		if err != nil {
			return err
		}
		if first { // with the first message the headers have arrived, so Header does not block
			if header, err := stream.Header(); err == nil {
				s.stream.PeerMetadata(header.Get(flow.BatchKey))
			}
		}
		s.stream.Receive(resp, s.take)
	}
}

// take passes an event to its call. It drops events of calls that have ended.
func (s *session) take(frame *toolhostv1.ConnectResponse) {
	number, event := frame.GetCall(), frame.GetEvent()
	s.mutex.Lock()
	e := s.calls[number]
	if e != nil && event.GetEnded() != nil {
		delete(s.calls, number)
	}
	s.mutex.Unlock()
	if e != nil {
		e.receive(event)
	}
}

// open sends a new call.
func (s *session) open(ctx context.Context, call tool.Call, complete bool) (*execution, error) {
	e := newExecution(s, call.ID)
	if err := s.enter(e); err != nil {
		return nil, err
	}
	start := &toolhostv1.StartCall{Tool: hostpb.FromName(call.Tool), Options: hostpb.FromCall(call)}
	// Larger arguments are split, so that they do not block other calls.
	whole := complete && len(call.Arguments) <= hostpb.Window
	if whole {
		start.Arguments, start.Complete = call.Arguments, true
		e.markComplete(true)
	}
	err := s.put(ctx, &toolhostv1.ConnectRequest{Call: e.number, Frame: &toolhostv1.ConnectRequest_Start{Start: start}})
	if err != nil {
		s.leave(e)
		return nil, err
	}
	if whole {
		return e, nil
	}
	if err := e.Send(ctx, call.Arguments, complete); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// enter assigns a number to a call.
func (s *session) enter(e *execution) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.err != nil {
		return s.err
	}
	for s.last++; s.last == 0 || s.calls[s.last] != nil; s.last++ {
	}
	e.number = s.last
	s.calls[e.number] = e
	return nil
}

// leave releases a number that was not sent.
func (s *session) leave(e *execution) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.calls, e.number)
}

// frameRoom is the space that a message needs in addition to its first frame.
const frameRoom = 1 << 10

// put queues a frame and blocks while the queue is full. It refuses a frame that is larger than a
// message may be, because such a frame would end the stream of all calls.
func (s *session) put(ctx context.Context, frame *toolhostv1.ConnectRequest) error {
	size := frame.SizeWire()
	if size > hostpb.MaxMessageBytes-frameRoom {
		return tool.Errorf(tool.KindInvalidArgument,
			"the call's context values, with its name and all else but its arguments, have about %d bytes; at most %d can be sent", size, hostpb.MaxMessageBytes-hostpb.Window-frameRoom)
	}
	err := s.stream.Put(ctx, frame, size)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return tool.AsError(ctx.Err())
	default:
		return s.lost(err)
	}
}

// lost returns why nothing can be sent.
func (s *session) lost(err error) *tool.Error {
	if failure := s.failed(); failure != nil {
		return failure
	}
	return tool.Errorf(tool.KindUnavailable, "the connection to the %s at %s was lost: %v%w", s.client.link.Server(), s.client.link.Addr(), err, link.NoServer(err))
}
