package hostserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/internal/rpc/flow"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/internal/rpc/wirecode"
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
