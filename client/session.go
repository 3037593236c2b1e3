package client

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/tool"
)

// outboxBytes is the number of queued bytes from which Send and Open block. It is enough to keep
// the transport busy.
const outboxBytes = 1 << 20

type connectStream = grpc.BidiStreamingClient[toolhostv1.ConnectRequest, toolhostv1.ConnectResponse]

// session is one Connect stream with its calls. The client owns the goroutines that execute run and
// watch.
//
// A session retires when another stream should carry the next calls: the client has a new token, or
// the connection no longer takes new streams, because the server limits its age. A server verifies
// the token at the start of a stream and lets the calls of the stream end normally. So a session
// that retires keeps its calls, and its stream ends with the last of them. If the client ended the
// stream earlier, calls would be lost. If it never ended the stream, the old connection would stay
// until the server cuts it.
type session struct {
	client *Client
	link   *link.Link
	ready  chan struct{} // closed when stream or err is set
	stream *flow.Stream[*toolhostv1.ConnectRequest, *toolhostv1.ConnectResponse]
	cancel context.CancelFunc // ends the stream
	ctx    context.Context

	mutex   sync.Mutex
	token   credential.Token // that the stream was opened with
	calls   map[uint32]*execution
	last    uint32 // the number of the newest call
	retired bool   // new calls belong to another session
	err     *tool.Error
}

// shared returns the session that all calls to a toolhost share. It opens one if there is none, if
// it has failed, or if it has retired.
func (c *Client) shared(ctx context.Context, to *link.Link) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, tool.AsError(err)
	}
	token, err := to.Token(ctx)
	if err != nil {
		return nil, err
	}
	s, err := c.current(to, token)
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

func (c *Client) current(to *link.Link, token credential.Token) (*session, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		return nil, tool.Errorf(tool.KindCancelled, "%w", link.ErrClosed)
	}
	s := c.sessions[to]
	if s == nil || !s.takes(token) {
		s = &session{client: c, link: to, ready: make(chan struct{}), calls: map[uint32]*execution{}, token: token}
		s.ctx, s.cancel = context.WithCancel(c.ctx)
		c.sessions[to] = s
		c.tasks.Go(s.run)
	}
	return s, nil
}

// takes reports whether the session takes new calls of a client whose token is token. It retires
// the session if the token is another one.
func (s *session) takes(token credential.Token) bool {
	s.mutex.Lock()
	other := s.token != token
	takes := s.err == nil && !s.retired && !other
	s.mutex.Unlock()
	if other {
		s.retire()
	}
	return takes
}

// renew retires the session if the client has, or now gets, a token that differs from that of the
// stream. It reports whether the session was retired.
func (s *session) renew(ctx context.Context) bool {
	s.mutex.Lock()
	token := s.token
	s.mutex.Unlock()
	if !s.link.Renew(ctx, token) {
		return false
	}
	s.retire()
	return true
}

// failed returns why the session accepts no calls, or nil.
func (s *session) failed() *tool.Error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.err
}

// run opens the stream and reads it until it ends or the client is closed.
func (s *session) run() {
	defer s.cancel()
	conn, err := s.link.Acquire()
	if err != nil {
		s.fail(tool.AsError(err), false)
		close(s.ready)
		return
	}
	defer func() { s.link.Release(conn, err) }()
	var stream connectStream
	stream, err = s.connect(conn)
	if err != nil {
		s.link.Retire(conn, err)
		s.fail(s.link.Failure(err), false)
		close(s.ready)
		return
	}
	s.stream = flow.NewStream[*toolhostv1.ConnectRequest, *toolhostv1.ConnectResponse](stream.Send, hostpb.LinkRequest, outboxBytes)
	close(s.ready)
	s.client.tasks.Go(func() { s.watch(conn) })
	err = s.receive(stream)
	s.link.Retire(conn, err)
	s.end(err, refusedStream(stream, err))
	s.cancel() // before Close, because it unblocks a send
	s.stream.Close()
}

// connect opens the stream. If the stream carries a token, connect waits until the server has
// accepted the stream, so that no call is sent to a server that refuses the token. It then opens
// the stream once more with a new token.
func (s *session) connect(conn *link.Conn) (connectStream, error) {
	ctx := metadata.AppendToOutgoingContext(s.ctx, flow.BatchKey, flow.BatchValue)
	authorized, err := s.link.Authorize(ctx, conn)
	if err != nil {
		return nil, err
	}
	for {
		stream, err := toolhostv1.NewToolServiceClient(authorized).Connect(ctx)
		if err == nil && s.link.HasTokens() {
			err = accepted(stream)
		}
		if err == nil {
			s.mutex.Lock()
			s.token = authorized.Token()
			s.mutex.Unlock()
			return stream, nil
		}
		if !s.link.Renewed(ctx, authorized, err) {
			return nil, err
		}
	}
}

// accepted waits until the server has accepted a stream, and returns the status of a stream that
// the server refuses.
func accepted(stream connectStream) error {
	header, err := stream.Header()
	if err == nil && header == nil { // the stream has ended without headers
		_, err = stream.Recv()
	}
	return err
}

// refusedStream reports whether err is the answer of a server that did not accept the stream. Such
// a server sends no headers, and it has executed nothing.
func refusedStream(stream connectStream, err error) bool {
	if status.Code(err) == codes.Unavailable || status.Code(err) == codes.Canceled {
		return false // the connection was lost
	}
	header, headerErr := stream.Header() // does not block, because the stream has ended
	return headerErr == nil && header == nil
}

// end fails the session with the reason for the end of its stream. A server that ends a stream
// regularly has answered every call that it received, so no outcome is unknown. The same holds for
// a refused stream.
func (s *session) end(err error, refused bool) {
	if errors.Is(err, io.EOF) {
		s.fail(tool.Errorf(tool.KindUnavailable, "the toolhost at %s is shutting down; the call was not executed%w", s.link.Addr(), link.NoServer(err)), false)
		return
	}
	failure := s.link.Failure(err)
	if s.client.ctx.Err() != nil {
		failure = tool.Errorf(tool.KindCancelled, "%w", link.ErrClosed)
	}
	s.fail(failure, !refused)
}

// fail ends the session and all its calls. lost says that the toolhost may have executed the calls
// that were sent.
func (s *session) fail(err *tool.Error, lost bool) {
	s.mutex.Lock()
	if s.err == nil {
		s.err = err
	}
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
		s.endIfIdle()
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
	start.Options.OnBehalfOf = onBehalfOf(ctx)
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
	if s.retired {
		return errRetired // the stream serves only the calls that it has, until they have ended
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
	s.endIfIdle()
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
	return tool.Errorf(tool.KindUnavailable, "the connection to the %s at %s was lost: %v%w", s.link.Server(), s.link.Addr(), err, link.NoServer(err))
}

// retire makes the client open another session for the next call. The stream ends now or with its
// last call.
func (s *session) retire() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.retired = true
	s.endIfIdle()
}

// endIfIdle ends the stream of a retired session without calls. The caller holds the mutex.
func (s *session) endIfIdle() {
	if s.retired && len(s.calls) == 0 && s.err == nil {
		s.err = tool.Errorf(tool.KindUnavailable, "the call was not executed: %w", errRetired)
		s.cancel()
	}
}

// errRetired is wrapped by the errors of a session that has retired. Another session takes the
// call.
var errRetired = errors.New("the session has retired")
