package agentserver_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// wordy is an agent whose runs have three large events.
type wordy struct{ *fakeAgent }

func (wordy) WatchRun(context.Context, string, uint64) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		for range 3 {
			if !yield(loop.Event{Payload: &loop.UserMessage{Text: strings.Repeat("x", 400<<10)}}, nil) {
				return
			}
		}
	}
}

// turns authenticates callers as the principals in a channel.
type turns chan identity.Principal

func (c turns) Authenticate(context.Context, authn.Evidence) (authn.Verified, error) {
	return authn.Verified{Principal: <-c}, nil
}

// Clients of a principal that do not read hold a bounded number of bytes. Further streams of the
// principal are refused, and those of others are served.
func TestSlowReaders(t *testing.T) {
	callers := make(turns, 1)
	listener := bufconn.Listen(1 << 16)
	server := agentserver.NewServer(agentserver.Config{
		Agent: wordy{runs()}, MaxUnreadBytes: 1 << 20,
		Gate: gate.New(gate.Config{Rights: agentserver.Rights(), Authenticator: callers, Policy: gate.Always(authz.New(roles))}),
	})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Shutdown
	conn, err := grpc.NewClient("passthrough:///agentd", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		_ = server.Shutdown(context.Background())
		<-served
	})
	watch := func(name string) grpc.ServerStreamingClient[agentdv1.WatchRunResponse] {
		t.Helper()
		callers <- identity.Principal{Tenant: "red", Name: name}
		stream, err := agentdv1.NewAgentServiceClient(conn).WatchRun(t.Context(), &agentdv1.WatchRunRequest{RunId: "r"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Header(); err != nil { // the server has begun to send, or has refused the stream
			t.Fatal(err)
		}
		return stream
	}
	read := func(stream grpc.ServerStreamingClient[agentdv1.WatchRunResponse]) (n int, err error) {
		for {
			if _, err := stream.Recv(); err != nil {
				return n, err
			}
			n++
		}
	}
	streams := []grpc.ServerStreamingClient[agentdv1.WatchRunResponse]{watch("ada"), watch("ada"), watch("ada")}
	if n, err := read(watch("olga")); n != 3 || !errors.Is(err, io.EOF) {
		t.Errorf("another principal gets %d events, %v", n, err)
	}
	refused := 0
	for _, stream := range streams {
		switch n, err := read(stream); {
		case errors.Is(err, io.EOF) && n == 3:
		case kindOf(err) == tool.KindRateLimited:
			refused++
		default:
			t.Errorf("a stream ends after %d events with %v", n, err)
		}
	}
	if refused == 0 {
		t.Error("no stream was refused")
	}
	if n, err := read(watch("ada")); n != 3 || !errors.Is(err, io.EOF) {
		t.Errorf("after all was read, the principal gets %d events, %v", n, err)
	}
}
