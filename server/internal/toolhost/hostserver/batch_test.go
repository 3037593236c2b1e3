package hostserver_test

import (
	"fmt"
	"testing"

	"google.golang.org/grpc/metadata"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
)

// The server reads batches from every caller, and sends batches only to callers that announce that
// they read them.
func TestConnectTakesFramesTogether(t *testing.T) {
	const burst = 200
	for _, announced := range []bool{false, true} {
		a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t)})
		ctx := bounded(t)
		if announced {
			ctx = metadata.AppendToOutgoingContext(ctx, "toolhost-batch", "1")
		}
		stream, err := tools(t, a).Connect(ctx)
		if err != nil {
			t.Fatal(err)
		}
		header, err := stream.Header()
		if err != nil || len(header.Get("toolhost-batch")) != 1 {
			t.Errorf("toolhost's headers are %v, %v", header, err)
		}
		together := false
		for round := 0; round == 0 || announced && !together; round++ { // until a batch arrived
			var frames []*toolhostv1.ConnectRequest
			for i := range burst {
				frames = append(frames, &toolhostv1.ConnectRequest{Call: uint32(i + 1), Frame: &toolhostv1.ConnectRequest_Start{
					Start: &toolhostv1.StartCall{Tool: "echo", Arguments: []byte(`{"text":"x"}`), Complete: true,
						Options: &toolhostv1.CallOptions{CallId: fmt.Sprintf("%d-%d", round, i)}},
				}})
			}
			frames[0].Batch = frames[1:]
			if err := stream.Send(frames[0]); err != nil {
				t.Fatal(err)
			}
			for ended := 0; ended < burst; {
				m, err := stream.Recv()
				if err != nil {
					t.Fatal(err)
				}
				together = together || len(m.GetBatch()) > 0
				for _, frame := range append(m.GetBatch(), m) {
					if end := frame.GetEvent().GetEnded(); end != nil {
						ended++
						if end.GetResult() == nil {
							t.Errorf("call %d ended with %v", frame.GetCall(), end)
						}
					}
				}
			}
		}
		if together != announced {
			t.Errorf("events came together: %v; the caller said that it reads that: %v", together, announced)
		}
	}
}
