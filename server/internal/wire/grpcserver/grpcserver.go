// Package grpcserver has what the gRPC servers of toolhost and agentd share: health checking,
// reflection, an orderly shutdown, and the bounds of requests that are read and decoded. It does
// not know their services.
package grpcserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/tap"
)

// Server is a gRPC server. All methods but Register are safe for concurrent use.
type Server struct {
	grpc    *grpc.Server
	network *grpc.Server // for TCP listeners; grpc if they have no other options
	health  *health.Server
	closing sync.Once
}

// HeaderBytes is the largest metadata of one RPC. An RPC with more ends with the code
// ResourceExhausted, and with more than four times as much, gRPC closes the connection. gRPC stores
// it for as long as the RPC lasts, and decodes it before any code of a server decides about the
// caller, so it must be small. gRPC's own default, 16 MiB, bounds nothing: a connection has a
// hundred RPCs and more. It has room for a token and a trace.
const HeaderBytes = 16 << 10

// New returns a server that does not listen yet. The caller must call Shutdown. Shutdown waits for
// the handlers of RPCs, whatever the options are. The server refuses an RPC with metadata of more
// than HeaderBytes. network are further options for the connections of TCP listeners and count more
// than the others: gRPC has no options for single listeners. Their tap must call RefuseHeaders.
// nil: none. logger gets the refusals; nil: no log.
func New(logger *slog.Logger, network []grpc.ServerOption, options ...grpc.ServerOption) *Server {
	logger = cmp.Or(logger, slog.New(slog.DiscardHandler))
	tapHeaders := func(ctx context.Context, info *tap.Info) (context.Context, error) {
		return ctx, RefuseHeaders(ctx, info, HeaderBytes, logger)
	}
	options = slices.Concat([]grpc.ServerOption{ReadHeaders(HeaderBytes)}, options, []grpc.ServerOption{grpc.WaitForHandlers(true)})
	s := &Server{grpc: grpc.NewServer(slices.Concat(options, []grpc.ServerOption{grpc.InTapHandle(tapHeaders)})...), health: health.NewServer()}
	s.network = s.grpc
	if network != nil {
		s.network = grpc.NewServer(slices.Concat(options, network)...)
	}
	return s
}

// servers returns the gRPC servers, each once.
func (s *Server) servers() []*grpc.Server {
	if s.network == s.grpc {
		return []*grpc.Server{s.grpc}
	}
	return []*grpc.Server{s.grpc, s.network}
}

// Register calls register with the registrar of the services, adds the services for health checking
// and reflection, and reports all services as healthy. requests concerns the unary RPCs of the
// services. Call Register once, before Serve.
func (s *Server) Register(requests Requests, register func(services grpc.ServiceRegistrar)) {
	read, checks := &receiving{}, &receiving{}
	for _, server := range s.servers() {
		register(unread{server, requests, read})
		healthv1.RegisterHealthServer(unread{server, Requests{Admit: anyone}, checks}, s.health)
		reflection.Register(server)
	}
	for name := range s.grpc.GetServiceInfo() {
		s.health.SetServingStatus(name, healthv1.HealthCheckResponse_SERVING)
	}
}

// SetHealthy sets the health that all services report. It does nothing after Shutdown.
func (s *Server) SetHealthy(healthy bool) {
	s.SetServing("", healthy)
	for name := range s.grpc.GetServiceInfo() {
		s.SetServing(name, healthy)
	}
}

// SetServing sets the health that a name reports which is no service, such as one for a part of the
// server. It does nothing after Shutdown.
func (s *Server) SetServing(name string, serving bool) {
	status := healthv1.HealthCheckResponse_NOT_SERVING
	if serving {
		status = healthv1.HealthCheckResponse_SERVING
	}
	s.health.SetServingStatus(name, status)
}

// Serve accepts connections until Shutdown, and then returns nil. It closes the listener. It may be
// called for several listeners at once.
func (s *Server) Serve(l net.Listener) error {
	server := s.grpc
	if _, tcp := l.Addr().(*net.TCPAddr); tcp {
		server = s.network
	}
	err := server.Serve(l)
	if err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serving at %s: %w", l.Addr(), err)
	}
	return nil
}

// Shutdown reports all services as unhealthy, accepts no new connections, and waits until all RPCs
// have ended. If ctx ends first, Shutdown cancels the remaining RPCs, waits for their handlers, and
// returns the cause of ctx. It may be called more than once.
func (s *Server) Shutdown(ctx context.Context) error {
	s.closing.Do(s.health.Shutdown)
	graceful := make(chan struct{})
	go func() { // ends with GracefulStop, which Stop also ends; Shutdown waits for it
		defer close(graceful)
		var stopping sync.WaitGroup
		for _, server := range s.servers() {
			stopping.Go(server.GracefulStop)
		}
		stopping.Wait()
	}()
	select {
	case <-graceful:
		return nil
	case <-ctx.Done():
		for _, server := range s.servers() {
			server.Stop()
		}
		<-graceful
		return context.Cause(ctx)
	}
}
