package workspace

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/wire/workspaceserver"
	"github.com/toolhost/toolhost/server/internal/access/peercred"
)

// leastToken is the shortest token in characters: nobody guesses one of 20 random characters.
const leastToken = 20

// newServer returns the gRPC server.
func newServer(f *flags, at address.Address, workers *pool) (*grpc.Server, error) {
	admission := &gate{f: f, unix: at.IsUnix()}
	transport := peercred.New(nil)
	if !at.IsUnix() {
		if _, err := f.tls(); err != nil {
			return nil, err
		}
		transport = credentials.NewTLS(&tls.Config{
			MinVersion: tls.VersionTLS13,
			// The files are read for each connection, so that renewed certificates count.
			GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return f.tls() },
		})
	}
	if f.tokenFile != "" {
		if _, err := f.token(); err != nil {
			return nil, err
		}
	}
	server := grpc.NewServer(append(workspaceserver.Options(),
		grpc.Creds(transport),
		grpc.UnaryInterceptor(admission.unary), grpc.StreamInterceptor(admission.stream),
		grpc.ConnectionTimeout(10*time.Second),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second}),
		// A client that is gone without a word loses its commands after so long. A connection without
		// RPCs takes room that others need.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 20 * time.Second, Timeout: 10 * time.Second, MaxConnectionIdle: 15 * time.Minute}),
	)...)
	workspacev1.RegisterWorkspaceServiceServer(server, workspaceserver.New(workspaceserver.Config{
		Open: workers.open, MaxCommands: f.commands,
	}))
	return server, nil
}

// tls returns the configuration of TLS from the present files.
func (f *flags) tls() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(f.certificate, f.key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of the server: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}
	if f.clientCA == "" {
		return config, nil
	}
	text, err := os.ReadFile(f.clientCA)
	if err != nil {
		return nil, fmt.Errorf("reading the authorities of clients: %w", err)
	}
	config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	if f.tokenFile == "" {
		config.ClientAuth = tls.RequireAndVerifyClientCert // a stranger does not even get a connection
	}
	if !config.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("the file %s holds no certificate in PEM", f.clientCA)
	}
	return config, nil
}

// token returns the present token of clients.
func (f *flags) token() (string, error) {
	text, err := os.ReadFile(f.tokenFile)
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < leastToken {
		return "", fmt.Errorf("the token in %s has fewer than %d characters", f.tokenFile, leastToken)
	}
	return token, nil
}

// gate admits the clients of the server.
type gate struct {
	f    *flags
	unix bool
}

func (g *gate) unary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if err := g.admit(ctx); err != nil {
		return nil, err
	}
	return handle(ctx, request)
}

func (g *gate) stream(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if err := g.admit(stream.Context()); err != nil {
		return err
	}
	return handle(server, stream)
}

// admit returns an error unless the client is this user or root at a unix socket, or has a verified
// certificate or the token over TLS.
func (g *gate) admit(ctx context.Context) error {
	if g.unix {
		if info, ok := peercred.FromContext[peercred.Info](ctx); ok && info.Caller.HasUID && (info.Caller.UID == 0 || info.Caller.UID == os.Geteuid()) {
			return nil
		}
		return status.Error(codes.Unauthenticated, "only the user of the server may use it")
	}
	p, ok := peer.FromContext(ctx)
	if !ok {
		return status.Error(codes.Unauthenticated, "the connection is not known")
	}
	if state, ok := p.AuthInfo.(credentials.TLSInfo); ok && g.f.clientCA != "" && len(state.State.VerifiedChains) > 0 {
		return nil
	}
	if g.f.tokenFile != "" && g.hasToken(ctx) == nil {
		return nil
	}
	return status.Error(codes.Unauthenticated, "the client has neither a certificate of the authorities nor the token")
}

func (g *gate) hasToken(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	wanted, err := g.f.token()
	if err != nil {
		return err
	}
	for _, value := range md.Get("authorization") {
		if given, ok := strings.CutPrefix(value, "Bearer "); ok && subtle.ConstantTimeCompare([]byte(given), []byte(wanted)) == 1 {
			return nil
		}
	}
	return errors.New("the token is missing or wrong")
}
