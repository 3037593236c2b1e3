package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// firstPause is the pause before a stream is opened again, unless the server demands another
	// one. It doubles, up to maxRetryPause, while the stream brings nothing.
	firstPause = time.Second
	// maxResumptions bounds how often the stream of one call is resumed without a new event.
	maxResumptions = 5
)

// codeBegun is the code of the error with which the guard answers a request in place of a server
// whose stream broke: the message of the error says how. It is outside of the range of JSON-RPC's
// own codes.
const codeBegun = -31_998

// stream is the body of an answer for the SDK, with the events of one or more streams of the
// server. One goroutine reads it. Close may be called concurrently with Read.
type stream struct {
	guard *guard
	x     *exchange
	body  io.ReadCloser // of the server; nil: none is open
	idle  *idleReader
	from  *events

	first  chan struct{} // closed when the first opening is over; nil: the stream was open
	ready  []byte        // events that the SDK has not read yet
	ended  bool          // nothing follows ready
	silent bool          // the server has no more events

	last    string        // the id of the last event; empty: none
	pause   time.Duration // before the stream is opened again; 0: the server demanded none
	barren  int           // openings in a row that brought no event
	opened  bool          // the stream was open once
	passed  bool          // the SDK got a message, so the server took the request
	resumes bool          // the server can continue the stream after the last event
}

// follow returns the stream that answers a call. It ends with the answer. In the former version of
// the protocol, a server may close the stream and let the client fetch the rest.
func (g *guard) follow(x *exchange, body io.ReadCloser) io.ReadCloser {
	s := &stream{guard: g, x: x, resumes: x.sent.legacy}
	s.use(body)
	return s
}

// subscribe returns a stream of what the server sends without being asked. It ends with its request
// or with the session.
func (g *guard) subscribe(req *http.Request, s sent) io.ReadCloser {
	from := &stream{guard: g, x: g.begin(req, s), resumes: s.legacy, first: make(chan struct{})}
	go func() { // ends with the answer of the server or with the stream
		defer close(from.first)
		from.open()
	}()
	timer := time.NewTimer(subscribePatience)
	defer timer.Stop()
	select {
	case <-from.first:
	case <-timer.C:
	}
	return from
}

// subscribePatience is how long a session waits for its first subscription before it lists the
// tools. A change of the tools between the list and the subscription would not be noticed.
const subscribePatience = time.Second

// use reads from another stream of the server.
func (s *stream) use(body io.ReadCloser) {
	timeout := s.guard.server.IdleTimeout
	if !s.forCall() {
		timeout = 0 // nothing has to happen there
	}
	s.body, s.opened = body, true
	s.idle = watch(body, timeout, s.guard.questioned, s.x.cancel)
	s.from = newEvents(s.idle, s.guard.most)
}

// forCall reports whether the stream ends with the answer to its request.
func (s *stream) forCall() bool { return s.x.sent.isCall && s.x.sent.method != methodListen }

// Close implements io.Closer.
func (s *stream) Close() error {
	s.x.release()
	return nil
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if s.first != nil {
		<-s.first
	}
	for len(s.ready) == 0 {
		if s.silent {
			<-s.x.req.Context().Done()
			s.ended = true
		}
		if s.ended {
			s.drop()
			return 0, io.EOF
		}
		if s.body == nil {
			s.open()
			continue
		}
		ev, err := s.from.next()
		if err != nil {
			s.broke(err)
			continue
		}
		s.take(&ev)
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

// drop closes the stream of the server.
func (s *stream) drop() {
	if s.body != nil {
		s.idle.stop()
		_ = s.body.Close()
		s.body = nil
	}
}

// take passes an event on, if the SDK may see it.
func (s *stream) take(ev *event) {
	s.barren = 0
	if ev.id != "" && s.resumes {
		s.last = ev.id
	}
	if ev.retry > 0 {
		s.pause = ev.retry
	}
	if len(ev.data) == 0 || ev.name != "" && ev.name != "message" {
		return
	}
	msg, err := jsonrpc.DecodeMessage(ev.data)
	if err != nil {
		s.guard.logf("an event that is no message was dropped: %s", oneLine(err.Error()))
		return
	}
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		if msg.ID != s.x.sent.id || !s.x.sent.isCall {
			s.guard.logf("an answer to another request was dropped")
			return
		}
		s.ended = s.forCall()
		if !s.ended { // the end of a subscription
			s.rejected(msg)
			return
		}
		s.guard.failures.Store(0)
		if !s.passed && lostBy(msg, s.x.sent) {
			decide(s.x.req.Context(), errNotTaken)
			s.guard.lose(ErrSessionGone)
		}
		mend(s.x.sent.method, msg)
	case *jsonrpc.Request:
		if !s.guard.admit(msg) {
			return
		}
	}
	s.passed = true
	text, err := jsonrpc.EncodeMessage(msg)
	if err == nil { // it was decoded just now
		s.ready = frame(text)
	}
}

// rejected handles the answer to a subscription. With an error, the server does not have
// subscriptions; without, it has ended this one.
func (s *stream) rejected(answer *jsonrpc.Response) {
	s.drop()
	if answer.Error != nil {
		s.silence()
	}
}

// silence makes Read wait until the SDK closes the stream, because nothing more will come. If the
// stream ended before, the SDK would take that for the loss of the session.
func (s *stream) silence() { s.silent = true }

// broke handles the end of a stream of the server.
func (s *stream) broke(err error) {
	s.drop()
	cause := context.Cause(s.x.ctx)
	switch {
	case !s.forCall():
		if cause != nil {
			s.silence()
		}
	case errors.Is(err, errEventTooLarge):
		s.fail(codeTooLarge, err.Error())
	case cause != nil:
		s.fail(codeBegun, s.reason(err))
	case s.last == "" || !s.resumes:
		s.fail(codeBegun, s.reason(err))
	}
}

// reason returns why the stream of a call ended without an answer.
func (s *stream) reason(err error) string {
	failure := s.guard.failed(s.x.ctx, err, true)
	if begun, ok := errors.AsType[*begunError](failure); ok {
		return begun.reason
	}
	return ErrEnded.Error()
}

// fail answers the call in place of the server.
func (s *stream) fail(code int64, message string) {
	if code == codeBegun {
		decide(s.x.req.Context(), &begunError{message})
	}
	s.ready, s.ended = frame(errorMessage(s.x.sent.id, code, message)), true
}

// open opens a stream of the server after a pause. If there is none, the stream has ended, or Read
// tries again.
func (s *stream) open() {
	if s.opened || s.barren > 0 {
		if s.barren++; s.forCall() && s.barren > maxResumptions {
			s.fail(codeBegun, "its stream cannot be resumed")
			return
		}
		timer := time.NewTimer(s.wait())
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.x.ctx.Done():
			s.broke(s.x.ctx.Err())
			return
		}
	}
	req := s.x.req.Clone(s.x.ctx)
	if s.forCall() || !s.x.sent.isCall {
		s.toGet(req)
	} else if body, err := req.GetBody(); err == nil {
		req.Body = body
	}
	resp, err := s.guard.send(req, s.x.sent)
	if err != nil {
		s.barren = max(s.barren, 1)
		if s.x.ctx.Err() != nil {
			s.broke(err)
		}
		return
	}
	s.opens(resp)
}

// toGet makes a request one for the events after the last one.
func (s *stream) toGet(req *http.Request) {
	req.Method, req.Body, req.GetBody, req.ContentLength = http.MethodGet, nil, nil, 0
	req.Header.Del("Content-Type")
	req.Header.Set("Accept", typeEvents)
	if s.last != "" {
		req.Header.Set(lastEventHeader, s.last)
	}
}

// wait returns the pause before the stream is opened again.
func (s *stream) wait() time.Duration {
	if s.pause > 0 && s.barren <= 1 {
		return s.pause
	}
	pause := firstPause
	for range s.barren - 1 {
		pause = min(2*pause, maxRetryPause)
	}
	return pause/2 + rand.N(pause/2+1)
}

// opens uses the answer of the server, if it is a stream.
func (s *stream) opens(resp *http.Response) {
	switch {
	case resp.StatusCode == http.StatusOK && mediaTypeOf(resp.Header) == typeEvents:
		again := s.opened
		s.use(resp.Body)
		if again && !s.forCall() && s.last == "" {
			s.missed()
		}
		return
	case resp.StatusCode == http.StatusNotFound && s.x.sent.session && (s.forCall() || s.opened):
		s.guard.lose(ErrSessionGone)
	case resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests:
		_ = resp.Body.Close()
		if s.forCall() {
			s.fail(codeBegun, fmt.Sprintf("its stream cannot be resumed (HTTP status %d)", resp.StatusCode))
		} else {
			s.silence()
		}
		return
	}
	_ = resp.Body.Close()
	s.barren = max(s.barren, 1)
}

// missed tells the SDK that the tools may have changed while no stream was open.
func (s *stream) missed() {
	text, err := jsonrpc.EncodeMessage(&jsonrpc.Request{Method: "notifications/tools/list_changed"})
	if err == nil {
		s.ready = append(s.ready, frame(text)...)
	}
}

// idleReader cancels a request whose answer is silent for too long. Time in which its own reader
// does something else does not count, and neither does time in which the server waits for an
// answer: a person may need longer than a server.
type idleReader struct {
	from  io.Reader
	limit time.Duration
	timer *time.Timer // nil: it may be silent
}

// watch returns a reader of body. cancel is called if no byte arrives for a time; 0: never. waits
// reports whether the server waits for the client; nil: it never does.
func watch(body io.Reader, limit time.Duration, waits func() bool, cancel context.CancelCauseFunc) *idleReader {
	r := &idleReader{from: body, limit: limit}
	if limit > 0 {
		r.timer = time.AfterFunc(math.MaxInt64, func() {
			if waits != nil && waits() {
				r.timer.Reset(limit)
				return
			}
			cancel(errSilent)
		})
		r.timer.Reset(limit) // the function uses r.timer
	}
	return r
}

// Read implements io.Reader.
func (r *idleReader) Read(p []byte) (int, error) {
	if r.timer != nil {
		r.timer.Reset(r.limit)
		defer r.timer.Stop()
	}
	return r.from.Read(p)
}

func (r *idleReader) stop() {
	if r.timer != nil {
		r.timer.Stop()
	}
}
