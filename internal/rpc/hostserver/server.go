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
	// windowBytes is the flow-control window of streams and connections. It is static because a unix socket has no
	// delay that a growing window could hide, and measuring one costs frames.
	windowBytes = 1 << 20
	// maxStreams bounds the RPCs of one connection; a client that wants more waits, or uses Connect. Each takes some 16 KiB that
	// is not accounted for.
	maxStreams = 128
	// streamWorkers is how many goroutines are kept for RPCs, so that their stacks need not grow anew; what finds none gets one
	// of its own.
	streamWorkers = 16
	// defaultMaxOpenCalls is far above what an agent has open, and bounds what one stream can hold of memory.
	defaultMaxOpenCalls = 4096
)

// Config says what a server serves. Host is required.
type Config struct {
	Host   Host         // not owned: close it after Shutdown
	Logger *slog.Logger // for bugs, such as a panic in a handler; nil: none
	// Refuse says why the process that made a connection must not use it; nil if it may. It is asked once for each
	// connection on a unix socket. Nil: everybody may whom the socket lets in.
	Refuse       func(pid int) error
	MaxOpenCalls int // calls open at once on one Connect stream; 0: 4096
	// Budget bounds the memory that callers can make the server and its host hold. Nil: nothing does.
	Budget *budget.Budget
}

// Server serves a host. All methods may be called from any goroutine.
type Server struct {
	grpc   *grpc.Server
	health *health.Server
	drain  chan struct{} // closed when Shutdown begins
	tasks  *sync.WaitGroup
	pool   *flow.Workers
	once   sync.Once
	idle   sync.Once
}

// NewServer returns a server that listens nowhere yet. Shutdown must be called in the end.
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

// Serve accepts connections until Shutdown, and then returns nil. It owns the listener and closes it.
func (s *Server) Serve(l net.Listener) error {
	err := s.grpc.Serve(l)
	if err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serving at %s: %w", l.Addr(), err)
	}
	return nil
}

// Shutdown stops accepting connections and new calls, lets open calls end until ctx is done, then cuts what is left,
// and returns when nothing runs any more. The error is ctx's if it had to cut. It may be called more than once.
//
// Cutting waits for handlers; they return at once unless the host does not let go of a call that it was told to open.
func (s *Server) Shutdown(ctx context.Context) error {
	s.once.Do(func() {
		s.health.Shutdown()
		close(s.drain)
	})
	graceful := make(chan struct{})
	go func() { // ends with GracefulStop, which Stop makes return; waited for below
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

// guard turns away whoever is refused, and turns a panic into an internal error of the call in which it happened.
type guard struct{ logger *slog.Logger }

// unsentBytes is what gRPC keeps of a stream whose caller does not read, before its sender waits: its quota, and a message.
const unsentBytes = 128 << 10

// caught is deferred. It logs a panic, if there is one, and hands report the error to answer with.
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

// owe makes room for an answer until it is sent, or says why there is none.
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
