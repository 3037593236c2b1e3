package grpcserver_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/wire/grpcserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watched is a codec that counts the requests that are decoded, and can hold them.
type watched struct {
	encoding.CodecV2
	hold        chan struct{} // nil: nothing is held
	count, most atomic.Int64  // that are being decoded
	all         atomic.Int64
}

func (w *watched) Unmarshal(data mem.BufferSlice, v any) error {
	w.all.Add(1)
	n := w.count.Add(1)
	defer w.count.Add(-1)
	for most := w.most.Load(); n > most && !w.most.CompareAndSwap(most, n); most = w.most.Load() {
	}
	if text := string(data.Materialize()); w.hold != nil && len(text) > 4 { // more than a few letters
		<-w.hold
	}
	return w.CodecV2.Unmarshal(data, v)
}

const method = "/test.Echo/Say"

// echo is a service with one unary RPC, which returns its request.
var echo = grpc.ServiceDesc{ServiceName: "test.Echo", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
	MethodName: "Say",
	Handler: func(_ any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		in := new(wrapperspb.StringValue)
		if err := decode(in); err != nil {
			return nil, err
		}
		return interceptor(ctx, in, &grpc.UnaryServerInfo{FullMethod: method}, func(_ context.Context, req any) (any, error) { return req, nil })
	},
}}}

type callerKey struct{}

// admit admits callers that say who they are. The interceptor of serve sees what it returns.
func admit(ctx context.Context, _ string) (context.Context, string, error) {
	names := metadata.ValueFromIncomingContext(ctx, "caller")
	if len(names) == 0 {
		return nil, "", status.Error(codes.Unauthenticated, "who are you?")
	}
	return context.WithValue(ctx, callerKey{}, names[0]), names[0], nil
}

// serve starts a server with the service, and returns a connection with it.
func serve(t *testing.T, codec *watched) *grpc.ClientConn {
	t.Helper()
	codec.CodecV2 = encoding.GetCodecV2(encodingproto.Name)
	s := grpcserver.New(nil, nil, grpc.ForceServerCodecV2(codec),
		grpc.UnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if info.FullMethod == method && ctx.Value(callerKey{}) == nil {
				return nil, errors.New("the context is not the admitted one")
			}
			return handler(ctx, req)
		}))
	s.Register(grpcserver.Requests{Admit: admit}, func(services grpc.ServiceRegistrar) { services.RegisterService(&echo, struct{}{}) })
	l := bufconn.Listen(1 << 20)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(l); err != nil {
			t.Error(err)
		}
	})
	conn, err := grpc.NewClient("passthrough:///b", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(conn.Close(), s.Shutdown(context.Background())); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return conn
}

// say calls the RPC as a caller; empty: without a name.
func say(t *testing.T, conn *grpc.ClientConn, caller, text string) error {
	ctx := t.Context()
	if caller != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "caller", caller)
	}
	out := new(wrapperspb.StringValue)
	err := conn.Invoke(ctx, method, wrapperspb.String(text), out)
	if err == nil && out.GetValue() != text {
		t.Errorf("%q became %q", text, out.GetValue())
	}
	return err
}

// A caller that is not admitted cannot make the server read or decode a request. It need not even
// send one.
func TestRequestsOfStrangersAreNotRead(t *testing.T) {
	codec := &watched{}
	conn := serve(t, codec)
	if err := say(t, conn, "", "a request"); status.Code(err) != codes.Unauthenticated {
		t.Errorf("a stranger got %v", err)
	}
	stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true}, method)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(new(wrapperspb.StringValue)); status.Code(err) != codes.Unauthenticated {
		t.Errorf("a stranger that sends nothing got %v", err)
	}
	if n := codec.all.Load(); n > 0 {
		t.Errorf("%d requests of strangers were decoded", n)
	}
	if err := say(t, conn, "ada", "a request"); err != nil || codec.all.Load() != 1 {
		t.Errorf("ada got %v, %d requests were decoded", err, codec.all.Load())
	}
}

// The server decodes a few requests of one caller at the same time. The others wait for them, and
// those of other callers do not.
func TestRequestsOfOneCallerWait(t *testing.T) {
	const requests, most = 20, 8
	codec := &watched{hold: make(chan struct{})}
	conn := serve(t, codec)
	var waiting sync.WaitGroup
	for range requests {
		waiting.Go(func() {
			if err := say(t, conn, "ada", "a large request"); err != nil {
				t.Error(err)
			}
		})
	}
	eventually.Holds(t, "the server decodes as many as it may", func() bool { return codec.count.Load() == most })
	if err := say(t, conn, "eve", "ab"); err != nil {
		t.Errorf("another caller got %v", err)
	}
	close(codec.hold)
	waiting.Wait()
	if got := codec.most.Load(); got != most+1 { // with that of the other caller
		t.Errorf("%d requests were decoded at the same time", got)
	}
}
