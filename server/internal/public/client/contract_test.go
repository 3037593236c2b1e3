package client_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/tool"
)

// rude is a toolhost that sends more than its caller has granted credit for.
type rude struct {
	toolhostv1.UnimplementedToolServiceServer
}

func (rude) Connect(stream grpc.BidiStreamingServer[toolhostv1.ConnectRequest, toolhostv1.ConnectResponse]) error {
	for {
		req, err := stream.Recv()
		if err != nil {
			return err
		}
		start := req.GetStart()
		if start == nil {
			continue
		}
		chunk := &toolhostv1.ContentChunk{Data: make([]byte, hostpb.Window)}
		if start.GetTool() != "flood" {
			chunk.Data = nil
		}
		for range 3 {
			if err := stream.Send(&toolhostv1.ConnectResponse{Call: req.GetCall(), Event: &toolhostv1.CallEvent{Event: &toolhostv1.CallEvent_Chunk{Chunk: chunk}}}); err != nil {
				return err
			}
		}
		if start.GetTool() != "flood" {
			ended := &toolhostv1.CallEvent{Event: &toolhostv1.CallEvent_Ended{Ended: &toolhostv1.CallEnded{}}}
			if err := stream.Send(&toolhostv1.ConnectResponse{Call: req.GetCall(), Event: ended}); err != nil {
				return err
			}
		}
	}
}

func TestAHostThatBreaksTheContractLosesTheCall(t *testing.T) {
	a := socket(t)
	listener, err := a.Listen(t.Context(), "toolhost")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	toolhostv1.RegisterToolServiceServer(server, rude{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	c := dial(t, a)
	flooded, err := c.Open(bounded(t), tool.Call{Tool: "flood"}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer flooded.Close()
	// The events of the flooded call arrive before those of the next call.
	if _, err := c.Call(bounded(t), tool.Call{Tool: "other"}); tool.KindOf(err) != tool.KindInternal {
		t.Errorf("an end without an outcome: %v", err)
	}
	if o := end(t, flooded); o.Err == nil || o.Err.Kind != tool.KindInternal || !strings.Contains(o.Err.Message, "broke the contract") {
		t.Errorf("got %+v", o)
	}
}
