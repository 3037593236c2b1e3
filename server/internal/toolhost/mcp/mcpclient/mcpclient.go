// Package mcpclient makes the session with an MCP server a pluginconn.Conn, so that the host treats
// the server like any other plugin. It owns the conversion of tools, calls and results, and the
// bounds of what a server may send. It does not own the process or the address of a server, and it
// decides nothing about calls.
//
// Only this package of the direction from toolhost to MCP servers imports the MCP SDK.
package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Servers and clients of 2025-11-25 use logging, which 2026-07-28 deprecates.

// Config describes how to use a server.
type Config struct {
	// Plugin is the name of the plugin. Required.
	Plugin string
	// Prefix begins the name of each tool. Empty means that tools keep their names.
	Prefix string
	// TrustAnnotations says that the server's annotations hold. Without it, every tool is dangerous,
	// and neither read-only nor idempotent.
	TrustAnnotations bool
	// Secrets are the names of the secrets that every tool needs.
	Secrets []string
	// Protocol is the version of MCP to begin with. Empty means the newest one.
	Protocol string
	// Pinned returns the tools as the operator trusted them. A call of a tool that the server
	// declares in another way fails. Pinned must not block, and any goroutine may call it. The same
	// slice stands for the same tools. Nil means that every tool is as it should be.
	Pinned func() []tool.Spec
	// Asks is what the operator permits the tools to ask. A session of version 2025-11-25 offers it
	// to the server, and has one call at a time if there is any. Each call says again what it may
	// ask.
	Asks []tool.QuestionKind
	// Roots are the folders that the plugin may use, as absolute paths. The server gets them as its
	// roots.
	Roots []string
	// Trace says that the server gets the trace context of each call.
	Trace bool
	// MaxResultBytes bounds the result of a call. Required.
	MaxResultBytes int
	// Memory is where a session over pipes reserves memory for a large message; nil: no limit.
	Memory *budget.Account
	// Log receives lines about the session, and the server's own log. It must not block. Nil means
	// that they are dropped.
	Log io.Writer
}

// Conn is a session with an MCP server. All methods are safe for concurrent use.
//
// One goroutine of a Conn waits for the end of the session, and one goroutine for each call that is
// not direct waits for the answer of the server. They end with the session. The SDK has more of
// them, which end with the transport.
type Conn struct {
	cfg     Config
	session *mcp.ClientSession
	direct  *direct       // of the calls that need no SDK; nil: all calls need it
	hangUp  func() error  // closes the transport
	why     func() error  // why the session ended; nil: nothing is known
	opened  chan struct{} // closed when session is set
	done    chan struct{}
	tokens  atomic.Uint64
	turn    chan struct{} // of capacity 1: taken by the call in progress; see takeTurn
	offered offer         // the tools that the server declares
	notices notices
	calls   calls
	probes  probes

	mu sync.Mutex
	// prompts are the server's own names of its prompts, by the names that callers know
	prompts map[string]string
}

var _ pluginconn.Conn = (*Conn)(nil)

// ErrEnded says that a server ended its output, and with it the session.
var ErrEnded = errors.New("the MCP server ended the session")

// progressTransport is a transport that passes on progress itself. The SDK handles notifications in
// a queue, and answers outside of it, so an answer can overtake the progress that the server sent
// before it. The progress would then be lost, because its call has ended. The transport sees the
// messages in their order. It must pass on progress before Read returns a later message.
type progressTransport interface {
	passProgress(to func(*mcp.ProgressNotificationParams))
}

// open begins a session over a transport, which it owns, and lists the server's tools. hangUp
// closes the transport. The end of ctx aborts open, and does not end the session.
func open(ctx context.Context, cfg Config, transport mcp.Transport, direct *direct, hangUp func() error) (*Conn, error) {
	if cfg.Log == nil {
		cfg.Log = io.Discard
	}
	c := &Conn{cfg: cfg, direct: direct, hangUp: hangUp, opened: make(chan struct{}), done: make(chan struct{}), turn: make(chan struct{}, 1), calls: calls{byToken: map[string]*call{}}}
	c.offered.init(c)
	if t, ok := transport.(progressTransport); ok {
		t.passProgress(c.calls.progressed)
	}
	options := &mcp.ClientOptions{
		Capabilities:                &mcp.ClientCapabilities{},
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { c.offered.changed() },
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { c.calls.progressed(req.Params) },
		LoggingMessageHandler:       c.logged,
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {
			c.notices.tell(tool.ResourceChange{Resources: true})
		},
		PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) {
			c.notices.tell(tool.ResourceChange{Prompts: true})
		},
		ResourceUpdatedHandler: c.notices.updated,
		MultiRoundTrip:         &mcp.MultiRoundTripOptions{Disabled: true}, // callTool has the rounds of a call
	}
	c.offerTo(options)
	client := mcp.NewClient(&mcp.Implementation{Name: "toolhost", Title: "toolhost", Version: version.Number}, options)
	client.AddSendingMiddleware(uncache, refuseInput)
	for _, root := range rootsIn(cfg.Roots) {
		client.AddRoots(&mcp.Root{URI: root.URI, Name: root.Name})
	}
	stop := context.AfterFunc(ctx, func() { _ = hangUp() }) // the SDK's session does not end with ctx
	session, err := client.Connect(context.WithoutCancel(ctx), transport, &mcp.ClientSessionOptions{ProtocolVersion: cfg.Protocol})
	if err == nil {
		c.session = session
		close(c.opened)
		c.logAll(mendedIn(session.InitializeResult().Meta))
		c.wantLog(ctx)
		err = c.offered.refresh(ctx)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = hangUp()
		close(c.done)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("beginning an MCP session: %w", readable(err))
	}
	go c.await() // ends with the session
	return c, nil
}

// await closes done when the session has ended.
func (c *Conn) await() {
	defer close(c.done)
	_ = c.session.Wait()
	if c.direct != nil {
		c.direct.lose(ErrEnded)
	}
	_ = c.session.Close() // otherwise the SDK's goroutine of a subscription stays
}

// Done implements pluginconn.Conn.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close ends the session. It does not wait for the server, and may be called more than once.
func (c *Conn) Close() error { return c.hangUp() }

// Protocol returns the version of MCP that the session uses.
func (c *Conn) Protocol() string { return c.session.InitializeResult().ProtocolVersion }

// Describe implements pluginconn.Conn. The session's own list of tools may be older.
func (c *Conn) Describe(ctx context.Context, _ pluginconn.DescribeRequest) (tool.Description, error) {
	if err := c.offered.refresh(ctx); err != nil {
		return tool.Description{}, fmt.Errorf("asking for its tools: %w", readable(err))
	}
	d := tool.Description{Name: c.cfg.Plugin}
	d.Tools, d.Warnings = c.offered.specs()
	d.Offers = offersOf(c.session.InitializeResult().Capabilities)
	if server := c.session.InitializeResult().ServerInfo; server != nil {
		d.Version, d.Description = clip(server.Version, maxName), clip(server.Title, maxMessage)
	}
	return d, nil
}

// offersOf returns what a server has besides tools.
func offersOf(caps *mcp.ServerCapabilities) tool.Offers {
	if caps == nil {
		return tool.Offers{}
	}
	return tool.Offers{
		Resources: caps.Resources != nil, Subscriptions: caps.Resources != nil && caps.Resources.Subscribe,
		Prompts: caps.Prompts != nil, Completions: caps.Completions != nil,
	}
}

// Start implements pluginconn.Conn. It waits while it is not known whether the server still
// answers, and while the server changes its list of tools.
func (c *Conn) Start(ctx context.Context, start pluginconn.Start) (pluginconn.Call, error) {
	if start.Settle { // a request would execute the call
		return nil, tool.Errorf(tool.KindUnsupported, "an MCP server cannot say what became of a call")
	}
	if err := c.awaitProbes(ctx); err != nil {
		return nil, err
	}
	if err := c.offered.settle(ctx); err != nil {
		return nil, err
	}
	return c.start(start)
}

func (c *Conn) start(start pluginconn.Start) (pluginconn.Call, error) {
	select {
	case <-c.done:
		return nil, fmt.Errorf("%w: %w", pluginconn.ErrLost, ErrEnded)
	default:
	}
	found, err := c.offered.find(start.Tool)
	if err != nil {
		return nil, err
	}
	return newCall(c, found, start), nil
}

// logged passes the server's log on. It is bounded like the server's output, by the writer.
func (c *Conn) logged(_ context.Context, req *mcp.LoggingMessageRequest) {
	c.logf("%s: %s", clip(string(req.Params.Level), maxName), logText(req.Params.Data))
}

func (c *Conn) logf(format string, args ...any) {
	_, _ = fmt.Fprintf(c.cfg.Log, format+"\n", args...)
}

// logAll logs what of a list is left out.
func (c *Conn) logAll(warnings []string) {
	for _, text := range warnings {
		c.logf("%s", text)
	}
}

// refreshPause is the shortest time between two lists of tools that a server causes.
const refreshPause = time.Second
