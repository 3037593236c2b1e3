package agentserver

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/intake"
	"github.com/toolhost/toolhost/server/internal/access/peercred"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/wire/grpcserver"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxRequestBytes is the largest request. A prompt with a large document fits, and a mistake
	// does not fill the memory.
	maxRequestBytes = 16 << 20
	// maxStreams is the largest number of RPCs of one connection. Most of them watch a run.
	maxStreams = 4096
	// windowBytes is what a stream takes before the server reads its request. gRPC widens it when the
	// server reads, as far as the request needs. It is static, because gRPC would raise it to 16 MiB
	// for a client that sends much.
	windowBytes = 64 << 10
)

// Server serves an agent. All methods are safe for concurrent use.
type Server struct {
	server *grpcserver.Server
	drain  chan struct{} // closed when Shutdown begins
	once   sync.Once
}

// Config configures a server. Agent is required.
type Config struct {
	Agent Agent // owned by the caller, who closes it after Shutdown
	// Configuration applies and compares the configuration file. nil: Reload and DiffConfiguration
	// fail.
	Configuration Configuration
	// Held has the calls that agentd's toolhost holds, which DecisionService lists and decides in the
	// name of its callers. nil: only what runs wait for.
	Held HeldCalls
	// Approvals has the standing approvals of agentd's toolhost, of which callers list and revoke
	// those that they gave. nil: ApprovalService fails.
	Approvals Approvals
	Logger    *slog.Logger // for bugs and refusals; nil: no log
	// Foreground says that the server is in the process of its only client. Runs that it starts belong
	// to the process; see loop.Task.
	Foreground bool
	// Gate decides which RPCs a caller may use. nil: this user and root may use all, and no other
	// caller any.
	Gate *gate.Gate
	// MaxUnreadBytes bounds the events that the clients of one principal have not read. A stream that
	// would exceed it ends with rate_limited. 0: 64 MiB.
	MaxUnreadBytes int64
	// Messages bounds the memory of connections and of messages that are not complete. nil: 1 GiB,
	// which has room for 1,024 connections, and 64 MiB for the messages of one principal.
	Messages *budget.Budget
	// Pages are the pages for browsers. nil: there are none.
	Pages *Pages
	// Options are further options of the gRPC server, such as those that count RPCs.
	Options []grpc.ServerOption
	// Network are further options for connections over TCP, such as those of package clientlimit.
	Network []grpc.ServerOption
}

// Rights returns the rights of the RPCs of AgentService, DecisionService and ApprovalService.
func Rights() rpcright.Table {
	table, err := rpcright.Of(agentdv1.File_agentd_v1_agent_service_proto, decisionv1.File_toolhost_decision_v1_decision_service_proto, toolhostv1.File_toolhost_v1_approval_service_proto)
	if err != nil {
		panic(err) // the descriptors are part of the program, and a test of rpcright reads them
	}
	return table
}

// NewServer returns a server that does not listen yet. The caller must call Shutdown.
func NewServer(c Config) *Server {
	logger := c.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if c.Gate == nil {
		c.Gate = gate.New(gate.Config{Rights: Rights(), Logger: logger})
	}
	if c.Messages == nil {
		c.Messages = budget.New(1<<30, 64<<20)
	}
	g, drain := guard{logger, c.Gate}, make(chan struct{})
	server := grpcserver.New(logger, c.Network, append(c.Options,
		grpc.Creds(peercred.New(bounded(c.Messages, logger))),
		grpc.ForceServerCodecV2(grpcserver.Bounded(nil, 0)),
		grpc.StaticStreamWindowSize(windowBytes),
		grpc.MaxRecvMsgSize(maxRequestBytes),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.ChainUnaryInterceptor(g.unary),
		grpc.ChainStreamInterceptor(g.stream),
		grpc.UnknownServiceHandler(gate.Unknown),
	)...)
	server.Register(grpcserver.Requests{Admit: g.unread, UntilAnswered: true}, func(services grpc.ServiceRegistrar) {
		s := &service{agent: c.Agent, configuration: c.Configuration, foreground: c.Foreground, gate: c.Gate, unread: newUnread(cmp.Or(c.MaxUnreadBytes, defaultMaxUnread)), incoming: newTally(maxIntake), pages: c.Pages}
		agentdv1.RegisterAgentServiceServer(services, s)
		decisionv1.RegisterDecisionServiceServer(services, &decisions{service: s, held: c.Held, watches: newTally(maxWatches), feeds: feeds{agent: c.Agent}, heldWatches: newHeldWatches(c.Held), drain: drain})
		toolhostv1.RegisterApprovalServiceServer(services, &approvals{service: s, of: c.Approvals})
	})
	return &Server{server: server, drain: drain}
}

// bounded returns the hook that bounds what gRPC stores of the messages of a new connection.
func bounded(memory *budget.Budget, logger *slog.Logger) peercred.Hook {
	return func(conn net.Conn, info peercred.Info) (net.Conn, credentials.AuthInfo, error) {
		c, err := intake.Open(conn, info, memory, logger)
		if err != nil {
			return nil, nil, err
		}
		return c, remote{info, c}, nil
	}
}

// remote is what the server knows about a connection.
type remote struct {
	peercred.Info
	intake *intake.Conn
}

// Serve accepts connections until Shutdown and then returns nil. It owns the listener and closes
// it.
func (s *Server) Serve(l net.Listener) error { return s.server.Serve(l) }

// SetHealthy sets what health checks answer, such as while the database of the runs is gone. It
// does nothing after Shutdown.
func (s *Server) SetHealthy(healthy bool) { s.server.SetHealthy(healthy) }

// Shutdown accepts no new connections and waits until all RPCs have ended. If ctx ends first,
// Shutdown cancels the remaining RPCs, waits for them, and returns the cause of ctx. An RPC that
// watches a run ends at the latest when the agent is closed, and one that watches decisions at
// once.
func (s *Server) Shutdown(ctx context.Context) error {
	s.once.Do(func() { close(s.drain) })
	return s.server.Shutdown(ctx)
}

// guard refuses RPCs that a caller may not use, turns errors into statuses, and a panic into an
// internal error of its RPC.
type guard struct {
	logger *slog.Logger
	gate   *gate.Gate
}

// unread admits a unary RPC before the server reads its request.
func (g guard) unread(ctx context.Context, method string) (_ context.Context, principal string, err error) {
	defer g.recover(method, &err)
	if ctx, err = g.gate.AdmitUnread(ctx, method); err != nil {
		return nil, "", err
	}
	caller, _ := identity.FromContext(ctx)
	if from, ok := peercred.FromContext[remote](ctx); ok {
		if err := from.intake.Occupy(ctx, caller.Key()); err != nil {
			return nil, "", toolpb.StatusError(tool.Errorf(tool.KindRateLimited, "%w; try again when other requests have ended", err))
		}
	}
	return ctx, caller.Key(), nil
}

func (g guard) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
	defer g.recover(info.FullMethod, &err)
	if ctx, err = g.gate.Admit(ctx, info.FullMethod, req); err != nil {
		return nil, err
	}
	resp, err = handler(ctx, req)
	return resp, toolpb.StatusError(err)
}

func (g guard) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer g.recover(info.FullMethod, &err)
	ctx, err := g.gate.Admit(stream.Context(), info.FullMethod, nil)
	if err != nil {
		return err
	}
	return toolpb.StatusError(handler(srv, gate.Stream(ctx, stream)))
}

func (g guard) recover(method string, err *error) {
	if v := recover(); v != nil {
		g.logger.Error("panic in a handler", "method", method, "panic", v, "stack", string(debug.Stack()))
		*err = toolpb.StatusError(tool.Errorf(tool.KindInternal, "agentd has a bug: a panic in %s: %v", method, v))
	}
}
