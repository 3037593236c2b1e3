package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of what a server over HTTP may do.
const (
	// maxFailures is the number of requests in a row without an answer after which the session ends,
	// so that backoff and quarantine of the plugin spare the server and its callers.
	maxFailures = 3
	// largeBody is the size above which an answer needs one of largeBodies places, so that a server
	// cannot make every call of a session occupy the memory of the largest answer.
	largeBody   = 1 << 20
	largeBodies = 4
	maxRefusal  = 64 << 10 // bytes of the body of an answer with a status of failure
)

// Headers and values of the protocol.
const (
	sessionHeader   = "Mcp-Session-Id"
	versionHeader   = "Mcp-Protocol-Version"
	lastEventHeader = "Last-Event-ID"
	firstStateless  = "2026-07-28"
	methodCallTool  = "tools/call"
	methodListen    = "subscriptions/listen"
	typeJSON        = "application/json"
	typeEvents      = "text/event-stream"
)

// guard is the http.RoundTripper between the SDK's transport and a server. It is for HTTP what
// pipes is for standard input and output.
//
// The SDK's transport ends the whole session for one faulty answer, reads bodies without a bound,
// and does not know whether a request that failed had reached the server. So the guard gives it
// only well-formed answers: each answer to a request has the id of that request and a bounded size,
// and whatever else a server does becomes an error of the one request. A stream that breaks is
// opened again here, if the protocol allows it, and the SDK reads one stream without an
// interruption.
//
// Invariant: the SDK sees no status of failure, no redirect, and no end of a stream before its
// answer. Otherwise a server could end the calls of others that share the session.
type guard struct {
	cfg    Config
	server HTTPConfig
	origin string
	log    io.Writer
	most   int           // bytes of a message
	large  chan struct{} // taken by an answer of more than largeBody
	hangUp func() error  // ends the session

	ctx      context.Context // of everything that continues after its request
	stop     context.CancelCauseFunc
	progress func(*mcp.ProgressNotificationParams) // receives the progress of calls; nil: the SDK does

	failures atomic.Int32 // requests in a row that had no answer

	mu        sync.Mutex
	ended     error // why the session ended; nil: it has not, or this side ended it
	allowance allowance
	asking    map[jsonrpc.ID]struct{} // requests of the server that have no answer yet
}

func newGuard(cfg Config, server HTTPConfig) (*guard, error) {
	u, err := url.Parse(server.URL)
	if err != nil {
		return nil, fmt.Errorf("reading the URL of the MCP server: %w", err)
	}
	g := &guard{
		cfg: cfg, server: server, origin: originOf(u), log: cfg.Log, large: make(chan struct{}, largeBodies),
		most: messageBytes(cfg.MaxResultBytes), asking: map[jsonrpc.ID]struct{}{},
		allowance: newAllowance(),
	}
	if g.log == nil {
		g.log = io.Discard
	}
	g.ctx, g.stop = context.WithCancelCause(context.Background())
	return g, nil
}

// originOf returns the origin of a URL: scheme, host and port.
func originOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// reason returns why the session ended, or nil.
func (g *guard) reason() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended
}

// lose ends the session.
func (g *guard) lose(err error) {
	g.mu.Lock()
	if g.ended == nil {
		g.ended = err
	}
	g.mu.Unlock()
	_ = g.hangUp()
}

// sent is a message on its way to the server.
type sent struct {
	id      jsonrpc.ID
	method  string // empty: an answer
	isCall  bool   // it gets an answer
	session bool   // it belongs to a session, which only the former version has
	legacy  bool   // of the version with sessions
}

// sentIn returns the message that a request of the SDK carries.
func sentIn(req *http.Request) (sent, error) {
	s := sent{session: req.Header.Get(sessionHeader) != "", legacy: req.Header.Get(versionHeader) < firstStateless}
	if req.GetBody == nil {
		return s, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return s, err
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return s, err
	}
	msg, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return s, err
	}
	switch msg := msg.(type) {
	case *jsonrpc.Request:
		s.id, s.method, s.isCall = msg.ID, msg.Method, msg.IsCall()
	case *jsonrpc.Response:
		s.id = msg.ID
	}
	return s, nil
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	s, err := sentIn(req)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading a message before it is sent: %w", err)
	case req.Method == http.MethodDelete:
		return g.forget(req)
	case req.Method == http.MethodGet, s.method == methodListen:
		return answerOf(req, typeEvents, g.subscribe(req, s)), nil
	case !s.isCall:
		return g.tell(req, s)
	default:
		return g.ask(req, s)
	}
}

// farewell bounds the request that ends a session, so that a server cannot delay a shutdown.
const farewell = time.Second

// forget tells the server that the session is over. Nothing depends on the answer.
func (g *guard) forget(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), farewell)
	defer cancel()
	resp, err := g.server.RoundTripper.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close()
	return statusOf(req, http.StatusNoContent), nil
}

// tell sends a message that gets no answer. Its loss harms no one: a notification is a hint, and a
// server whose question has no answer ends its own call.
func (g *guard) tell(req *http.Request, s sent) (*http.Response, error) {
	if s.method == "" {
		g.mu.Lock()
		delete(g.asking, s.id)
		g.mu.Unlock()
	}
	ctx, cancel := context.WithTimeout(req.Context(), g.server.AnswerTimeout)
	defer cancel()
	resp, err := g.send(req.WithContext(ctx), s)
	if err == nil {
		defer resp.Body.Close()
		if s.session && resp.StatusCode >= 400 {
			if text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)); refusesSession(resp.StatusCode, text) {
				g.lose(ErrSessionGone)
			}
		}
	}
	if err != nil || resp.StatusCode >= 300 {
		if s.method == "notifications/initialized" { // without it, the server takes no requests
			return nil, g.unreached(err, resp)
		}
		if err != nil {
			g.logf("a message to the server was lost: %s", connectionText(err))
		}
	}
	return statusOf(req, http.StatusAccepted), nil
}

// exchange is a request that waits for its answer.
type exchange struct {
	req     *http.Request
	sent    sent
	ctx     context.Context
	cancel  context.CancelCauseFunc
	release func() // ends the exchange; may be called more than once
	wrote   atomic.Bool
}

// begin begins an exchange, which ends with the request, the session, or release.
func (g *guard) begin(req *http.Request, s sent) *exchange {
	x := &exchange{req: req, sent: s}
	ctx, cancel := context.WithCancelCause(req.Context())
	end := context.AfterFunc(g.ctx, func() { cancel(ErrEnded) })
	x.ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { x.wrote.Store(true) }})
	x.cancel, x.release = cancel, func() { end(); cancel(nil) }
	return x
}

// ask sends a request and returns its answer: as a whole, or as a stream that ends with it.
func (g *guard) ask(req *http.Request, s sent) (*http.Response, error) {
	x := g.begin(req, s)
	if s.method != methodCallTool {
		timer := time.AfterFunc(g.server.AnswerTimeout, func() { x.cancel(errNoAnswer) })
		end := x.release
		x.release = func() { timer.Stop(); end() }
	}
	resp, err := g.send(req.WithContext(x.ctx), s)
	if err == nil {
		resp, err = g.answer(x, resp)
	} else {
		err = g.failed(x.ctx, err, x.wrote.Load())
	}
	if err != nil {
		x.release()
		decide(req.Context(), err)
	}
	return resp, err
}

// answer returns what the SDK gets for the server's answer. It owns the answer.
func (g *guard) answer(x *exchange, resp *http.Response) (*http.Response, error) {
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		defer resp.Body.Close()
		answered, err := g.refused(resp, x.sent)
		if err != nil {
			return nil, err
		}
		x.release()
		return answerOf(x.req, typeJSON, io.NopCloser(bytes.NewReader(answered))), nil
	}
	session := resp.Header.Get(sessionHeader)
	var body io.ReadCloser
	switch mediaTypeOf(resp.Header) {
	case typeEvents:
		g.failures.Store(0)
		body = g.follow(x, resp.Body)
	case typeJSON:
		text, err := g.whole(x, resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return nil, err
		}
		g.failures.Store(0)
		if text, err = g.fit(text, x.sent); err != nil {
			return nil, err
		}
		x.release()
		body = io.NopCloser(bytes.NewReader(text))
	default:
		_ = resp.Body.Close()
		g.logf("an answer that breaks the protocol: status %d with the content type %q", resp.StatusCode, clip(resp.Header.Get("Content-Type"), maxName))
		return nil, errBroken("its answer is neither JSON nor a stream of events")
	}
	out := answerOf(x.req, mediaTypeOf(resp.Header), body)
	if x.sent.legacy && !x.sent.session && x.sent.method == "initialize" && isVisible(session) {
		out.Header.Set(sessionHeader, session)
	}
	return out, nil
}

// whole reads an answer of bounded size.
func (g *guard) whole(x *exchange, body io.Reader) ([]byte, error) {
	idle := watch(body, g.server.IdleTimeout, nil, x.cancel)
	defer idle.stop()
	var text bytes.Buffer
	_, err := io.CopyN(&text, idle, largeBody)
	if err == nil {
		select {
		case g.large <- struct{}{}:
			defer func() { <-g.large }()
		case <-x.ctx.Done():
			return nil, g.failed(x.ctx, x.ctx.Err(), true)
		}
		_, err = io.CopyN(&text, idle, int64(max(g.most-largeBody, 0))+1)
	}
	switch {
	case err == nil:
		return nil, tooLarge(g.cfg.MaxResultBytes)
	case !errors.Is(err, io.EOF):
		return nil, g.failed(x.ctx, err, true)
	}
	return text.Bytes(), nil
}

// fit returns an answer with the id of its request, whatever id the server wrote into it.
func (g *guard) fit(text []byte, s sent) ([]byte, error) {
	msg, err := jsonrpc.DecodeMessage(bytes.TrimSpace(text))
	if err != nil {
		g.logf("an answer that breaks the protocol: %s", oneLine(err.Error())) // in the words of the SDK
		return nil, errBroken("its answer is no JSON-RPC message")
	}
	resp, ok := msg.(*jsonrpc.Response)
	if !ok || resp.ID != s.id {
		return nil, errBroken("it answered another request")
	}
	if lostBy(resp, s) {
		g.lose(ErrSessionGone)
		return nil, errNotTaken
	}
	mend(s.method, resp)
	return jsonrpc.EncodeMessage(resp)
}

// admit reports whether the SDK gets a message that a server sent without being asked.
func (g *guard) admit(msg *jsonrpc.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !msg.IsCall() {
		return g.allowance.take(g.log) && !passedProgress(g.progress, msg)
	}
	_, twice := g.asking[msg.ID]
	if twice || len(g.asking) >= maxQuestions || !g.allowance.take(g.log) {
		return false
	}
	g.asking[msg.ID] = struct{}{}
	return true
}

// questioned reports whether a request of the server has no answer yet.
func (g *guard) questioned() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.asking) > 0
}

func (g *guard) logf(format string, args ...any) { _, _ = fmt.Fprintf(g.log, format+"\n", args...) }

// answerOf returns an answer for the SDK.
func answerOf(req *http.Request, mediaType string, body io.ReadCloser) *http.Response {
	resp := statusOf(req, http.StatusOK)
	resp.Header.Set("Content-Type", mediaType)
	resp.Body, resp.ContentLength = body, -1
	return resp
}

func statusOf(req *http.Request, status int) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}
}

// mediaTypeOf returns the media type of an answer without its parameters.
func mediaTypeOf(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// isVisible reports whether a text of a server can be sent back in a header.
func isVisible(text string) bool {
	const most = 1 << 10
	return text != "" && len(text) <= most && !strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' })
}

// errorMessage returns the answer to a request in place of the server.
func errorMessage(id jsonrpc.ID, code int64, message string) []byte {
	text, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: code, Message: message}})
	if err != nil { // an id and texts can always be encoded
		text, _ = json.Marshal(map[string]string{"jsonrpc": "2.0"})
	}
	return text
}
