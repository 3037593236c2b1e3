package agentserver_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/testing/protocmp"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// The choice of tools, sub-runs and the window reach the agent.
func TestChoices(t *testing.T) {
	fake := &fakeAgent{}
	_, conn := dial(t, fake)
	client := agentdv1.NewAgentServiceClient(conn)
	no, cost, none, two := false, 0.5, uint32(0), uint32(2)
	tests := []struct {
		name string
		req  *agentdv1.StartRunRequest
		want loop.Task
	}{
		{"nothing said", &agentdv1.StartRunRequest{}, loop.Task{}},
		{"all", &agentdv1.StartRunRequest{
			Tools:       &agentdv1.ToolChoice{Dangerous: &no, MaxCostPerUse: &cost, MaxTools: 7},
			Window:      &agentdv1.Window{Tokens: 1000, ClearAt: .4, SummarizeAt: .7, Keep: 2},
			SystemTools: &agentdv1.SystemTools{Names: []string{"new_task"}}, SubRuns: &two,
			Agent: "research", Completion: agentdv1.Completion_COMPLETION_EXPLICIT, Traceparent: "00-a",
		}, loop.Task{
			Tools:  loop.ToolChoice{Dangerous: &no, MaxCostPerUse: &cost, MaxTools: 7},
			Window: loop.Window{Tokens: 1000, ClearAt: .4, SummarizeAt: .7, Keep: 2}, SystemTools: []string{"new_task"}, SubRuns: 2,
			Agent: "research", ExplicitCompletion: new(true), Traceparent: "00-a",
		}},
		{"none", &agentdv1.StartRunRequest{SystemTools: &agentdv1.SystemTools{}, SubRuns: &none}, loop.Task{SystemTools: []string{}, SubRuns: -1}},
		{"explicit, as it was once said", &agentdv1.StartRunRequest{ExplicitCompletion: true}, loop.Task{ExplicitCompletion: new(true)}},
		{"not explicit", &agentdv1.StartRunRequest{
			ExplicitCompletion: true, Completion: agentdv1.Completion_COMPLETION_END_TURN,
		}, loop.Task{ExplicitCompletion: new(false)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.req.RunId, tt.want.RunID = "r", "r"
			if _, err := client.StartRun(t.Context(), tt.req); err != nil {
				t.Fatal(err)
			}
			tt.want.Principal = authn.UserName(os.Getuid())
			if diff := cmp.Diff(tt.want, fake.task); diff != "" {
				t.Errorf("task (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWatchCompacted(t *testing.T) {
	fake := &fakeAgent{events: []loop.Event{{Seq: 1, Time: moment, Payload: &loop.Compacted{
		Reason: "full", Cleared: []string{"a", "b"}, Summary: "short", Replaced: 3, Overflow: true, Failure: "down", Usage: tool.Usage{InputTokens: 4}, Cost: 5,
	}}}}
	_, conn := dial(t, fake)
	stream, err := agentdv1.NewAgentServiceClient(conn).WatchRun(t.Context(), &agentdv1.WatchRunRequest{RunId: "r"})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := stream.Recv()
	want := &agentdv1.Compacted{
		Reason: "full", ClearedResults: 2, Summary: "short", ReplacedMessages: 3, Overflow: true, Failure: "down", Usage: &toolv1.Usage{InputTokens: 4}, Cost: 5,
	}
	if diff := cmp.Diff(want, resp.GetEvent().GetCompacted(), protocmp.Transform()); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// The run uses the trace context of the RPC unless the request has one.
func TestTraceOfMetadata(t *testing.T) {
	for name, test := range map[string]struct{ field, want string }{
		"metadata": {"", "00-m"}, "the field goes first": {"00-f", "00-f"},
	} {
		t.Run(name, func(t *testing.T) {
			fake := &fakeAgent{}
			_, conn := dial(t, fake)
			ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-m")
			_, err := agentdv1.NewAgentServiceClient(conn).StartRun(ctx, &agentdv1.StartRunRequest{RunId: "r", Traceparent: test.field})
			if err != nil || fake.task.Traceparent != test.want {
				t.Errorf("the task's is %q, %v", fake.task.Traceparent, err)
			}
		})
	}
}
