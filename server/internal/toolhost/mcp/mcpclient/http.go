package mcpclient

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTPConfig describes a server that speaks MCP over streamable HTTP.
type HTTPConfig struct {
	// URL is the address of the server. Required.
	URL string
	// RoundTripper sends the requests. It enforces the rules for addresses and adds credentials. It
	// sees only requests to the origin of URL. If it returns a *tool.Error, that is the outcome of
	// the call. Required.
	RoundTripper http.RoundTripper
	// AnswerTimeout bounds each request that calls no tool. Required.
	AnswerTimeout time.Duration
	// IdleTimeout bounds the silence of a stream during a call. Required.
	IdleTimeout time.Duration
}

// ErrSessionGone is the reason for the end of a session that the server does not know any more. The
// server did not fail: another session can begin at once.
var ErrSessionGone = errors.New("the MCP server ended the session")

// OpenHTTP begins a session with a server at a URL. The end of ctx aborts OpenHTTP, and does not
// end the session.
func OpenHTTP(ctx context.Context, cfg Config, server HTTPConfig) (*Conn, error) {
	g, err := newGuard(cfg, server)
	if err != nil {
		return nil, err
	}
	t := &httpTransport{guard: g}
	g.hangUp = t.hangUp
	c, err := open(ctx, cfg, t, nil, t.hangUp)
	if err != nil {
		if reason := g.reason(); reason != nil && ctx.Err() == nil {
			return nil, reason
		}
		return nil, err
	}
	c.why = g.reason
	return c, nil
}

// httpTransport is the SDK's transport over HTTP behind a guard. The SDK sets the headers of both
// versions of the protocol and decodes messages. It neither follows redirects nor opens a stream
// again, because the guard does that within bounds.
type httpTransport struct {
	guard *guard

	mu      sync.Mutex
	conn    mcp.Connection
	closing sync.Once
}

var (
	_ mcp.Transport     = (*httpTransport)(nil)
	_ progressTransport = (*httpTransport)(nil)
)

// passProgress implements progressTransport.
func (t *httpTransport) passProgress(to func(*mcp.ProgressNotificationParams)) { t.guard.progress = to }

// Connect implements mcp.Transport.
func (t *httpTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	transport := &mcp.StreamableClientTransport{
		Endpoint: t.guard.server.URL, MaxRetries: -1, MaxEventSize: -1, // the guard bounds events
		HTTPClient: &http.Client{
			Transport:     t.guard,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	conn, err := transport.Connect(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conn = conn
	return conn, err
}

// hangUp ends the session and does not wait. The server gets the time farewell to hear of it.
func (t *httpTransport) hangUp() error {
	t.closing.Do(func() {
		t.guard.stop(ErrEnded)
		t.mu.Lock()
		conn := t.conn
		t.mu.Unlock()
		if conn != nil {
			go conn.Close() // ends with the request that says so, after farewell at most
		}
	})
	return nil
}

// Ended returns why the session has ended. It may be called once Done is closed. Nil means that
// this side ended it, or that the connection has no more to say than that it was lost.
func (c *Conn) Ended() error {
	if c.why == nil {
		return nil
	}
	return c.why()
}
