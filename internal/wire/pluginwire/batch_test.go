package pluginwire_test

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// burst is the number of calls that a test starts or ends at once.
const burst = 200

// startsTogether returns the starts of burst calls as one batch.
func startsTogether(from uint32) *pluginv1.ConnectRequest {
	var frames []*pluginv1.ConnectRequest
	for i := range uint32(burst) {
		frame := &pluginv1.ConnectRequest_Start{Start: &pluginv1.StartCall{Complete: true}}
		frames = append(frames, &pluginv1.ConnectRequest{Call: from + i, Frame: frame})
	}
	first := frames[0]
	first.Batch = frames[1:]
	return first
}

// The plugin reads batches, and sends batches only to a host that announces that it reads them.
func TestFramesTogetherReachThePlugin(t *testing.T) {
	for _, announced := range []bool{false, true} {
		cc, _ := serve(t, register(plugin{call: func(context.Context, *pluginwire.ServerCall) (tool.Result, error) {
			return tool.TextResult("done"), nil
		}}))
		ctx := t.Context()
		if announced {
			ctx = metadata.AppendToOutgoingContext(ctx, "toolhost-batch", "1")
		}
		stream, err := pluginv1.NewToolPluginServiceClient(cc).Connect(ctx)
		if err != nil {
			t.Fatal(err)
		}
		header, err := stream.Header()
		if err != nil || len(header.Get("toolhost-batch")) != 1 {
			t.Errorf("the plugin's headers are %v, %v", header, err)
		}
		together := false
		for round := uint32(0); round == 0 || announced && !together; round++ { // until a batch arrived
			ended := map[uint32]int{}
			if err := stream.Send(startsTogether(1 + round*burst)); err != nil {
				t.Fatal(err)
			}
			for len(ended) < burst {
				m, err := stream.Recv()
				if err != nil {
					t.Fatal(err)
				}
				together = together || len(m.GetBatch()) > 0
				if size := proto.Size(m); size > 40<<10 {
					t.Errorf("a message of small frames has %d bytes", size)
				}
				for _, frame := range append(m.GetBatch(), m) {
					if frame.GetEnd().GetResult() == nil || frame != m && (frame.GetAckToken() != 0 || frame.GetAck() != 0) {
						t.Errorf("came %v", frame)
					}
					ended[frame.GetCall()]++
				}
			}
			for call, times := range ended {
				if times != 1 {
					t.Errorf("call %d ended %d times", call, times)
				}
			}
		}
		if together != announced {
			t.Errorf("frames came together: %v; the host said that it reads that: %v", together, announced)
		}
	}
}

// The host reads batches, and sends batches only to a plugin that announces that it reads them.
func TestFramesTogetherReachTheHost(t *testing.T) {
	for _, says := range []bool{false, true} {
		together := make(chan bool)
		conn := openRaw(t, pluginwire.ConnConfig{}, func(stream rawStream) error {
			if says {
				if err := stream.SendHeader(metadata.Pairs("toolhost-batch", "1")); err != nil {
					return err
				}
			}
			return answerTogether(stream, together)
		})
		met := false
		for round := 0; round < 2 || says && !met; round++ { // the host knows the announcement after the first round
			var calls []*pluginwire.Call
			done := make(chan *pluginwire.Call)
			for range burst {
				go func() {
					call, err := conn.Start(t.Context(), pluginwire.Start{Complete: true})
					if err != nil {
						t.Error(err)
					}
					done <- call
				}()
			}
			for range burst {
				calls = append(calls, <-done)
			}
			met = <-together || met
			for _, call := range calls {
				events, out := follow(t, call)
				if len(events) != 1 || events[0].Status == nil || out.Err != nil {
					t.Errorf("a call of many: %v, %v", events, out)
				}
				call.Close()
			}
		}
		if met != says {
			t.Errorf("frames went together: %v; the plugin said that it reads that: %v", met, says)
		}
	}
}

// answerTogether answers burst calls with one batch of two frames for each call, and reports
// whether the calls arrived in batches.
func answerTogether(stream grpc.BidiStreamingServer[pluginv1.ConnectRequest, pluginv1.ConnectResponse], together chan<- bool) error {
	for {
		var frames []*pluginv1.ConnectResponse
		met := false
		for len(frames) < 2*burst {
			m, err := stream.Recv()
			if err != nil {
				return nil // the test is over
			}
			met = met || len(m.GetBatch()) > 0
			for _, frame := range append([]*pluginv1.ConnectRequest{m}, m.GetBatch()...) {
				if frame.GetStart() != nil {
					frames = append(frames, statusFrame(frame.GetCall(), &toolv1.Status{Message: "…"}), endOf(frame.GetCall(), "done"))
				}
			}
		}
		frames[0].Batch = frames[1:]
		if err := stream.Send(frames[0]); err != nil {
			return err
		}
		together <- met
	}
}
