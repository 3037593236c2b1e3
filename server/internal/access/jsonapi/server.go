// Package jsonapi serves chosen RPCs of a gRPC server as JSON over HTTP, in the Connect protocol,
// for programs that have an HTTP client and no gRPC. docs/http.md describes it for them.
//
// Each HTTP request becomes an RPC over a connection in memory, so the gRPC server decides and
// records as for any other client. The package decides nothing about callers or what they may do.
// It has no browsers among its clients: it refuses cookies and requests of web pages.
package jsonapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
)

// Config configures a server. All but Memory and Logger is required.
type Config struct {
	// Methods are the RPCs, such as /toolhost.v1.ToolService/Call. All others do not exist.
	Methods []string
	// Serve serves the gRPC server to a listener, until that is closed or the server shuts down.
	Serve func(net.Listener) error
	// Gate is the gate of the gRPC server. It admits each request before its body is read, and again
	// while a stream lasts.
	Gate *gate.Gate
	// MaxBytes bounds the body of a request.
	MaxBytes int
	// Memory bounds the memory of requests that are read and decoded. nil: no bound.
	Memory *budget.Budget
	// Limits are the limits of the listeners.
	Limits listen.Limits
	Logger *slog.Logger // nil: no log
}

// Server is the HTTP server. The caller must call Shutdown. All methods are safe for concurrent
// use.
type Server struct {
	config  Config
	server  *http.Server
	memory  *memory
	account *budget.Account
	ending  context.Context // ends when Shutdown begins, and the streams with it
	end     context.CancelCauseFunc
	tasks   sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]*connection
}

// New returns a server that does not listen yet. It panics if the program has no such RPC.
func New(c Config) *Server {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	methods, err := methodsOf(c.Methods)
	if err != nil {
		panic(err) // the descriptors are part of the program
	}
	s := &Server{config: c, memory: &memory{dialed: make(chan net.Conn), closed: make(chan struct{})}, account: c.Memory.Inner(), open: map[net.Conn]*connection{}}
	s.ending, s.end = context.WithCancelCause(context.Background())
	s.server = &http.Server{
		Handler:           s.handler(methods),
		ConnContext:       s.connContext,
		ConnState:         s.connState,
		ReadHeaderTimeout: c.Limits.RequestTimeout,
		IdleTimeout:       c.Limits.IdleTimeout,
		MaxHeaderBytes:    c.Limits.HeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: c.Limits.Streams},
		ErrorLog:          slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// Serve accepts connections until Shutdown, and then returns nil. It closes the listener. Call it
// once.
func (s *Server) Serve(l net.Listener) error {
	s.tasks.Go(func() { // ends with Shutdown
		if err := s.config.Serve(s.memory); err != nil && s.ending.Err() == nil {
			s.config.Logger.Error("JSON over HTTP cannot reach the gRPC server", "error", err)
		}
	})
	secure := listen.Handshaken(l, s.config.Limits.HandshakeTimeout)
	defer secure.Close()
	if err := s.server.Serve(secure); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving JSON over HTTP: %w", err)
	}
	return nil
}

// Shutdown ends the streams and waits until the other requests have ended, or until ctx ends. Then
// it closes all connections, also those to the gRPC server. It may be called more than once.
func (s *Server) Shutdown(ctx context.Context) error {
	s.end(errStops)
	err := s.server.Shutdown(ctx)
	if err != nil {
		_ = s.server.Close() // ends the requests that are left
	}
	s.mu.Lock()
	left := s.open
	s.open = map[net.Conn]*connection{}
	s.mu.Unlock()
	for _, of := range left {
		of.close()
	}
	_ = s.memory.Close()
	s.tasks.Wait()
	return err
}

// handler returns the handlers of RPCs behind what every request has to pass.
func (s *Server) handler(methods []protoreflect.MethodDescriptor) http.Handler {
	mux := http.NewServeMux()
	for _, m := range methods {
		path := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
		mux.Handle(path, s.guarded(path, m.IsStreamingServer(), s.rpc(path, m)))
	}
	return mux
}
