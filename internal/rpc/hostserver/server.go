package hostserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/protobuf/proto"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/internal/rpc/wirecode"
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
}

// Server serves a host. All methods are safe for concurrent use.
type Server struct {
	grpc   *grpc.Server
	health *health.Server
	drain  chan struct{} // closed when Shutdown begins
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
	guard := guard{logger: logger}
	s := &Server{
		grpc: grpc.NewServer(
			grpc.ForceServerCodecV2(wirecode.NewCodec()),
			grpc.Creds(peerCredentials{cfg.Refuse, cfg.Budget, logger}),
			grpc.MaxRecvMsgSize(hostpb.MaxMessageBytes),
			grpc.StaticStreamWindowSize(windowBytes),
			grpc.StaticConnWindowSize(windowBytes),
			grpc.MaxConcurrentStreams(maxStreams),
			grpc.ChainUnaryInterceptor(guard.unary),
			grpc.ChainStreamInterceptor(guard.stream),
			grpc.WaitForHandlers(true),
			grpc.NumStreamWorkers(streamWorkers),
		),
		health: health.NewServer(),
		drain:  make(chan struct{}),
		tasks:  &sync.WaitGroup{},
		pool:   &flow.Workers{},
	}
	toolhostv1.RegisterToolServiceServer(s.grpc, &toolService{
		host: cfg.Host, calls: cfg.Host, guard: guard, drain: s.drain, tasks: s.tasks, pool: s.pool,
		maxOpen: cmp.Or(cfg.MaxOpenCalls, defaultMaxOpenCalls),
	})
	toolhostv1.RegisterAdminServiceServer(s.grpc, &adminService{host: cfg.Host, drain: s.drain})
	healthv1.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
	for name := range s.grpc.GetServiceInfo() {
		s.health.SetServingStatus(name, healthv1.HealthCheckResponse_SERVING)
	}
	return s
}

// Serve accepts connections until Shutdown, and then returns nil. It closes the listener.
func (s *Server) Serve(l net.Listener) error {
	err := s.grpc.Serve(l)
	if err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serving at %s: %w", l.Addr(), err)
	}
	return nil
}

// Shutdown stops accepting connections and calls, waits until open calls have ended or ctx ends,
// then closes all connections, and returns when no goroutine of the server runs. It returns the
// cause of ctx if calls were still open. It may be called more than once.
//
// Closing the connections waits for the handlers. They return at once, unless the host blocks in
// Open.
func (s *Server) Shutdown(ctx context.Context) error {
	s.once.Do(func() {
		s.health.Shutdown()
		close(s.drain)
	})
	graceful := make(chan struct{})
	go func() { // ends with GracefulStop, which Stop unblocks; waited for below
		defer close(graceful)
		s.grpc.GracefulStop()
	}()
	var err error
	select {
	case <-graceful:
	case <-ctx.Done():
		err = context.Cause(ctx)
		s.grpc.Stop()
		<-graceful
	}
	s.tasks.Wait()
	s.idle.Do(s.pool.Close)
	return err
}

// guard refuses RPCs of refused callers, and converts a panic to an internal error of its RPC or
// call.
type guard struct{ logger *slog.Logger }

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

func (g guard) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
	defer g.caught(info.FullMethod, func(e *tool.Error) { err = toolpb.StatusError(e) })
	if err := refused(ctx, info.FullMethod); err != nil {
		return nil, toolpb.StatusError(err)
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
	if err := c.answers.owe(proto.Size(answer)); err != nil {
		e := tool.Errorf(tool.KindRateLimited, "the answer cannot be kept until its caller reads it: %w; read the answers of other requests first", err)
		e.RetryAfter = time.Second
		return e
	}
	return nil
}

func (g guard) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer g.caught(info.FullMethod, func(e *tool.Error) { err = toolpb.StatusError(e) })
	if err := refused(stream.Context(), info.FullMethod); err != nil {
		return toolpb.StatusError(err)
	}
	var hold budget.Hold
	if c := intakeOf(stream.Context()); c != nil {
		hold.On(c.account)
	}
	if err := hold.TryReserve(unsentBytes); err != nil {
		return toolpb.StatusError(noRoom(err))
	}
	defer hold.Release()
	return toolpb.StatusError(handler(srv, stream))
}
