package hostserver

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/internal/wire/wirecode"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/peercred"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/wire/grpcserver"
	"github.com/toolhost/toolhost/tool"
)

const (
	// windowBytes is the flow-control window of streams and connections. It is static, because a
	// unix socket has no latency that a growing window could compensate, and measuring it costs
	// frames.
	windowBytes = 1 << 20
	// maxStreams limits the concurrent RPCs of one connection. A client that needs more waits or
	// uses Connect. Each RPC uses about 16 KiB that no account contains.
	maxStreams = 128
	// smallRequest is the size of messages whose elements are not counted, because they are small
	// enough: those of calls above all.
	smallRequest = 64 << 10
	// streamWorkers is the number of goroutines that gRPC reuses for RPCs, so that their stacks do
	// not have to grow again. More RPCs use new goroutines.
	streamWorkers = 16
	// defaultMaxOpenCalls is far more than an agent has open. It limits the memory of one stream.
	defaultMaxOpenCalls = 4096
)

// Config configures a server. Host is required.
type Config struct {
	Host   Host         // owned by the caller, who closes it after Shutdown
	Logger *slog.Logger // for bugs, such as a panic in a handler; nil: no log
	// Refuse decides whether the process with this pid may use its new connection on a unix socket.
	// An error refuses the connection and gives the reason. The server calls Refuse once per
	// connection. If Refuse is nil, only the permissions of the socket decide.
	Refuse       func(pid int) error
	MaxOpenCalls int // the maximum number of open calls on one Connect stream; 0: 4096
	// Budget limits the memory that callers can occupy in the server and its host. nil: no limit.
	Budget *budget.Budget
	// Gate decides which RPCs a caller may use. nil: this user and root may use all, and no other
	// caller any.
	Gate *gate.Gate
	// Audit is the log that ReadAudit shows. nil: ReadAudit fails.
	Audit AuditLog
	// Conditions returns what operators should know about toolhost itself. It is called for requests
	// that ask for it. nil: there is nothing.
	Conditions func() []tool.Condition
	// Known returns once the tools of all plugins that were found at the start are known, or ctx ends.
	// From then on, the health of hostpb.CatalogHealth is SERVING. nil: it is from the start.
	Known func(ctx context.Context) error
	// Logins logs principals in to MCP servers. nil: LoginService fails.
	Logins Logins
	// Approvals has the standing approvals. nil: ApprovalService fails.
	Approvals Approvals
	// Decisions has the calls that wait for a person. nil: DecisionService fails.
	Decisions Decisions
	// HolderOf names the toolhost at which the call of a decision waits, if it is another one of the
	// same ledger. gone says that it has ended, and its held calls with it. nil: there is no other
	// one.
	HolderOf func(ctx context.Context, decision string) (label string, gone bool)
	// Peers pass requests on to other toolhosts. nil: there are none, or the clients are toolhosts.
	Peers Peers
	// Options are further options of the gRPC server, such as those that count RPCs.
	Options []grpc.ServerOption
	// Network are further options for connections over TCP, such as those of package clientlimit.
	Network []grpc.ServerOption
}

// Server serves a host. All methods are safe for concurrent use.
type Server struct {
	server *grpcserver.Server
	drain  chan struct{} // closed when Shutdown begins
	leave  func()        // ends waiting for the catalog; nil: nothing waits
	tasks  *sync.WaitGroup
	pool   *flow.Workers
	once   sync.Once
	idle   sync.Once
}

// NewServer returns a server that does not listen yet. The caller must call Shutdown.
func NewServer(cfg Config) *Server {
	logger := cfg.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Gate == nil {
		cfg.Gate = gate.New(gate.Config{Rights: Rights(), Logger: logger})
	}
	guard := guard{logger: logger, gate: cfg.Gate}
	s := &Server{
		server: grpcserver.New(logger, cfg.Network, append(cfg.Options,
			grpc.ForceServerCodecV2(grpcserver.Bounded(wirecode.NewCodec(), smallRequest)),
			grpc.Creds(peercred.New(identify(cfg.Refuse, cfg.Budget, logger))),
			grpc.MaxRecvMsgSize(hostpb.MaxMessageBytes),
			grpc.StaticStreamWindowSize(windowBytes),
			grpc.StaticConnWindowSize(windowBytes),
			grpc.MaxConcurrentStreams(maxStreams),
			grpc.ChainUnaryInterceptor(guard.unary),
			grpc.ChainStreamInterceptor(guard.stream),
			grpc.UnknownServiceHandler(gate.Unknown),
			grpc.NumStreamWorkers(streamWorkers),
		)...),
		drain: make(chan struct{}),
		tasks: &sync.WaitGroup{},
		pool:  &flow.Workers{},
	}
	s.server.Register(grpcserver.Requests{Admit: guard.unread}, func(services grpc.ServiceRegistrar) {
		tools := &toolService{
			host: cfg.Host, calls: cfg.Host, peers: cfg.Peers, guard: guard, drain: s.drain, tasks: s.tasks, pool: s.pool,
			maxOpen: cmp.Or(cfg.MaxOpenCalls, defaultMaxOpenCalls),
		}
		toolhostv1.RegisterToolServiceServer(services, tools)
		toolhostv1.RegisterApprovalServiceServer(services, &approvalService{tools: tools, approvals: cfg.Approvals})
		decisionv1.RegisterDecisionServiceServer(services, &decisionService{tools: tools, decisions: cfg.Decisions, holderOf: cfg.HolderOf})
		toolhostv1.RegisterAdminServiceServer(services, &adminService{host: cfg.Host, gate: cfg.Gate, audit: cfg.Audit, conditions: cfg.Conditions, drain: s.drain})
		toolhostv1.RegisterLoginServiceServer(services, &loginService{logins: cfg.Logins})
	})
	s.reportKnown(cfg.Known)
	return s
}

// reportKnown sets the health of the catalog. Its goroutine ends when known returns, or Shutdown
// begins.
func (s *Server) reportKnown(known func(context.Context) error) {
	s.server.SetServing(hostpb.CatalogHealth, known == nil)
	if known == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.leave = cancel
	s.tasks.Go(func() {
		defer cancel()
		if known(ctx) == nil {
			s.server.SetServing(hostpb.CatalogHealth, true)
		}
	})
}

// Serve accepts connections until Shutdown, and then returns nil. It closes the listener.
func (s *Server) Serve(l net.Listener) error { return s.server.Serve(l) }

// Shutdown stops accepting connections and calls, waits until open calls have ended or ctx ends,
// then closes all connections, and returns when no goroutine of the server runs. It returns the
// cause of ctx if calls were still open. It may be called more than once.
//
// Closing the connections waits for the handlers. They return at once, unless the host blocks in
// Open.
func (s *Server) Shutdown(ctx context.Context) error {
	s.once.Do(func() {
		close(s.drain)
		if s.leave != nil {
			s.leave()
		}
	})
	err := s.server.Shutdown(ctx)
	s.tasks.Wait()
	s.idle.Do(s.pool.Close)
	return err
}

// guard refuses RPCs of refused callers, and converts a panic to an internal error of its RPC or
// call.
type guard struct {
	logger *slog.Logger
	gate   *gate.Gate
}

// Rights returns the rights of the RPCs of all services.
func Rights() rpcright.Table {
	table, err := rpcright.Of(
		toolhostv1.File_toolhost_v1_tool_service_proto, toolhostv1.File_toolhost_v1_admin_service_proto, toolhostv1.File_toolhost_v1_login_service_proto,
		toolhostv1.File_toolhost_v1_approval_service_proto, decisionv1.File_toolhost_decision_v1_decision_service_proto,
	)
	if err != nil {
		panic(err) // the descriptors are part of the program, and a test of rpcright reads them
	}
	return table
}

// unsentBytes is what gRPC buffers for a stream whose caller does not read, before the sender
// blocks: its quota and one message.
const unsentBytes = 128 << 10

// caught must be deferred. If there is a panic, it logs it and passes the error for the caller to
// report.
func (g guard) caught(where string, report func(*tool.Error)) {
	v := recover()
	if v == nil {
		return
	}
	g.logger.Error("panic in a handler", "where", where, "panic", v, "stack", string(debug.Stack()))
	report(tool.Errorf(tool.KindInternal, "toolhost has a bug: a panic in %s: %v", where, v))
}

// unread admits a unary RPC before the server reads its request.
func (g guard) unread(ctx context.Context, method string) (_ context.Context, principal string, err error) {
	defer g.caught(method, func(e *tool.Error) { err = toolpb.StatusError(e) })
	if err := g.refused(ctx, method); err != nil {
		return nil, "", toolpb.StatusError(err)
	}
	if ctx, err = g.gate.AdmitUnread(ctx, method); err != nil {
		return nil, "", err
	}
	caller, _ := identity.FromContext(ctx)
	if c := intakeOf(ctx); c != nil {
		if err := c.Occupy(ctx, caller.Key()); err != nil {
			return nil, "", toolpb.StatusError(noRoom(err))
		}
	}
	return ctx, caller.Key(), nil
}

func (g guard) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
	defer g.caught(info.FullMethod, func(e *tool.Error) { err = toolpb.StatusError(e) })
	if err := g.refused(ctx, info.FullMethod); err != nil { // again: unread does not see health checks
		return nil, toolpb.StatusError(err)
	}
	if ctx, err = g.gate.Admit(ctx, info.FullMethod, req); err != nil {
		return nil, err
	}
	resp, err = handler(ctx, req)
	if m, ok := resp.(proto.Message); ok && err == nil {
		err = owe(ctx, m)
	}
	return resp, toolpb.StatusError(err)
}

// owe reserves the memory of an answer until it is sent. It fails if the budget is exceeded.
func owe(ctx context.Context, answer proto.Message) error {
	c := intakeOf(ctx)
	if c == nil {
		return nil
	}
	if err := c.Owe(proto.Size(answer)); err != nil {
		e := tool.Errorf(tool.KindRateLimited, "the answer cannot be kept until its caller reads it: %w; read the answers of other requests first", err)
		e.RetryAfter = time.Second
		return e
	}
	return nil
}

func (g guard) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer g.caught(info.FullMethod, func(e *tool.Error) { err = toolpb.StatusError(e) })
	if err := g.refused(stream.Context(), info.FullMethod); err != nil {
		return toolpb.StatusError(err)
	}
	ctx, err := g.gate.Admit(stream.Context(), info.FullMethod, nil)
	if err != nil {
		return err
	}
	var hold budget.Hold
	if c := intakeOf(stream.Context()); c != nil {
		hold.On(c.Account())
		hold.For(callerOf(ctx).Principal, false)
	}
	if info.FullMethod != toolhostv1.ToolService_Connect_FullMethodName { // it reserves more itself
		if err := hold.TryReserve(unsentBytes); err != nil {
			return toolpb.StatusError(noRoom(err))
		}
	}
	defer hold.Release()
	return toolpb.StatusError(handler(srv, gate.Stream(ctx, stream)))
}
