package client_test

import (
	"context"
	"log"
	"net"
	"os"
	"path/filepath"

	"google.golang.org/grpc"

	"github.com/toolhost/toolhost/client"
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
)

// serveTools starts a toolhost for an example and sets TOOLHOST_ADDR. The caller calls stop.
func serveTools() (stop func()) {
	host, err := hosttest.Start(nil, hosttest.Tools()...)
	if err != nil {
		log.Fatal(err)
	}
	server := hostserver.NewServer(hostserver.Config{Host: host})
	end := listen("TOOLHOST_ADDR", server.Serve)
	return func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // cuts what is left
		_ = server.Shutdown(ctx)
		end()
		host.Close()
	}
}

// serveAgent starts an agentd for an example and sets AGENTD_ADDR. The caller calls stop.
func serveAgent() (stop func()) {
	server := grpc.NewServer()
	agentdv1.RegisterAgentServiceServer(server, exampleAgent{})
	end := listen("AGENTD_ADDR", server.Serve)
	return func() {
		server.Stop()
		end()
	}
}

// listen serves on a new socket whose address it puts into a variable of the environment. end waits
// until serve has returned.
func listen(variable string, serve func(net.Listener) error) (end func()) {
	dir, err := os.MkdirTemp("/tmp", "example")
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "s.sock")
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", path)
	if err != nil {
		log.Fatal(err)
	}
	served := make(chan struct{})
	go func() { // ends when the server stops; end waits for it
		defer close(served)
		_ = serve(listener)
	}()
	_ = os.Setenv(variable, "unix://"+path)
	return func() {
		<-served
		_ = os.Unsetenv(variable)
		_ = os.RemoveAll(dir)
	}
}

func dialTools() *client.Client {
	c, err := client.Dial("")
	if err != nil {
		log.Fatal(err)
	}
	return c
}

func dialAgent() *client.AgentClient {
	a, err := client.DialAgent("")
	if err != nil {
		log.Fatal(err)
	}
	return a
}

// exampleAgent is an agentd with one run that waits for an approval, and with scripted events.
type exampleAgent struct {
	agentdv1.UnimplementedAgentServiceServer
}

func (exampleAgent) StartRun(context.Context, *agentdv1.StartRunRequest) (*agentdv1.StartRunResponse, error) {
	return &agentdv1.StartRunResponse{RunId: "run"}, nil
}

func (exampleAgent) WatchRun(_ *agentdv1.WatchRunRequest, stream grpc.ServerStreamingServer[agentdv1.WatchRunResponse]) error {
	deleted := &toolv1.Result{Content: []*toolv1.Content{{Block: &toolv1.Content_Text{Text: "deleted"}}}}
	for i, event := range []*agentdv1.RunEvent{
		{Event: &agentdv1.RunEvent_RunStarted{RunStarted: &agentdv1.RunStarted{RunId: "run"}}},
		{Event: &agentdv1.RunEvent_AssistantMessage{AssistantMessage: &agentdv1.AssistantMessage{Text: "I delete them."}}},
		{Event: &agentdv1.RunEvent_DecisionRequested{DecisionRequested: &agentdv1.DecisionRequested{Decision: approval}}},
		{Event: &agentdv1.RunEvent_CallResult{CallResult: &agentdv1.CallResult{Tool: "delete_file", Result: deleted}}},
		{Event: &agentdv1.RunEvent_RunFinished{RunFinished: &agentdv1.RunFinished{StopReason: agentdv1.StopReason_STOP_REASON_END_TURN}}},
	} {
		event.Seq = uint64(i + 1)
		if err := stream.Send(&agentdv1.WatchRunResponse{Event: event}); err != nil {
			return err
		}
	}
	return nil
}

var approval = &agentdv1.PendingDecision{
	DecisionId: "d1", Kind: agentdv1.DecisionKind_DECISION_KIND_APPROVAL, Tool: "delete_file",
	Reason: "delete_file is dangerous", Arguments: []byte(`{"path":"old.log"}`),
}

var waitingRun = &agentdv1.Run{
	RunId: "waiting-run", State: agentdv1.RunState_RUN_STATE_WAITING, PendingDecisions: []*agentdv1.PendingDecision{approval},
}

func (exampleAgent) GetRun(context.Context, *agentdv1.GetRunRequest) (*agentdv1.GetRunResponse, error) {
	return &agentdv1.GetRunResponse{Run: waitingRun}, nil
}

func (exampleAgent) Respond(context.Context, *agentdv1.RespondRequest) (*agentdv1.RespondResponse, error) {
	return &agentdv1.RespondResponse{Seq: 4}, nil
}

func (exampleAgent) ListRuns(context.Context, *agentdv1.ListRunsRequest) (*agentdv1.ListRunsResponse, error) {
	return &agentdv1.ListRunsResponse{Runs: []*agentdv1.Run{waitingRun}}, nil
}
