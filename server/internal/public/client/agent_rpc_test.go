package client_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/toolhost/toolhost/client"
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// agentd is an agentd with one run, "r", of ten events.
type agentd struct {
	agentdv1.UnimplementedAgentServiceServer
	watched chan struct{} // one for each watch that ended
}

func known(runID string) error {
	if runID != "r" {
		return toolpb.StatusError(tool.Errorf(tool.KindNotFound, "there is no run %q", runID))
	}
	return nil
}

func (agentd) StartRun(_ context.Context, req *agentdv1.StartRunRequest) (*agentdv1.StartRunResponse, error) {
	return &agentdv1.StartRunResponse{RunId: "for " + req.GetPrompt()}, nil
}

func (agentd) SendMessage(_ context.Context, req *agentdv1.SendMessageRequest) (*agentdv1.SendMessageResponse, error) {
	return &agentdv1.SendMessageResponse{Seq: uint64(len(req.GetText()))}, known(req.GetRunId())
}

func (a agentd) WatchRun(req *agentdv1.WatchRunRequest, stream grpc.ServerStreamingServer[agentdv1.WatchRunResponse]) error {
	defer func() { a.watched <- struct{}{} }()
	for seq := req.GetAfterSeq() + 1; seq <= 10; seq++ {
		if err := stream.Send(&agentdv1.WatchRunResponse{Event: &agentdv1.RunEvent{Seq: seq, Event: &agentdv1.RunEvent_UserMessage{}}}); err != nil {
			return err
		}
	}
	if req.GetAfterSeq() == 8 {
		<-stream.Context().Done() // until the watch ends
	}
	return known(req.GetRunId())
}

func (agentd) Respond(_ context.Context, req *agentdv1.RespondRequest) (*agentdv1.RespondResponse, error) {
	if req.GetDecidedBy() != "ann" {
		return nil, toolpb.StatusError(tool.Errorf(tool.KindInvalidArgument, "it is %q who decides", req.GetDecidedBy()))
	}
	return &agentdv1.RespondResponse{Seq: uint64(len(req.GetDecisions()))}, known(req.GetRunId())
}

func (agentd) CancelRun(_ context.Context, req *agentdv1.CancelRunRequest) (*agentdv1.CancelRunResponse, error) {
	return &agentdv1.CancelRunResponse{}, known(req.GetRunId())
}

func (agentd) DeleteRun(_ context.Context, req *agentdv1.DeleteRunRequest) (*agentdv1.DeleteRunResponse, error) {
	return &agentdv1.DeleteRunResponse{RunIds: []string{req.GetRunId(), "below"}}, known(req.GetRunId())
}

func (agentd) GetRun(_ context.Context, req *agentdv1.GetRunRequest) (*agentdv1.GetRunResponse, error) {
	return &agentdv1.GetRunResponse{Run: &agentdv1.Run{RunId: req.GetRunId()}}, known(req.GetRunId())
}

func (agentd) ListRuns(_ context.Context, req *agentdv1.ListRunsRequest) (*agentdv1.ListRunsResponse, error) {
	if req.GetParentRunId() != "" {
		return &agentdv1.ListRunsResponse{Runs: []*agentdv1.Run{{RunId: "child of " + req.GetParentRunId()}}}, nil
	}
	next := map[string]string{"": "a", "a": "b", "b": ""}
	return &agentdv1.ListRunsResponse{
		Runs: []*agentdv1.Run{{RunId: "1" + req.GetPageToken()}, {RunId: "2" + req.GetPageToken()}}, NextPageToken: next[req.GetPageToken()],
	}, nil
}

// dialFakeAgentd returns a client of an agentd in this process.
func dialFakeAgentd(t *testing.T) (*client.AgentClient, agentd) {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	service := agentd{watched: make(chan struct{}, 100)}
	server := grpc.NewServer()
	agentdv1.RegisterAgentServiceServer(server, service)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Stop
	a, err := client.DialAgent("unix:///here", client.WithDialer(listener.DialContext))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = a.Close()
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return a, service
}

func TestAgent(t *testing.T) {
	a, _ := dialFakeAgentd(t)
	ctx := bounded(t)
	if id, err := a.StartRun(ctx, client.Task{Prompt: "p"}); id != "for p" || err != nil {
		t.Errorf("StartRun: %q, %v", id, err)
	}
	if seq, err := a.SendMessage(ctx, "r", "1234"); seq != 4 || err != nil {
		t.Errorf("SendMessage: %d, %v", seq, err)
	}
	if run, err := a.GetRun(ctx, "r"); run.ID != "r" || err != nil {
		t.Errorf("GetRun: %v, %v", run, err)
	}
	if err := a.CancelRun(ctx, "r", ""); err != nil {
		t.Errorf("CancelRun: %v", err)
	}
	if ids, err := a.DeleteRun(ctx, "r"); len(ids) != 2 || ids[0] != "r" || err != nil {
		t.Errorf("DeleteRun: %q, %v", ids, err)
	}
	if seq, err := a.Respond(ctx, "r", "ann", client.Decision{ID: "d1", Verdict: client.Approve}, client.Decision{ID: "d2", Verdict: client.Reject}); seq != 2 || err != nil {
		t.Errorf("Respond: %d, %v", seq, err)
	}
	_, respondErr := a.Respond(ctx, "absent", "ann")
	_, sendErr := a.SendMessage(ctx, "absent", "x")
	_, getErr := a.GetRun(ctx, "absent")
	_, deleteErr := a.DeleteRun(ctx, "absent")
	for _, err := range []error{respondErr, sendErr, getErr, deleteErr, a.CancelRun(ctx, "absent", "")} {
		if tool.KindOf(err) != tool.KindNotFound {
			t.Errorf("of an absent run: %v", err)
		}
	}
	var ids []string
	for run, err := range a.ListRuns(ctx, client.RunFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, run.ID); len(ids) == 5 {
			break
		}
	}
	if got := fmt.Sprint(ids); got != "[1 2 1a 2a 1b]" {
		t.Errorf("the runs are %s", got)
	}
	for run, err := range a.ListRuns(ctx, client.RunFilter{ParentRunID: "r"}) {
		if err != nil || run.ID != "child of r" {
			t.Errorf("a sub-run: %v, %v", run, err)
		}
	}
}

func TestWatchRun(t *testing.T) {
	a, service := dialFakeAgentd(t)
	for after, want := range map[uint64]int{0: 10, 7: 3, 10: 0} {
		n := 0
		for event, err := range a.WatchRun(bounded(t), "r", after) {
			n++
			if err != nil || event.Seq != after+uint64(n) {
				t.Errorf("event %d after %d: %v, %v", n, after, event, err)
			}
		}
		if n != want {
			t.Errorf("%d events after %d, want %d", n, after, want)
		}
		<-service.watched
	}
	for range a.WatchRun(bounded(t), "r", 8) {
		break
	}
	<-service.watched // ended by the loop's end
	var last error
	for _, err := range a.WatchRun(bounded(t), "absent", 10) {
		last = err
	}
	if tool.KindOf(last) != tool.KindNotFound {
		t.Errorf("watching an absent run: %v", last)
	}
}

func TestNoAgentdAnswers(t *testing.T) {
	addr := socket(t)
	t.Setenv("AGENTD_ADDR", addr.String())
	a, err := client.DialAgent("")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	_, err = a.GetRun(bounded(t), "r")
	if tool.KindOf(err) != tool.KindUnavailable || !strings.Contains(err.Error(), "no agentd answers at "+a.Addr()) {
		t.Errorf("got %v", err)
	}
	for _, err := range a.WatchRun(bounded(t), "r", 0) {
		if tool.KindOf(err) != tool.KindUnavailable {
			t.Errorf("got %v", err)
		}
	}
}
