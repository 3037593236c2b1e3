package hostserver_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// stuff starts calls whose results fill every queue up to a caller that does not read.
func stuff(w *wire) {
	w.t.Helper()
	for i := range uint32(4) {
		w.start(i+1, "large", `{"bytes":10000000,"kind":"text"}`, true)
		w.grant(i+1, 20_000_000)
	}
}

func TestACallerThatDoesNotReadCannotHoldUpTheShutdown(t *testing.T) {
	a, server := serve(t, socket(t), hostserver.Config{Host: newHost(t)})
	stream, err := tools(t, a).Connect(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	stuff(&wire{t: t, stream: stream})
	c := dial(t, a)
	if _, err := c.GetTool(bounded(t), "echo", tool.Viewer{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
}

func TestAFrameThatIsTooLargeEndsTheStream(t *testing.T) {
	w := connect(t, hostserver.Config{Host: newHost(t)})
	stuff(w)
	// The send may fail if the server ends the stream first.
	_ = w.stream.Send(appendFrame(9, make([]byte, hostpb.MaxMessageBytes+1)))
	for {
		_, err := w.stream.Recv()
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) || status.Code(err) != codes.ResourceExhausted {
			t.Errorf("the stream ended with %v", err)
		}
		return
	}
}
