package agentserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxRequestBytes is the largest request. A prompt with a large document fits, and a mistake
	// does not fill the memory.
	maxRequestBytes = 16 << 20
	// maxStreams is the largest number of RPCs of one connection. Most of them watch a run.
	maxStreams = 4096
)

// Server serves an agent. All methods are safe for concurrent use.
type Server struct {
	grpc   *grpc.Server
	health *health.Server
	once   sync.Once
}

// NewServer returns a server that does not listen yet. The caller keeps the agent, and must call
// Shutdown. A nil logger discards the log.
func NewServer(a Agent, logger *slog.Logger) *Server {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	g := guard{logger}
	s := &Server{
		grpc: grpc.NewServer(
			grpc.Creds(peerCredentials{}),
			grpc.MaxRecvMsgSize(maxRequestBytes),
			grpc.MaxConcurrentStreams(maxStreams),
			grpc.ChainUnaryInterceptor(g.unary),
			grpc.ChainStreamInterceptor(g.stream),
			grpc.WaitForHandlers(true),
		),
		health: health.NewServer(),
	}
	agentdv1.RegisterAgentServiceServer(s.grpc, &service{agent: a})
	healthv1.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
	for name := range s.grpc.GetServiceInfo() {
		s.health.SetServingStatus(name, healthv1.HealthCheckResponse_SERVING)
	}
	return s
}

// Serve accepts connections until Shutdown and then returns nil. It owns the listener and closes
// it.
func (s *Server) Serve(l net.Listener) error {
	err := s.grpc.Serve(l)
	if err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serving at %s: %w", l.Addr(), err)
	}
	return nil
}

// Shutdown accepts no new connections and waits until all RPCs have ended. If ctx ends first,
// Shutdown cancels the remaining RPCs, waits for them, and returns the cause of ctx. An RPC that
// watches a run ends at the latest when the agent is closed.
func (s *Server) Shutdown(ctx context.Context) error {
	s.once.Do(s.health.Shutdown)
	graceful := make(chan struct{})
	go func() { // ends with GracefulStop, which Stop also ends; Shutdown waits for it
		defer close(graceful)
		s.grpc.GracefulStop()
	}()
	select {
	case <-graceful:
		return nil
	case <-ctx.Done():
		s.grpc.Stop()
		<-graceful
		return context.Cause(ctx)
	}
}

// guard turns errors into statuses, and a panic into an internal error of its RPC.
type guard struct{ logger *slog.Logger }

func (g guard) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
	defer g.recover(info.FullMethod, &err)
	resp, err = handler(ctx, req)
	return resp, toolpb.StatusError(err)
}

func (g guard) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer g.recover(info.FullMethod, &err)
	return toolpb.StatusError(handler(srv, stream))
}

func (g guard) recover(method string, err *error) {
	if v := recover(); v != nil {
		g.logger.Error("panic in a handler", "method", method, "panic", v, "stack", string(debug.Stack()))
		*err = toolpb.StatusError(tool.Errorf(tool.KindInternal, "agentd has a bug: a panic in %s: %v", method, v))
	}
}
