package workspaceproxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/internal/wire/workspacepb"
	"github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/sdk/workspace/remote"
)

// ServerConfig describes the server of the operator. Address and Logger are required.
type ServerConfig struct {
	Address   string          // unix:///PATH or HOST:PORT
	TLS       *credential.TLS // nil for HOST:PORT means the authorities of the system
	TokenFile string          // a file with the bearer token, which is read again when it changes; empty: none
	Logger    *slog.Logger
}

// Server is a backend with the workspaces of another server.
type Server struct {
	conn   *grpc.ClientConn
	tokens *credential.Cache // nil: none
	logger *slog.Logger

	mu     sync.Mutex
	opened map[string]workspace.Workspace
}

// maxOpened bounds the workspaces that a Server keeps open. They are small.
const maxOpened = 10_000

// NewServer returns a backend that connects with its first use. There is no connection over TCP
// without TLS, and none with a token but without TLS, except over a unix socket.
func NewServer(cfg ServerConfig) (*Server, error) {
	at, err := address.ParseServer(cfg.Address)
	if err != nil {
		return nil, err
	}
	settings := credential.Settings{TLS: cfg.TLS, IgnoreEnvironment: true, AllowPlainToken: at.IsUnix()}
	if settings.TLS == nil && !at.IsUnix() {
		settings.TLS = &credential.TLS{}
	}
	if cfg.TokenFile != "" {
		settings.Source = credential.File(cfg.TokenFile)
	}
	resolved, err := settings.Resolve("workspace", at, nil)
	if err != nil {
		return nil, err
	}
	s := &Server{logger: cfg.Logger, tokens: resolved.Tokens(), opened: map[string]workspace.Workspace{}}
	transport, err := resolved.Transport(func(error) {})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	options := []grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return at.Dial(ctx) }),
		grpc.WithTransportCredentials(transport),
		grpc.WithAuthority(resolved.Authority()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(workspacepb.MessageBytes)),
		grpc.WithDisableServiceConfig(),
		// A server that restarts is found again soon.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}, MinConnectTimeout: 5 * time.Second,
		}),
		// Without an answer for so long, a command is lost.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 10 * time.Second}),
	}
	if s.tokens != nil {
		options = append(options, grpc.WithPerRPCCredentials(bearer{s.tokens, resolved.Secure()}))
	}
	if s.conn, err = grpc.NewClient("passthrough:///workspace", options...); err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to the server of the workspace: %w", err), s.Close())
	}
	return s, nil
}

// bearer sends the current token with each RPC.
type bearer struct {
	tokens *credential.Cache
	secure bool
}

var _ credentials.PerRPCCredentials = bearer{}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, err := b.tokens.Get(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]string{"authorization": "Bearer " + token.Value}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (b bearer) RequireTransportSecurity() bool { return b.secure }

// Open implements Backend. It asks the server about a workspace once.
func (s *Server) Open(ctx context.Context, name string) (workspace.Workspace, error) {
	s.mu.Lock()
	w := s.opened[name]
	s.mu.Unlock()
	if w != nil {
		return w, nil
	}
	w, err := remote.Open(ctx, remote.Config{Conn: s.conn, Name: name, Failed: func(err error) {
		s.logger.Warn("the server of the workspace failed", "error", err)
	}})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.opened) >= maxOpened {
		clear(s.opened)
	}
	s.opened[name] = w
	return w, nil
}

// Close implements Backend.
func (s *Server) Close() error {
	if s.tokens != nil {
		s.tokens.Close()
	}
	if s.conn == nil {
		return nil
	}
	return s.conn.Close()
}
