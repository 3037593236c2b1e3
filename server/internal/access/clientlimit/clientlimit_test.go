package clientlimit_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/clientlimit"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/access/peercred"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
	"github.com/toolhost/toolhost/server/internal/wire/grpcserver"
)

// guarded is an RPC that needs a caller. The server answers it, and all other unknown ones, at the
// end of the request.
const guarded = "/test.Test/Guarded"

// tokens knows two tokens, and one that it cannot check. It implements gate.Authenticator.
type tokens struct{}

func (tokens) Authenticate(_ context.Context, e authn.Evidence) (authn.Verified, error) {
	if e.Bearer == "unchecked" {
		return authn.Verified{}, fmt.Errorf("the JWT: %w", &authn.UncheckedError{Missing: "the issuer is down", Err: errors.New("connection refused")})
	}
	if e.Bearer != "good" && e.Bearer != "new" {
		return authn.Verified{}, errors.New("the token is unknown")
	}
	return authn.Verified{Principal: identity.Principal{Tenant: identity.DefaultTenant, Name: "ada"}}, nil
}

// server is a real server with TLS.
type server struct {
	set     *listen.Set
	ca      *testca.CA
	running atomic.Int64
	most    atomic.Int64 // the most RPCs that ran at the same time
	peers   sync.Map     // the addresses of the connections that had RPCs
}

func serve(t *testing.T, limits listen.Limits, files func(ca *testca.CA) listen.TLS) *server {
	t.Helper()
	s := &server{ca: testca.New(t)}
	at, err := address.ParseListener("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	paths := files(s.ca)
	discard := slog.New(slog.DiscardHandler)
	if s.set, err = listen.Open(t.Context(), "test", []listen.Config{{Address: at, TLS: &paths}}, limits, discard); err != nil {
		t.Fatal(err)
	}
	g := gate.New(gate.Config{
		Rights:        rpcright.Table{guarded: {authz.ToolsCall}},
		Policy:        gate.Always(authz.New([]authz.Binding{{Role: "caller", To: []string{"name:ada"}}})),
		Authenticator: &clientlimit.Authenticator{Inner: tokens{}, Failures: s.set.Failures(), Logger: discard},
	})
	grpcServer := grpcserver.New(nil, clientlimit.Options(limits, time.Minute, slog.New(slog.DiscardHandler)), grpc.Creds(peercred.New(nil)),
		grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
			method, _ := grpc.MethodFromServerStream(stream)
			if _, err := g.Admit(stream.Context(), method, nil); err != nil {
				return err
			}
			s.count(stream.Context())
			defer s.running.Add(-1)
			<-stream.Context().Done()
			return nil
		}),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			s.count(ctx)
			defer s.running.Add(-1)
			return handler(ctx, req)
		}))
	grpcServer.Register(grpcserver.Requests{}, func(grpc.ServiceRegistrar) {})
	_, wait := s.set.Serve(grpcServer.Serve)
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = grpcServer.Shutdown(ended)
		if err := errors.Join(wait(), s.set.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *server) count(ctx context.Context) {
	if p, ok := peer.FromContext(ctx); ok {
		s.peers.Store(p.Addr.String(), true)
	}
	n := s.running.Add(1)
	for {
		most := s.most.Load()
		if n <= most || s.most.CompareAndSwap(most, n) {
			return
		}
	}
}

func serverOnly(t *testing.T) func(*testca.CA) listen.TLS {
	return func(ca *testca.CA) listen.TLS {
		certificate, key := ca.Files(t, "127.0.0.1")
		return listen.TLS{Certificate: certificate, Key: key}
	}
}

func (s *server) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.ca.PEM())
	return pool
}

// client returns a gRPC client.
func (s *server) client(t *testing.T) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(s.set.First().String(), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: s.pool()})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func healthy(ctx context.Context, conn *grpc.ClientConn) error {
	_, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{})
	return err
}

// hostile is a client that writes frames of HTTP/2 as it likes.
type hostile struct {
	*http2.Framer
	conn    *tls.Conn
	block   bytes.Buffer
	encoder *hpack.Encoder
}

func (s *server) hostile(t *testing.T) *hostile {
	t.Helper()
	conn, err := tls.Dial("tcp", s.set.First().String(), &tls.Config{RootCAs: s.pool(), NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	h := &hostile{Framer: http2.NewFramer(conn, conn), conn: conn}
	h.encoder = hpack.NewEncoder(&h.block)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := h.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	return h
}

// begin begins a request of a method without its message.
func (h *hostile) begin(stream uint32, method string) error {
	h.block.Reset()
	for _, f := range [][2]string{{":method", "POST"}, {":scheme", "https"}, {":path", method}, {":authority", "x"}, {"content-type", "application/grpc"}, {"te", "trailers"}} {
		if err := h.encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
			return err
		}
	}
	return h.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: h.block.Bytes(), EndHeaders: true})
}

// ended reads until the server ends a stream, or the connection with an error.
func (h *hostile) ended(stream uint32) error {
	for {
		frame, err := h.ReadFrame()
		if err != nil {
			return err
		}
		switch f := frame.(type) {
		case *http2.RSTStreamFrame:
			if f.StreamID == stream {
				return nil
			}
		case *http2.HeadersFrame:
			if f.StreamID == stream && f.StreamEnded() {
				return nil
			}
		}
	}
}

// Certificates, keys and the CA change while 64 callers open connections and call: no call fails.
func TestRotationUnderCallers(t *testing.T) {
	var files listen.TLS
	s := serve(t, listen.Limits{HandshakeTimeout: 30 * time.Second, Streams: 128, FailuresPerMinute: 1}, func(ca *testca.CA) listen.TLS {
		certificate, key := ca.Files(t, "127.0.0.1")
		files = listen.TLS{Certificate: certificate, Key: key, ClientCA: ca.Path, ClientCertificate: listen.Required}
		return files
	})
	pair, err := tls.X509KeyPair(s.ca.Issue(t, "spiffe://a/b"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var (
		callers sync.WaitGroup
		calls   atomic.Int64
	)
	for range 64 {
		callers.Go(func() {
			for ctx.Err() == nil {
				conn, err := grpc.NewClient(s.set.First().String(), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: s.pool(), Certificates: []tls.Certificate{pair}})))
				if err != nil {
					t.Error(err)
					return
				}
				for range 4 {
					if err := healthy(t.Context(), conn); err != nil {
						t.Errorf("a call failed: %v", err)
					}
					calls.Add(1)
				}
				_ = conn.Close()
			}
		})
	}
	for range 8 {
		s.ca.Rotate(t, files.Certificate, files.Key, "127.0.0.1")
		other := testca.New(t)
		testca.Replace(t, files.ClientCA, append(other.PEM(), s.ca.PEM()...))
		s.set.Refresh()
		for want := calls.Load() + 64; calls.Load() < want && !t.Failed(); {
			if err := healthyTLS(t, s, pair); err != nil {
				t.Error(err)
			}
		}
	}
	stop()
	callers.Wait()
}

func healthyTLS(t *testing.T, s *server, pair tls.Certificate) error {
	conn, err := grpc.NewClient(s.set.First().String(), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: s.pool(), Certificates: []tls.Certificate{pair}})))
	if err != nil {
		return err
	}
	defer conn.Close()
	return healthy(t.Context(), conn)
}

// A client that begins requests and cancels them at once cannot have more RPCs than the limit, and
// loses its connection. Another client is served meanwhile.
func TestRapidReset(t *testing.T) {
	s := serve(t, listen.Limits{HandshakeTimeout: 30 * time.Second, Streams: 16, StreamsPerSecond: 500, RequestTimeout: time.Minute}, serverOnly(t))
	h := s.hostile(t)
	go func() { // ends when the connection is closed
		_, _ = io.Copy(io.Discard, h.conn)
	}()
	other := s.client(t)
	var err error
	for i := uint32(0); i < 200_000 && err == nil; i++ {
		if err = h.begin(2*i+1, guarded); err == nil {
			err = h.WriteRSTStream(2*i+1, http2.ErrCodeCancel)
		}
		if i%1000 == 0 {
			if err := healthy(t.Context(), other); err != nil {
				t.Fatalf("the other client: %v", err)
			}
		}
	}
	if err == nil {
		t.Error("the connection of the hostile client is still open")
	}
	if most := s.most.Load(); most > 17 { // and the other client
		t.Errorf("%d RPCs ran at the same time", most)
	}
}

// A client that does not send the message of its request, or no request at all, is cut off.
func TestSlowClients(t *testing.T) {
	s := serve(t, listen.Limits{HandshakeTimeout: 30 * time.Second, RequestTimeout: 50 * time.Millisecond}, serverOnly(t))
	h := s.hostile(t)
	if err := errors.Join(h.begin(1, healthv1.Health_Check_FullMethodName), h.ended(1)); err != nil {
		t.Errorf("a request without a message: %v", err)
	}
	s = serve(t, listen.Limits{HandshakeTimeout: 50 * time.Millisecond}, serverOnly(t))
	silent, err := net.Dial("tcp", s.set.First().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if _, err := io.ReadAll(silent); err != nil && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("a client without a handshake: %v", err)
	}
	s = serve(t, listen.Limits{HandshakeTimeout: 30 * time.Second, AuthenticationTimeout: 50 * time.Millisecond}, serverOnly(t))
	for h := s.hostile(t); ; {
		if _, err := h.ReadFrame(); err != nil {
			break // the server closed the connection
		}
	}
}

// An address cannot have more connections without a known caller than the limit. A known caller
// makes room.
func TestConnectionsOfAnAddress(t *testing.T) {
	s := serve(t, listen.Limits{HandshakeTimeout: 30 * time.Second, ConnectionsPerAddress: 2}, serverOnly(t))
	known := s.client(t)
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer good"))
	defer cancel()
	stream, err := known.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, guarded)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.CloseSend() }()
	for s.running.Load() == 0 {
		if err := healthy(t.Context(), known); err != nil {
			t.Fatal(err)
		}
	}
	s.hostile(t)
	s.hostile(t)
	conn, err := tls.Dial("tcp", s.set.First().String(), &tls.Config{RootCAs: s.pool(), NextProtos: []string{"h2"}})
	if err == nil {
		_ = conn.Close()
		t.Error("a third connection is open")
	}
	if err := healthy(t.Context(), known); err != nil {
		t.Errorf("the known caller: %v", err)
	}
}

// After too many failures, an address gets RESOURCE_EXHAUSTED, and learns nothing else. A
// credential that was valid before still is, also on a new connection.
func TestFailuresAreThrottled(t *testing.T) {
	s := serve(t, listen.Limits{HandshakeTimeout: 30 * time.Second, FailuresPerMinute: 3}, serverOnly(t))
	conn := s.client(t)
	admitted := func() {
		t.Helper()
		ctx, leave := context.WithCancel(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer good"))
		defer leave()
		stream, err := s.client(t).NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, guarded)
		if err != nil {
			t.Fatal(err)
		}
		refused := make(chan error, 1)
		go func() { refused <- stream.RecvMsg(&healthv1.HealthCheckResponse{}) }() // ends with ctx
		eventually.Holds(t, "the caller is admitted or refused", func() bool { return s.running.Load() == 1 || len(refused) == 1 })
		if len(refused) == 1 {
			t.Errorf("a known token: %v", <-refused)
		}
		leave()
		eventually.Holds(t, "the RPC has ended", func() bool { return s.running.Load() == 0 })
	}
	try := func(token string) error {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
		stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, guarded)
		if err != nil {
			return err
		}
		return stream.RecvMsg(&healthv1.HealthCheckResponse{})
	}
	admitted()
	for range 5 { // counts as no failure, also if the log has no further lines
		if err := try("unchecked"); status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "the issuer is down; try again") || strings.Contains(err.Error(), "refused") {
			t.Errorf("a credential that cannot be checked: %v", err)
		}
	}
	for range 3 {
		if err := try("bad"); status.Code(err) != codes.Unauthenticated || strings.Contains(err.Error(), "token") {
			t.Errorf("a bad token: %v", err)
		}
	}
	if err := try("new"); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("after three failures: %v", err)
	}
	admitted()
}

// A client that sends metadata beyond the limit is refused or cut off before any RPC begins, and
// other clients are served.
func TestLargeHeaders(t *testing.T) {
	s := serve(t, listen.Limits{HandshakeTimeout: 30 * time.Second, HeaderBytes: 4 << 10}, serverOnly(t))
	h := s.hostile(t)
	h.block.Reset()
	if err := h.encoder.WriteField(hpack.HeaderField{Name: "x", Value: strings.Repeat("x", 8<<10)}); err != nil {
		t.Fatal(err)
	}
	if err := h.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: h.block.Bytes(), EndHeaders: true}); err != nil {
		t.Fatal(err)
	}
	if err := h.ended(1); err != nil && !errors.Is(err, io.EOF) {
		t.Errorf("the connection: %v", err)
	}
	if s.most.Load() != 0 {
		t.Error("the RPC began")
	}
	if err := healthy(t.Context(), s.client(t)); err != nil {
		t.Errorf("another client: %v", err)
	}
}

// A connection that is too old takes no new RPCs, and no call of its client fails.
func TestAge(t *testing.T) {
	s := serve(t, listen.Limits{HandshakeTimeout: 30 * time.Second, MaxAge: 50 * time.Millisecond}, serverOnly(t))
	conn := s.client(t)
	for n := 0; n < 3; {
		if err := healthy(t.Context(), conn); err != nil {
			t.Fatal(err)
		}
		n = 0
		s.peers.Range(func(any, any) bool { n++; return true })
	}
}

// A connection without an RPC is closed after the idle time.
func TestIdleConnectionsAreClosed(t *testing.T) {
	s := serve(t, listen.Limits{HandshakeTimeout: 30 * time.Second, IdleTimeout: 50 * time.Millisecond}, serverOnly(t))
	if code, err := s.hostile(t).farewell(nil); code != http2.ErrCodeNo || err != nil {
		t.Errorf("the connection ends with %v, %v", code, err)
	}
}

// A client that sends pings without a pause is cut off, and other clients are served.
func TestPingsAreLimited(t *testing.T) {
	s := serve(t, listen.Limits{HandshakeTimeout: 30 * time.Second}, serverOnly(t))
	h := s.hostile(t)
	ping := func() error { return h.WritePing(false, [8]byte{}) }
	if code, err := h.farewell(ping); code != http2.ErrCodeEnhanceYourCalm || err != nil {
		t.Errorf("the connection ends with %v, %v", code, err)
	}
	if err := healthy(t.Context(), s.client(t)); err != nil {
		t.Errorf("another client: %v", err)
	}
}

// farewell reads until the server says that it closes the connection, and returns the reason that
// it gives. before runs before each frame; it may be nil.
func (h *hostile) farewell(before func() error) (http2.ErrCode, error) {
	for {
		if before != nil {
			_ = before() // fails when the server has closed the connection
		}
		frame, err := h.ReadFrame()
		if err != nil {
			return 0, err
		}
		switch f := frame.(type) {
		case *http2.GoAwayFrame:
			return f.ErrCode, nil
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = h.WriteSettingsAck()
			}
		}
	}
}
