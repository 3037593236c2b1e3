//go:build !race

package e2e_test

import (
	"fmt"
	"math"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// If a client grants credit and never reads its stream, only its own calls stall. Even with 64 such
// clients, toolhost holds no more memory than its bound.
func TestClientsThatNeverRead(t *testing.T) {
	t.Parallel()
	for _, clients := range []int{1, 64} {
		t.Run(fmt.Sprint(clients), func(t *testing.T) {
			h, calm := besieged(t)
			for n := range clients {
				h.neverReads(t, n)
			}
			eventually.Holds(t, "calls of the clients have begun", func() bool {
				page, err := h.looks.Admin().Calls(t.Context(), tool.CallQuery{Tool: "fault"})
				return err == nil && len(page.Calls) >= min(clients, 8)
			})
			h.survives(t, calm)
		})
	}
}

// neverReads starts four calls with results of 20 MB on a stream, grants credit for all of it, and
// reads nothing until the end of the test.
func (h *toolhost) neverReads(t *testing.T, n int) {
	t.Helper()
	conn, err := grpc.NewClient(h.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	stream, err := toolhostv1.NewToolServiceClient(conn).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for call := range uint32(4) {
		shown := uint64(math.MaxInt32)
		start := &toolhostv1.StartCall{
			Tool: "fault", Arguments: []byte(`{"do":"large","text":"text","number":20000000}`), Complete: true,
			Options: &toolhostv1.CallOptions{CallId: fmt.Sprintf("unread-%d-%d", n, call), MaxShownBytes: &shown},
		}
		for _, frame := range []*toolhostv1.ConnectRequest{
			{Call: call + 1, Frame: &toolhostv1.ConnectRequest_Start{Start: start}},
			{Call: call + 1, Frame: &toolhostv1.ConnectRequest_Credit{Credit: &toolhostv1.GrantCredit{Bytes: 1 << 30}}},
		} {
			if err := stream.Send(frame); err != nil {
				return // toolhost has refused the stream
			}
		}
	}
}
