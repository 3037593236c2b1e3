// Package mcpserver offers the tools of a toolhost to clients of the Model Context Protocol (MCP),
// in the versions 2025-11-25 and 2026-07-28. It translates MCP to the interface of the host, as
// hostserver does for gRPC. docs/adr/0031-mcp.md describes the design.
//
// It owns no decision about calls, and no identity: its caller gives it the Tools of one principal.
package mcpserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Servers and clients of 2025-11-25 use logging, which 2026-07-28 deprecates.

// Tools are the tools, resources and prompts that one principal may use. A *client.Client has this
// interface. All methods must be safe for concurrent use.
type Tools interface {
	ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error)
	SearchTools(ctx context.Context, words string, query tool.Query) ([]tool.Match, error)
	Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error)
	ReadArtifact(ctx context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error)
	AnswerQuestion(ctx context.Context, key tool.CallKey, question uint32, answer tool.Answer) error
	Resources
	Prompts
}

// Config configures a Server. Tools and Visible are required.
type Config struct {
	Tools Tools
	// ListChangedTools is the ListTools of Tools for a caller that has the list at a revision; see
	// client.Client. nil: the server lists all tools each time.
	ListChangedTools func(ctx context.Context, query tool.Query, known string) (infos []tool.Info, revision string, err error)
	// Visible replaces the characters of a text that could deceive a person or steer a terminal. It
	// is applied to each question.
	Visible func(string) string
	// Search offers two tools that find and call all others, instead of the tools themselves.
	Search bool
	// ApprovalWait is how long the request of a call waits for a person to approve the call, if the
	// client cannot ask one. 0: the answer says at once how to approve it.
	ApprovalWait time.Duration
	// Choice chooses the tools that are offered, or that the two tools of Search find and call. The
	// zero value chooses all. It has no session.
	Choice tool.Query
	// Session is the session of all calls. Empty: the principal's default session.
	Session string
	// Logger gets a record for each tool that cannot be offered, and at the level debug the mistakes
	// of clients. nil: no log.
	Logger *slog.Logger
}

// Server is an MCP server for one principal. All methods are safe for concurrent use.
//
// The SDK answers tools/list from the tools that it has. The server replaces them when a client
// lists the tools, when a client calls a tool that the server does not have, and while clients are
// connected from time to time. The SDK then notifies the clients of a change.
type Server struct {
	config Config
	mcp    *mcp.Server
	kept   kept
	rounds promptRounds

	reader   reader
	wording  wording
	offering offering
	logs     atomic.Bool // a client of 2025-11-25 wanted the log, so all calls report it

	used          chan struct{} // of capacity 1: a client made a request
	subscriptions subscriptions
}

// New returns a server that offers nothing until its first client.
func New(c Config) *Server {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		config: c, used: make(chan struct{}, 1), wording: wording{c.Visible},
		offering: offering{tools: map[string]tool.Info{}, offered: offers{}, asked: map[string]bool{}},
	}
	s.reader.config = &s.config
	instructions := "The tools of a toolhost. A result that is too large is a link; resources/read reads it page by page."
	if c.Search {
		instructions = "The tools of a toolhost. " + findTools + " finds tools by words, and " + callTool + " calls one of them by its name. " +
			"A result that is too large is a link; resources/read reads it page by page."
	}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "toolhost", Title: "toolhost", Version: version.Number}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       slog.New(clientErrors{c.Logger.Handler()}),
		Capabilities: &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}, Tools: &mcp.ToolCapabilities{ListChanged: true}, Completions: &mcp.CompletionCapabilities{},
			Resources: &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true}, Prompts: &mcp.PromptCapabilities{ListChanged: true}},
		CompletionHandler: s.complete, SubscribeHandler: s.subscribe, UnsubscribeHandler: s.unsubscribe,
		SetCacheable: func(_ context.Context, _ mcp.Request, cacheable *mcp.Cacheable) {
			// another principal gets another list
			cacheable.CacheScope, cacheable.TTLMs = "private", int(refreshInterval.Milliseconds())
		},
	})
	for _, t := range []*mcp.ResourceTemplate{artifactTemplate, resourceTemplate, {Name: "any", URITemplate: anyResource}} {
		s.mcp.AddResourceTemplate(t, s.reader.readResource)
	}
	s.mcp.AddReceivingMiddleware(s.prepare)
	if c.Search {
		s.offerSearch()
	}
	return s
}

// Run serves one client that sends messages on in and reads them from out, until in ends or ctx
// ends. It returns nil if one of the two happens. It closes in and out.
func (s *Server) Run(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	watching, stop := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer stop()
	defer s.kept.close()
	tasks.Go(func() { s.Watch(watching) })
	s.Refresh(ctx)
	input := &endingReader{ReadCloser: in}
	output := &turns{WriteCloser: out}
	session, err := s.mcp.Connect(ctx, &mcp.IOTransport{Reader: newLines(input, output), Writer: output}, nil)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = session.Close() })() // ends when the calls have ended
	err = session.Wait()
	if input.ended.Load() || ctx.Err() != nil || errors.Is(err, io.ErrClosedPipe) {
		return nil // the SDK may report the answers that the client does not read any more
	}
	return err
}

// endingReader knows whether it has reached the end of the input.
type endingReader struct {
	io.ReadCloser
	ended atomic.Bool
}

func (r *endingReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		r.ended.Store(true)
	}
	return n, err
}

// refreshInterval is how soon a connected client learns of changed tools. Without
// Config.ListChangedTools, listing a thousand tools takes a few milliseconds.
const refreshInterval = 3 * time.Second

// Watch keeps what is offered up to date while clients are connected, until ctx ends: it replaces
// the tools from time to time, and resources and prompts when the host tells of a change.
func (s *Server) Watch(ctx context.Context) {
	tick := time.NewTicker(refreshInterval)
	defer tick.Stop()
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer s.subscriptions.close()
	following := false
	for {
		select {
		case <-tick.C:
		case <-s.used:
			if !following {
				following = true
				tasks.Go(func() { s.follow(ctx) }) // ends with ctx
			}
			continue
		case <-ctx.Done():
			return
		}
		s.subscriptions.sweep(s.mcp.Sessions())
		if s.Connected() == 0 {
			continue
		}
		// a toolhost that does not answer keeps its tools, as far as clients know
		_ = s.refresh(ctx)
	}
}

// Refresh replaces the offered tools. Call it before the first client connects, or the client is
// notified of a change after it has listed the tools.
func (s *Server) Refresh(ctx context.Context) {
	// If it fails, the first request of the client fails, and says why.
	_ = s.refresh(ctx)
}

// Connected returns how many clients have a session.
func (s *Server) Connected() int {
	n := 0
	for range s.mcp.Sessions() {
		n++
	}
	return n
}

// prepare is the middleware that replaces what is offered before a request for which that matters.
func (s *Server) prepare(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		select {
		case s.used <- struct{}{}:
		default:
		}
		if err := s.prepareFor(ctx, req.GetParams()); err != nil {
			return nil, requestError(err)
		}
		result, err := next(ctx, method, req)
		if listed, ok := result.(*mcp.ListResourceTemplatesResult); ok && err == nil {
			listed.ResourceTemplates = slices.DeleteFunc(listed.ResourceTemplates, func(t *mcp.ResourceTemplate) bool { return t.URITemplate == anyResource })
		}
		return result, err
	}
}

func (s *Server) prepareFor(ctx context.Context, params mcp.Params) error {
	switch p := params.(type) {
	case *mcp.ListToolsParams:
		if p == nil || p.Cursor == "" {
			return s.refresh(ctx)
		}
	case *mcp.SetLoggingLevelParams:
		s.logs.Store(true)
	case *mcp.CallToolParamsRaw:
		if !s.offers(p.Name) {
			return s.refresh(ctx)
		}
	case *mcp.ListResourcesParams:
		if p == nil || p.Cursor == "" {
			return s.refreshResources(ctx)
		}
	case *mcp.ListResourceTemplatesParams:
		if p == nil || p.Cursor == "" {
			return s.refreshResources(ctx)
		}
	case *mcp.ListPromptsParams:
		if p == nil || p.Cursor == "" {
			return s.refreshPrompts(ctx)
		}
	case *mcp.GetPromptParams:
		if !s.offering.offersPrompt(p.Name) {
			return s.refreshPrompts(ctx)
		}
	}
	return nil
}

// clientErrors is the handler for the log of the SDK, which logs each session as information, and
// what a client does wrong as an error. A client must not fill the log of the operator, so such
// errors are for debugging, and other records are dropped.
type clientErrors struct{ slog.Handler }

func (h clientErrors) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelError && h.Handler.Enabled(ctx, slog.LevelDebug)
}

func (h clientErrors) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	return h.Handler.Handle(ctx, r)
}

func (h clientErrors) WithAttrs(attrs []slog.Attr) slog.Handler {
	return clientErrors{h.Handler.WithAttrs(attrs)}
}

func (h clientErrors) WithGroup(name string) slog.Handler {
	return clientErrors{h.Handler.WithGroup(name)}
}
