package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/client"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/tool"
)

// secureServer is a gRPC server that counts what it executes. The tool "hold" ends when the test
// says so; every other tool ends at once. With tokens set, it refuses RPCs without one of them, and
// it drains a stream whose token is no longer in tokens, as toolhost does.
type secureServer struct {
	toolhostv1.UnimplementedToolServiceServer
	addr     string
	server   *grpc.Server
	held     chan struct{} // receives for each call of hold that has begun
	release  chan struct{} // ends the calls of hold
	executed atomic.Int64
	refused  atomic.Int64
	streams  atomic.Int64
	bearers  sync.Map // header values that arrived

	mutex  sync.Mutex
	tokens []string // nil: no token is necessary
}

func (s *secureServer) accept(tokens ...string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.tokens = tokens
}

func (s *secureServer) check(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	bearer := strings.Join(md.Get("authorization"), "|")
	s.bearers.Store(bearer, true)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.tokens == nil || slices.Contains(s.tokens, strings.TrimPrefix(bearer, "Bearer ")) {
		return nil
	}
	s.refused.Add(1)
	return status.Error(codes.Unauthenticated, "no valid credential")
}

// serveSecurely starts a server. config may be nil for a server without TLS.
func serveSecurely(t *testing.T, listen string, config *tls.Config, options ...grpc.ServerOption) *secureServer {
	t.Helper()
	s := &secureServer{held: make(chan struct{}, 100), release: make(chan struct{})}
	network, at := "tcp", listen
	if path, ok := strings.CutPrefix(listen, "unix://"); ok {
		network, at = "unix", path
	}
	listener, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	s.addr = listener.Addr().String()
	if network == "unix" {
		s.addr = listen
	}
	if config != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(config)))
	}
	options = append(options,
		grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if err := s.check(ctx); err != nil {
				return nil, err
			}
			return handler(ctx, req)
		}),
		grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			if err := s.check(stream.Context()); err != nil {
				return err
			}
			return handler(srv, stream)
		}))
	s.server = grpc.NewServer(options...)
	toolhostv1.RegisterToolServiceServer(s.server, s)
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(listener) }() // ends with stop
	t.Cleanup(func() {
		s.server.Stop()
		<-served
	})
	return s
}

func (s *secureServer) GetVersion(context.Context, *toolhostv1.GetVersionRequest) (*toolhostv1.GetVersionResponse, error) {
	s.executed.Add(1)
	return &toolhostv1.GetVersionResponse{Version: &toolv1.VersionInfo{Version: "9.9.9"}}, nil
}

func (s *secureServer) WatchCall(_ *toolhostv1.WatchCallRequest, stream grpc.ServerStreamingServer[toolhostv1.WatchCallResponse]) error {
	return stream.Send(&toolhostv1.WatchCallResponse{Event: ended(nil)})
}

func ended(err *toolv1.Error) *toolhostv1.CallEvent {
	end := &toolhostv1.CallEnded{Outcome: &toolhostv1.CallEnded_Result{Result: &toolv1.Result{}}}
	if err != nil {
		end.Outcome = &toolhostv1.CallEnded_Error{Error: err}
	}
	return &toolhostv1.CallEvent{Event: &toolhostv1.CallEvent_Ended{Ended: end}}
}

func (s *secureServer) Connect(stream grpc.BidiStreamingServer[toolhostv1.ConnectRequest, toolhostv1.ConnectResponse]) error {
	s.streams.Add(1)
	if err := stream.SendHeader(metadata.MD{}); err != nil {
		return err
	}
	var mutex sync.Mutex
	answer := func(number uint32, err *toolv1.Error) {
		mutex.Lock()
		defer mutex.Unlock()
		_ = stream.Send(&toolhostv1.ConnectResponse{Call: number, Event: ended(err)})
	}
	var calls sync.WaitGroup
	defer calls.Wait()
	for {
		req, err := stream.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		start := req.GetStart()
		switch {
		case start == nil:
		case s.check(stream.Context()) != nil:
			answer(req.GetCall(), &toolv1.Error{Kind: toolv1.ErrorKind_ERROR_KIND_UNAVAILABLE, Message: "the credential of this stream has expired; the call was not executed"})
		case start.GetTool() == "hold":
			s.executed.Add(1)
			s.held <- struct{}{}
			calls.Go(func() {
				select {
				case <-s.release:
					answer(req.GetCall(), nil)
				case <-stream.Context().Done():
				}
			})
		default:
			s.executed.Add(1)
			answer(req.GetCall(), nil)
		}
	}
}

// serverTLS returns the configuration of a server with a certificate of ca for names.
func serverTLS(t *testing.T, ca *testca.CA, names ...string) *tls.Config {
	t.Helper()
	cert, key := ca.Issue(t, names...)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}
}

func dialWith(t *testing.T, addr string, options ...client.DialOption) *client.Client {
	t.Helper()
	c, err := client.Dial(addr, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

func call(t *testing.T, c *client.Client, name string) error {
	t.Helper()
	_, err := c.Call(t.Context(), tool.Call{Tool: name})
	return err
}

func TestTLS(t *testing.T) {
	ca, other := testca.New(t), testca.New(t)
	s := serveSecurely(t, "127.0.0.1:0", serverTLS(t, ca, "toolhost.test"))
	t.Run("own CA and name", func(t *testing.T) {
		c := dialWith(t, s.addr, client.WithTLS(client.TLS{CA: ca.Path, ServerName: "toolhost.test"}))
		if v, err := c.Version(t.Context()); err != nil || v.Version != "9.9.9" {
			t.Errorf("%v, %v", v, err)
		}
		if err := call(t, c, "any"); err != nil {
			t.Error(err)
		}
	})
	t.Run("environment", func(t *testing.T) {
		t.Setenv("TOOLHOST_ADDR", s.addr)
		t.Setenv("TOOLHOST_TLS_CA", ca.Path)
		t.Setenv("TOOLHOST_TLS_SERVER_NAME", "toolhost.test")
		if err := call(t, dialWith(t, ""), "any"); err != nil {
			t.Error(err)
		}
		if err := call(t, dialWith(t, "", client.IgnoreEnvironment()), "any"); err == nil {
			t.Error("the environment counts although it is ignored")
		}
	})
	for name, settings := range map[string]client.TLS{
		"CAs of the system": {ServerName: "toolhost.test"},
		"another CA":        {CA: other.Path, ServerName: "toolhost.test"},
		"another name":      {CA: ca.Path, ServerName: "other.test"},
		"host as the name":  {CA: ca.Path},
	} {
		t.Run(name, func(t *testing.T) {
			c := dialWith(t, s.addr, client.WithTLS(settings), client.WithToken("secret-1"))
			err := call(t, c, "any")
			if !errors.Is(err, client.ErrNoServer) || !strings.Contains(err.Error(), "the certificate of the toolhost at "+s.addr+" cannot be verified: x509: ") {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, sent := s.bearers.Load("Bearer secret-1"); sent {
		t.Error("a server that was not verified has received a token")
	}
}

func TestMutualTLS(t *testing.T) {
	ca := testca.New(t)
	config := serverTLS(t, ca, "127.0.0.1")
	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	config.ClientCAs.AppendCertsFromPEM(ca.PEM())
	s := serveSecurely(t, "127.0.0.1:0", config)
	cert, key := ca.Files(t, "spiffe://test/ada")
	c := dialWith(t, s.addr, client.WithTLS(client.TLS{CA: ca.Path, Certificate: cert, Key: key}))
	if err := call(t, c, "any"); err != nil {
		t.Fatal(err)
	}
	err := call(t, dialWith(t, s.addr, client.WithTLS(client.TLS{CA: ca.Path})), "any")
	if !errors.Is(err, client.ErrNoServer) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without a certificate: %v", err)
	}
	for name, files := range map[string]client.TLS{
		"no key": {Certificate: cert}, "no certificate": {Key: key}, "no such file": {CA: "/absent"}, "no PEM": {CA: key},
		"foreign key": {Certificate: cert, Key: ca.Path},
	} {
		if _, err := client.Dial(s.addr, client.WithTLS(files)); tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A server restarts with a certificate of another CA, after the files of the client were replaced.
// The client connects with the new files.
func TestFilesOfTLSAreReadAgain(t *testing.T) {
	ca := testca.New(t)
	file := filepath.Join(t.TempDir(), "ca.pem")
	testca.Replace(t, file, ca.PEM())
	s := serveSecurely(t, "127.0.0.1:0", serverTLS(t, ca, "127.0.0.1"))
	c := dialWith(t, s.addr, client.WithTLS(client.TLS{CA: file}))
	if err := call(t, c, "any"); err != nil {
		t.Fatal(err)
	}
	s.server.Stop()
	next := testca.New(t)
	again := serveSecurely(t, s.addr, serverTLS(t, next, "127.0.0.1"))
	if _, err := c.Version(t.Context()); !errors.Is(err, client.ErrNoServer) {
		t.Fatalf("the client trusts a CA that its file does not have: %v", err)
	}
	testca.Replace(t, file, []byte("half of a fi")) // is ignored
	if _, err := c.Version(t.Context()); !errors.Is(err, client.ErrNoServer) || !strings.Contains(err.Error(), "certificate") {
		t.Fatalf("%v", err)
	}
	testca.Replace(t, file, next.PEM())
	if err := call(t, c, "any"); err != nil {
		t.Fatal(err)
	}
	if again.executed.Load() != 1 {
		t.Error("the new server executed nothing")
	}
}

func TestATokenIsNotSentWithoutTLS(t *testing.T) {
	path := socket(t).Path()
	for _, listen := range []string{"unix://" + path, "127.0.0.1:0"} {
		s := serveSecurely(t, listen, nil)
		s.accept("secret-2")
		_, err := client.Dial(s.addr, client.WithToken("secret-2"))
		if tool.KindOf(err) != tool.KindInvalidArgument || !strings.Contains(err.Error(), "TOOLHOST_ALLOW_PLAIN_TOKEN") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", s.addr, err)
		}
		if err := call(t, dialWith(t, s.addr, client.WithToken("secret-2"), client.AllowPlainToken()), "any"); err != nil {
			t.Errorf("%s: %v", s.addr, err)
		}
		t.Run("environment", func(t *testing.T) {
			t.Setenv("TOOLHOST_TOKEN", "secret-2")
			if _, err := client.Dial(s.addr); err == nil || !strings.Contains(err.Error(), "TOOLHOST_TOKEN,") {
				t.Errorf("%v", err)
			}
			t.Setenv("TOOLHOST_ALLOW_PLAIN_TOKEN", "1")
			if err := call(t, dialWith(t, s.addr), "any"); err != nil {
				t.Error(err)
			}
		})
	}
}

// Each source produces the first token, which the server has replaced. The client asks the source
// once more, and no RPC fails or is executed twice.
func TestATokenIsRenewedWhenItIsRefused(t *testing.T) {
	ca := testca.New(t)
	file := filepath.Join(t.TempDir(), "token")
	var fetched atomic.Int64
	for name, source := range map[string]client.DialOption{
		"file":    client.WithTokenFile(file),
		"command": client.WithTokenCommand("cat '" + file + "'"),
		"function": client.WithTokenSource(func(context.Context) (client.Token, error) {
			fetched.Add(1)
			text, err := os.ReadFile(file)
			return client.Token{Value: string(text)}, err
		}),
	} {
		t.Run(name, func(t *testing.T) {
			s := serveSecurely(t, "127.0.0.1:0", serverTLS(t, ca, "127.0.0.1"))
			s.accept("old")
			testca.Replace(t, file, []byte("old\n"))
			c := dialWith(t, s.addr, client.WithTLS(client.TLS{CA: ca.Path}), source)
			if err := call(t, c, "any"); err != nil {
				t.Fatal(err)
			}
			testca.Replace(t, file, []byte("new\n"))
			s.accept("new")
			if err := call(t, c, "any"); err != nil { // the stream has the old token
				t.Errorf("a call: %v", err)
			}
			testca.Replace(t, file, []byte("third\n"))
			s.accept("third")
			if _, err := c.Version(t.Context()); err != nil {
				t.Errorf("a unary RPC: %v", err)
			}
			testca.Replace(t, file, []byte("fourth\n"))
			s.accept("fourth")
			for _, err := range c.WatchCall(t.Context(), tool.CallKey{ID: "x"}, 0) {
				if err != nil {
					t.Errorf("a server stream: %v", err)
				}
			}
			if got := s.executed.Load(); got != 3 {
				t.Errorf("the server executed %d RPCs, want 3", got)
			}
			before := s.refused.Load()
			s.accept("unknown")
			_, err := c.Version(t.Context())
			if tool.KindOf(err) != tool.KindDenied || s.refused.Load() != before+1 {
				t.Errorf("%v after %d refusals; the source has no other token", err, s.refused.Load()-before)
			}
		})
	}
	if n := fetched.Load(); n != 5 {
		t.Errorf("the function was called %d times; want once at first and once for each refusal", n)
	}
}

// The token of a stream is replaced while a call runs. The call ends normally on the old stream, a
// new call takes another stream, and the old stream ends with its last call.
func TestAnExpiredTokenDoesNotEndRunningCalls(t *testing.T) {
	ca := testca.New(t)
	s := serveSecurely(t, "127.0.0.1:0", serverTLS(t, ca, "127.0.0.1"))
	s.accept("1")
	var count atomic.Int64
	c := dialWith(t, s.addr, client.WithTLS(client.TLS{CA: ca.Path}), client.WithTokenSource(func(context.Context) (client.Token, error) {
		return client.Token{Value: fmt.Sprint(count.Add(1))}, nil
	}))
	running := make(chan error, 1)
	go func() { running <- call(t, c, "hold") }()
	<-s.held
	s.accept("2")
	if err := call(t, c, "any"); err != nil {
		t.Errorf("the next call: %v", err)
	}
	close(s.release)
	if err := <-running; err != nil {
		t.Errorf("the running call: %v", err)
	}
	if s.streams.Load() != 2 || s.executed.Load() != 2 {
		t.Errorf("%d streams, %d executions; want 2 and 2", s.streams.Load(), s.executed.Load())
	}
}

// The client renews a token before it expires, so that the server refuses none.
func TestATokenIsRenewedBeforeItExpires(t *testing.T) {
	ca := testca.New(t)
	s := serveSecurely(t, "127.0.0.1:0", serverTLS(t, ca, "127.0.0.1"))
	s.accept("1", "2")
	var count atomic.Int64
	c := dialWith(t, s.addr, client.WithTLS(client.TLS{CA: ca.Path}), client.WithTokenSource(func(context.Context) (client.Token, error) {
		n := count.Add(1)
		token := client.Token{Value: fmt.Sprint(n)}
		if n == 1 {
			token.Expires = time.Now().Add(1200 * time.Millisecond)
		}
		return token, nil
	}))
	for count.Load() < 2 {
		if err := call(t, c, "any"); err != nil {
			t.Fatal(err)
		}
	}
	if err := call(t, c, "any"); err != nil || s.refused.Load() != 0 || s.streams.Load() < 2 {
		t.Errorf("%v, %d refusals, %d streams", err, s.refused.Load(), s.streams.Load())
	}
}

// A server limits the age of connections. New calls move to another connection, and no call fails,
// although the server cuts the old connections after a short grace.
func TestCallsSurviveTheAgeOfConnections(t *testing.T) {
	ca := testca.New(t)
	s := serveSecurely(t, "127.0.0.1:0", serverTLS(t, ca, "127.0.0.1"), grpc.KeepaliveParams(keepalive.ServerParameters{
		MaxConnectionAge: 50 * time.Millisecond, MaxConnectionAgeGrace: 5 * time.Second,
	}))
	c := dialWith(t, s.addr, client.WithTLS(client.TLS{CA: ca.Path}))
	for made := 0; s.streams.Load() < 5; made++ {
		if err := call(t, c, "any"); err != nil {
			t.Fatalf("call %d on stream %d: %v", made, s.streams.Load(), err)
		}
	}
}

func TestATokenIsNotPrinted(t *testing.T) {
	token := client.Token{Value: "secret-3"}
	text, err := token.MarshalText()
	out := fmt.Sprintf("%v %+v %#v %s %d %x %q %v %s", token, token, token, token, token, token, token, token.LogValue(), text)
	c := dialWith(t, "127.0.0.1:1", client.WithToken("secret-3"), client.WithTLS(client.TLS{}))
	out += fmt.Sprintf("%+v %#v %+v", client.WithToken("secret-3"), c, call(t, c, "any"))
	if err != nil || strings.Contains(out, "secret") || strings.Contains(out, fmt.Sprintf("%x", "secret")) {
		t.Errorf("a token is printed: %s", out)
	}
	for _, bad := range []string{"", "secret 3", "secret\n3", "secrét", strings.Repeat("secret", 10_000)} {
		c := dialWith(t, "127.0.0.1:1", client.WithToken(bad), client.WithTLS(client.TLS{}))
		if _, err := c.Version(t.Context()); err == nil || strings.Contains(err.Error(), "secr") {
			t.Errorf("%v", err)
		}
	}
	c = dialWith(t, "127.0.0.1:1", client.WithTokenCommand("echo secret; exit 7"), client.WithTLS(client.TLS{}))
	if _, err := c.Version(t.Context()); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("%v", err)
	}
}

// A server refuses the stream of a client without credentials. The call was not executed, so its
// outcome is not unknown.
func TestARefusedStreamExecutesNothing(t *testing.T) {
	s := serveSecurely(t, "127.0.0.1:0", nil)
	s.accept("any")
	err := call(t, dialWith(t, s.addr), "any")
	if tool.KindOf(err) != tool.KindDenied || !strings.Contains(err.Error(), "no valid credential") {
		t.Errorf("%v", err)
	}
}

func TestOneSourceOfTokens(t *testing.T) {
	t.Setenv("TOOLHOST_TOKEN", "a")
	t.Setenv("TOOLHOST_TOKEN_FILE", "/b")
	_, err := client.Dial("toolhost.test:1")
	if tool.KindOf(err) != tool.KindInvalidArgument || !strings.Contains(err.Error(), "TOOLHOST_TOKEN, TOOLHOST_TOKEN_FILE") {
		t.Errorf("%v", err)
	}
}
