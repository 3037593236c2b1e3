// Package mcphttp serves a host to MCP clients over HTTP: the streamable HTTP transport, at the
// path Path of listeners of package listen. docs/adr/0031-mcp.md describes the design.
//
// It decides who a caller is, as the gRPC server does, and which caller gets which MCP server.
// Package mcpserver has the protocol.
package mcphttp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
)

// Path is the path of the MCP server.
const Path = "/mcp"

// maxBody bounds the body of a request, which has the arguments of a call.
const maxBody = 4 << 20

// Config configures a Front. Host, Gate and Visible are required.
type Config struct {
	Host Host
	// Gate admits each request, with the right of Method. Its rights must contain Method.
	Gate *gate.Gate
	// Refuse decides whether the process with this pid may use its connection on a unix socket. nil:
	// only the permissions of the socket decide.
	Refuse func(pid int) error
	// Budget limits the memory that callers can occupy. nil: no limit.
	Budget *budget.Budget
	// Limits are the limits of the listeners.
	Limits listen.Limits
	// Hosts are the names by which clients reach the server, without ports. nil: localhost and the
	// loopback addresses on a plain port, and any name with TLS.
	Hosts []string
	// Origins are the origins of web pages that may use the server, such as https://app.example. A
	// page of the server's own origin may use it in any case.
	Origins []string
	// Issuers are the authorization servers that clients can get tokens from.
	Issuers []string
	// Search and Visible are those of mcpserver.Config.
	Search  bool
	Visible func(string) string
	Logger  *slog.Logger // nil: no log
}

// Front is the HTTP server. The caller must call Shutdown. All methods are safe for concurrent use.
type Front struct {
	config  Config
	server  *http.Server
	members *members
	cancel  context.CancelFunc // ends the task that refreshes tools
	tasks   sync.WaitGroup
}

// New returns a front that does not listen yet.
func New(c Config) *Front {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &Front{config: c, members: newMembers(c), cancel: cancel}
	mux := http.NewServeMux()
	mux.Handle(Path, http.HandlerFunc(f.serve))
	mux.HandleFunc("GET "+metadataPath, f.describe)
	mux.HandleFunc("GET "+metadataPath+Path, f.describe)
	f.server = &http.Server{
		Handler:           f.guarded(mux),
		ConnContext:       f.connContext,
		ReadHeaderTimeout: c.Limits.RequestTimeout,
		IdleTimeout:       c.Limits.IdleTimeout,
		MaxHeaderBytes:    c.Limits.HeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: c.Limits.Streams},
		ErrorLog:          slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug),
	}
	f.tasks.Go(func() { f.members.watch(ctx) }) // ends with Shutdown
	return f
}

// Serve accepts connections until Shutdown, and then returns nil. It closes the listener.
func (f *Front) Serve(l net.Listener) error {
	secure := listen.Handshaken(l, f.config.Limits.HandshakeTimeout)
	defer secure.Close()
	if err := f.server.Serve(secure); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown stops accepting requests, waits until calls have ended or ctx ends, closes all sessions
// and connections, and waits for the goroutines of the front.
func (f *Front) Shutdown(ctx context.Context) error {
	f.cancel()
	closed := make(chan struct{})
	f.tasks.Go(func() { // ends when the calls of the sessions have ended
		f.members.close()
		close(closed)
	})
	err := f.server.Shutdown(ctx)
	if err != nil {
		_ = f.server.Close() // ends the requests that are left
	}
	select {
	case <-closed:
	case <-ctx.Done():
	}
	f.tasks.Wait()
	return err
}

// serve handles a request of an MCP client.
func (f *Front) serve(w http.ResponseWriter, r *http.Request) {
	ctx, err := f.admit(r)
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	m, err := f.members.of(ctx)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer f.members.leave(m)
	if m.crowded(r) {
		http.Error(w, "the principal has too many sessions; end one with DELETE", http.StatusTooManyRequests)
		return
	}
	body, release, ok := f.readBody(w, r, m)
	if !ok {
		return
	}
	defer release()
	m.listed.Do(func() { m.server.Refresh(ctx) })
	mark(r, ctx)
	if check := gate.Recheck(ctx); check != nil {
		w = &lasting{ResponseWriter: w, ctx: ctx, valid: check}
	}
	answer := &unknown{ResponseWriter: w, body: body}
	defer answer.sendHeld()
	m.handler.ServeHTTP(answer, r)
}

// readBody reads the body of a request in the time and the memory that a request may take.
func (f *Front) readBody(w http.ResponseWriter, r *http.Request, m *member) (body []byte, release func(), ok bool) {
	var hold budget.Hold
	hold.On(m.account)
	control := http.NewResponseController(w)
	if f.config.Limits.RequestTimeout > 0 { // also for a body that is refused: net/http reads some of it
		_ = control.SetReadDeadline(time.Now().Add(f.config.Limits.RequestTimeout))
	}
	size := min(cmp.Or(max(r.ContentLength, 0), maxBody), maxBody)
	if err := hold.TryReserve(int(size)); err != nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the request cannot be read now: "+err.Error(), http.StatusTooManyRequests)
		return nil, nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		hold.Release()
		code := http.StatusBadRequest
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			code = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "the body cannot be read: "+err.Error(), code)
		return nil, nil, false
	}
	// A batch would make any number of calls in one request, so that no limit on requests holds.
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		hold.Release()
		http.Error(w, "a request has one JSON-RPC message; this server accepts no batches", http.StatusBadRequest)
		return nil, nil, false
	}
	hold.Shrink(int64(len(body)))
	_ = control.SetReadDeadline(time.Time{}) // the answer may take longer
	r.Body = bodyOf(body)
	return body, hold.Release, true
}

// refuse answers a request that was not admitted. A stranger learns how to authenticate, and
// nothing else.
func (f *Front) refuse(w http.ResponseWriter, r *http.Request, err error) {
	s := status.Convert(err)
	switch s.Code() {
	case codes.Unauthenticated:
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+baseOf(r)+metadataPath+Path+`"`)
		http.Error(w, s.Message(), http.StatusUnauthorized)
	case codes.PermissionDenied:
		http.Error(w, s.Message(), http.StatusForbidden)
	case codes.ResourceExhausted:
		w.Header().Set("Retry-After", "1")
		http.Error(w, s.Message(), http.StatusTooManyRequests)
	default:
		http.Error(w, s.Message(), http.StatusServiceUnavailable)
	}
}
