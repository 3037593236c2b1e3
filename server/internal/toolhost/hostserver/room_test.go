package hostserver_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// fullOf takes all shared memory of a budget in the name of this user, who calls in the tests.
func fullOf(t *testing.T, b *budget.Budget) {
	t.Helper()
	account, err := b.Open(fmt.Sprintf("uid:%d", os.Getuid()))
	if err != nil {
		t.Fatal(err)
	}
	// A hold is unlimited while the others hold little, so the first one takes a part.
	first, rest := new(budget.Hold), new(budget.Hold)
	first.On(account)
	rest.On(account)
	if err := first.TryReserve(4 << 20); err != nil {
		t.Fatal(err)
	}
	for rest.TryReserve(4<<10) == nil {
	}
	t.Cleanup(func() {
		first.Release()
		rest.Release()
		account.Close()
	})
}

// One connection that takes all memory does not shut new connections of its principal out: their
// small calls use the share of their connection.
func TestNewConnectionsWhileMemoryIsFull(t *testing.T) {
	memory := budget.New(16<<20, 0)
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Budget: memory})
	fullOf(t, memory)
	for range 3 {
		c := dial(t, a)
		for range 20 {
			if got, err := c.Call(bounded(t), tool.Call{Tool: "echo", Arguments: []byte(`{"text":"hi"}`)}); err != nil || got.Err != nil {
				t.Fatalf("a small call on a new connection: %v, %v", err, got.Err)
			}
		}
	}
}

// A stream for which there is no room is refused before it begins. The error says that nothing was
// executed, and nothing else.
func TestAStreamWithoutRoomExecutedNothing(t *testing.T) {
	memory := budget.New(16<<20, 0)
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Budget: memory})
	fullOf(t, memory)
	var got *tool.Error
	eventually.Holds(t, "a call comes after its connection has spent its share", func() bool {
		c := dial(t, a)
		next, stop := iter.Pull2(c.WatchEvents(t.Context(), tool.EventQuery{Follow: true})) // takes most of the share
		watched := make(chan struct{})
		go func() { // ends with the context of the test, or with an event
			defer close(watched)
			next()
		}()
		t.Cleanup(func() { <-watched; stop() })
		o, err := c.Call(bounded(t), tool.Call{Tool: "echo", Arguments: []byte(`{"text":"hi"}`)})
		if got = o.Err; err != nil {
			got = tool.AsError(err)
		}
		return got != nil
	})
	if text := got.Error(); got.Kind != tool.KindRateLimited || !strings.Contains(text, "nothing was executed") || strings.Contains(text, "may have been") {
		t.Errorf("%s: %s", got.Kind, text)
	}
}

// Open requests take memory, although their callers send nothing, and give it back when they end.
func TestOpenRequestsTakeMemory(t *testing.T) {
	memory := budget.New(16<<20, 0)
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Budget: memory})
	fullOf(t, memory)
	conn := raw(t, a)
	ctx, end := context.WithCancel(bounded(t))
	const requests, fit = 12, 6 // of 32 KiB in the share of the connection
	failed := make(chan error, requests)
	for range requests {
		stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, toolhostv1.ToolService_Call_FullMethodName)
		if err != nil {
			t.Fatal(err)
		}
		go func() { failed <- stream.RecvMsg(new(emptypb.Empty)) }() // ends with ctx
	}
	for range requests - fit {
		if err := <-failed; status.Code(err) != codes.ResourceExhausted {
			t.Errorf("a request without room: %v", err)
		}
	}
	end()
	for range fit {
		if err := <-failed; status.Code(err) != codes.Canceled {
			t.Errorf("a request with room: %v", err)
		}
	}
	eventually.Holds(t, "there is room for a request", func() bool {
		return conn.Invoke(bounded(t), toolhostv1.ToolService_Call_FullMethodName, &toolhostv1.CallRequest{Tool: "echo", Arguments: []byte(`{"text":"hi"}`)}, new(toolhostv1.CallResponse)) == nil
	})
}
