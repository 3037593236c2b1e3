package agentserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"net"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/toolhost/toolhost/client"
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var moment = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

// fakeAgent has one run, "r", and returns not_found for all others.
type fakeAgent struct {
	files     []loop.NewAttachment
	task      loop.Task
	events    []loop.Event
	text      string
	messageID loop.MessageID
	run       agent.Run
	made      []loop.DecisionMade
	extended  []loop.DecisionExtended
	query     agent.RunQuery
	decisions agent.DecisionQuery
	madeBy    agent.MadeQuery
	inbox     []agent.Decision
	owners    map[string]string // of all runs, by id; nil: only r exists
}

func (f *fakeAgent) check(runID string) error {
	if runID == "panic" {
		panic("as asked")
	}
	if runID != "r" && f.owners == nil {
		return tool.Errorf(tool.KindNotFound, "run %q: no such run", runID)
	}
	return nil
}

func (f *fakeAgent) StartRun(_ context.Context, task loop.Task) (string, error) {
	f.task = task
	return "r", f.check(task.RunID)
}

func (f *fakeAgent) SendMessage(_ context.Context, runID, text string, files ...loop.NewAttachment) (uint64, error) {
	f.text, f.files = text, files
	return 7, f.check(runID)
}

func (f *fakeAgent) SendMessageOnce(ctx context.Context, runID string, id loop.MessageID, text string, files ...loop.NewAttachment) (uint64, error) {
	f.messageID = id
	return f.SendMessage(ctx, runID, text, files...)
}

func (f *fakeAgent) CancelRun(_ context.Context, runID, reason string) error {
	f.text = reason
	return f.check(runID)
}

func (f *fakeAgent) DeleteRun(_ context.Context, runID string) ([]string, error) {
	f.text = runID
	return []string{runID, "below"}, f.check(runID)
}

func (f *fakeAgent) WatchRun(ctx context.Context, runID string, after uint64) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		if err := f.check(runID); err != nil {
			yield(loop.Event{}, err)
			return
		}
		for _, e := range f.events {
			if e.Seq > after && !yield(e, nil) {
				return
			}
		}
		if after > 1000 { // an endless run
			yield(loop.Event{Seq: after + 1, Payload: &loop.UserMessage{}}, nil)
			<-ctx.Done()
			yield(loop.Event{}, ctx.Err())
		}
	}
}

func (f *fakeAgent) GetRun(_ context.Context, runID string) (agent.Run, error) {
	return f.run, f.check(runID)
}

// OwnerOf returns the owner of a run in owners. The user of the test owns r.
func (f *fakeAgent) OwnerOf(_ context.Context, runID string) (string, error) {
	if owner, ok := f.owners[runID]; ok {
		return owner, nil
	}
	if f.owners != nil {
		return "", agent.NoSuchRun(runID)
	}
	return authn.UserName(os.Getuid()), f.check(runID)
}

func (f *fakeAgent) Respond(_ context.Context, runID string, decisions ...loop.DecisionMade) (uint64, error) {
	f.made = decisions
	return 8, f.check(runID)
}

func (f *fakeAgent) Decide(_ context.Context, runID, etag string, made loop.DecisionMade) (agent.Decision, error) {
	d, err := f.Decision(context.Background(), runID, made.ID)
	if err == nil && (!d.Waits || d.Etag() != etag) {
		err = tool.Errorf(tool.KindConflict, "not that")
	}
	if err != nil {
		return agent.Decision{}, err
	}
	f.made, d.Waits, d.Made = []loop.DecisionMade{made}, false, &made
	return d, nil
}

func (f *fakeAgent) Extend(_ context.Context, runID string, e loop.DecisionExtended) (agent.Decision, error) {
	d, err := f.Decision(context.Background(), runID, e.ID)
	if err == nil && !d.Waits {
		err = tool.Errorf(tool.KindConflict, "not any more")
	}
	if err != nil {
		return agent.Decision{}, err
	}
	f.extended = append(f.extended, e)
	d.Expires = e.Expires
	return d, nil
}

func (f *fakeAgent) ListDecisions(_ context.Context, query agent.DecisionQuery) ([]agent.Decision, string, error) {
	f.decisions = query
	return f.inbox, "next", nil
}

func (f *fakeAgent) ListMade(_ context.Context, query agent.MadeQuery) ([]agent.Decision, string, error) {
	f.madeBy = query
	return f.inbox, "next", nil
}

func (f *fakeAgent) ChangedDecisions(context.Context, agent.DecisionQuery, int64) ([]agent.DecisionSet, int64, error) {
	return nil, 0, nil
}

func (f *fakeAgent) DecisionsChange() <-chan struct{} { return nil }

func (f *fakeAgent) Decision(_ context.Context, runID, id string) (agent.Decision, error) {
	for _, d := range f.inbox {
		if d.Run.ID == runID && d.ID == id {
			return d, nil
		}
	}
	return agent.Decision{}, agent.NoSuchRun(runID)
}

func (f *fakeAgent) ListRuns(_ context.Context, query agent.RunQuery) ([]agent.Run, string, error) {
	f.query = query
	if query.Size != 3 || query.Token != "t" {
		return nil, "", tool.Errorf(tool.KindInvalidArgument, "%+v", query)
	}
	return []agent.Run{f.run, {ID: "young"}}, "next", nil
}

// someone identifies each caller as the user of the test.
type someone struct{}

func (someone) Authenticate(context.Context, authn.Evidence) (authn.Verified, error) {
	return authn.Verified{Principal: identity.Principal{Tenant: identity.DefaultTenant, Name: authn.UserName(os.Getuid())}}, nil
}

func dial(t testing.TB, a agentserver.Agent) (*agentserver.Server, *grpc.ClientConn) {
	t.Helper()
	return dialTo(t, agentserver.Config{Agent: a})
}

// dialTo starts a server whose callers are the user of the test.
func dialTo(t testing.TB, c agentserver.Config) (*agentserver.Server, *grpc.ClientConn) {
	t.Helper()
	server, listener := serve(t, c)
	conn, err := grpc.NewClient("passthrough:///agentd", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return server, conn
}

// dialClient dials a server whose callers are the user of the test.
func dialClient(t testing.TB, a agentserver.Agent) *client.AgentClient {
	t.Helper()
	_, listener := serve(t, agentserver.Config{Agent: a})
	c, err := client.DialAgent("unix:///agentd", client.WithDialer(listener.DialContext), client.IgnoreEnvironment())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func serve(t testing.TB, c agentserver.Config) (*agentserver.Server, *bufconn.Listener) {
	listener := bufconn.Listen(1 << 16)
	c.Gate = gate.New(gate.Config{Rights: agentserver.Rights(), Authenticator: someone{}, Policy: gate.Always(gate.LocalPolicy())})
	server := agentserver.NewServer(c)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Shutdown
	t.Cleanup(func() {
		if err := errors.Join(server.Shutdown(context.Background()), <-served); err != nil {
			t.Error(err)
		}
	})
	return server, listener
}

func TestRequests(t *testing.T) {
	fake := &fakeAgent{run: agent.Run{
		ID: "r", Prompt: "hi", Model: "m", StopReason: loop.StopMaxCalls, StartTime: moment, UpdateTime: moment, LastSeq: 9, Turns: 2, Calls: 3,
		Usage: tool.Usage{InputTokens: 4},
	}}
	_, conn := dial(t, fake)
	client, ctx := agentdv1.NewAgentServiceClient(conn), t.Context()

	started, err := client.StartRun(ctx, &agentdv1.StartRunRequest{
		Prompt: "hi", RunId: "r", SystemPrompt: "s", Session: "x",
		Tools: &agentdv1.ToolChoice{Names: []string{"n"}, Categories: []string{"c"}, Tags: []string{"t"}},
		Limits: &agentdv1.Limits{
			MaxTurns: 1, MaxCalls: 2, MaxResponseTokens: 3, MaxTokens: 1 << 63, MaxCost: .5, MaxWallTime: durationpb.New(time.Minute),
			MaxOutput: 6, MaxFailures: 7, MaxTimeouts: 8, MaxRepeats: 9,
		},
		People:  &agentdv1.People{Attended: true, Expiry: durationpb.New(time.Hour), AskOutcome: true},
		Context: map[string][]byte{"k": []byte("1")}, ExplicitCompletion: true,
	})
	if err != nil || started.GetRunId() != "r" {
		t.Fatal(started, err)
	}
	want := loop.Task{
		Prompt: "hi", RunID: "r", SystemPrompt: "s", Session: "x",
		Tools: loop.ToolChoice{Names: []string{"n"}, Categories: []string{"c"}, Tags: []string{"t"}},
		Limits: loop.Limits{
			MaxTurns: 1, MaxCalls: 2, MaxResponseTokens: 3, MaxTokens: math.MaxInt64, MaxCost: .5, MaxWallTime: time.Minute,
			MaxOutput: 6, MaxFailures: 7, MaxTimeouts: 8, MaxRepeats: 9,
		},
		People:  &loop.People{Attended: true, Expiry: time.Hour, AskOutcome: true},
		Context: map[string]json.RawMessage{"k": []byte("1")}, ExplicitCompletion: new(true),
	}
	want.Principal = authn.UserName(os.Getuid())
	if diff := cmp.Diff(want, fake.task); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	sent, err := client.SendMessage(ctx, &agentdv1.SendMessageRequest{RunId: "r", Text: "more"})
	if err != nil || sent.GetSeq() != 7 || fake.text != "more" {
		t.Error(sent, err, fake.text)
	}
	once, err := client.SendMessage(ctx, &agentdv1.SendMessageRequest{RunId: "r", Text: "more", MessageId: "m1"})
	if want := (loop.MessageID{Text: "m1", Sender: want.Principal}); err != nil || once.GetSeq() != 7 || fake.messageID != want {
		t.Error(once, err, fake.messageID)
	}
	if _, err := client.CancelRun(ctx, &agentdv1.CancelRunRequest{RunId: "r", Reason: "why"}); err != nil || fake.text != "why (by "+authn.UserName(os.Getuid())+")" {
		t.Error(err, fake.text)
	}
	wantRun := &agentdv1.Run{
		RunId: "r", Prompt: "hi", Model: "m", State: agentdv1.RunState_RUN_STATE_FINISHED, StopReason: agentdv1.StopReason_STOP_REASON_MAX_CALLS,
		StartTime: timestamppb.New(moment), UpdateTime: timestamppb.New(moment), LastSeq: 9, Turns: 2, Calls: 3, Usage: &toolv1.Usage{InputTokens: 4},
	}
	got, err := client.GetRun(ctx, &agentdv1.GetRunRequest{RunId: "r"})
	if diff := cmp.Diff(wantRun, got.GetRun(), protocmp.Transform()); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	list, err := client.ListRuns(ctx, &agentdv1.ListRunsRequest{PageSize: 3, PageToken: "t"})
	if err != nil || len(list.GetRuns()) != 2 || list.GetNextPageToken() != "next" || list.GetRuns()[1].GetState() != agentdv1.RunState_RUN_STATE_RUNNING {
		t.Error(list, err)
	}
}

func TestErrors(t *testing.T) {
	_, conn := dial(t, &fakeAgent{})
	client, ctx := agentdv1.NewAgentServiceClient(conn), t.Context()
	for _, test := range []struct {
		id   string
		code codes.Code
		kind tool.Kind
	}{{"x", codes.NotFound, tool.KindNotFound}, {"panic", codes.Internal, tool.KindInternal}} {
		_, start := client.StartRun(ctx, &agentdv1.StartRunRequest{RunId: test.id})
		_, send := client.SendMessage(ctx, &agentdv1.SendMessageRequest{RunId: test.id})
		_, cancel := client.CancelRun(ctx, &agentdv1.CancelRunRequest{RunId: test.id})
		_, get := client.GetRun(ctx, &agentdv1.GetRunRequest{RunId: test.id})
		stream, err := client.WatchRun(ctx, &agentdv1.WatchRunRequest{RunId: test.id})
		if err != nil {
			t.Fatal(err)
		}
		_, watch := stream.Recv()
		for i, err := range []error{start, send, cancel, get, watch} {
			if status.Code(err) != test.code || toolpb.FromStatusError(err).Kind != test.kind {
				t.Errorf("%s %d: %v", test.id, i, err)
			}
		}
	}
	_, err := client.ListRuns(ctx, &agentdv1.ListRunsRequest{PageSize: -1})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("a negative page size: %v", err)
	}
}

func TestWatch(t *testing.T) {
	fake, want := &fakeAgent{events: watchedEvents()}, watchedOnTheWire()
	_, conn := dial(t, fake)
	client := agentdv1.NewAgentServiceClient(conn)
	for after, skip := range map[uint64]int{0: 0, 2: 7} {
		stream, err := client.WatchRun(t.Context(), &agentdv1.WatchRunRequest{RunId: "r", AfterSeq: after})
		if err != nil {
			t.Fatal(err)
		}
		var got []*agentdv1.RunEvent
		for {
			resp, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, resp.GetEvent())
		}
		if diff := cmp.Diff(want[skip:], got, protocmp.Transform()); diff != "" {
			t.Errorf("after %d (-want +got):\n%s", after, diff)
		}
	}
}

// watchedEvents returns the events of a run, one of each kind.
func watchedEvents() []loop.Event {
	assistant := &loop.AssistantMessage{
		Message:    model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{Text: &model.Text{Text: "look"}}}},
		Calls:      []loop.Call{{ID: "r.t1.c0", Tool: "echo", Arguments: "{bad"}},
		StopReason: model.StopToolUse, Usage: tool.Usage{OutputTokens: 5},
	}
	failed := &loop.CallResult{
		CallID: "r.t1.c0", Tool: "echo", Result: tool.ErrorResult("[crashed] gone"), Plugin: "p", Instance: "p-1",
		Failure: &loop.Failure{Kind: tool.KindCrashed, Message: "gone", RetryAfterMS: 1500, Plugin: "p", Instance: "p-1", Exit: &tool.Exit{Code: 2}},
	}
	return []loop.Event{
		{Seq: 1, Time: moment, Payload: &loop.RunStarted{RunID: "r", Prompt: "hi", Model: "m", Session: "s", ResponseSchema: []byte(`{"type":"object"}`)}},
		{Seq: 2, Index: 1, Payload: &loop.TextDelta{Text: "lo\xffok"}},
		{Seq: 2, Index: 2, Payload: &loop.TurnReset{Reason: "again", Attempt: 2}},
		{Seq: 2, Index: 3, Payload: &loop.ReasoningDelta{Text: "hm\xff"}},
		{Seq: 2, Index: 4, Payload: &loop.ArgumentDelta{CallID: "r.t1.c0", Tool: "echo", Text: "{b\xff"}},
		{Seq: 2, Index: 5, Payload: &loop.AnswerDelta{Answer: []byte(`{"a":1}`)}},
		{Seq: 2, Payload: assistant},
		{Seq: 3, Payload: &loop.CallStarted{CallID: "r.t1.c0", Tool: "echo"}},
		{Seq: 4, Index: 1, Payload: &loop.CallStatus{CallID: "r.t1.c0", Tool: "echo", Status: tool.Status{State: tool.StatusDoing}}},
		{Seq: 4, Payload: failed},
		{Seq: 5, Payload: &loop.UserMessage{Text: "hm"}},
		{Seq: 6, Payload: &loop.CancelRequested{Reason: "enough"}},
		{Seq: 7, Payload: &loop.RunFinished{StopReason: loop.StopCancelled, Message: "enough", Text: "look", Turns: 1, Calls: 1, Usage: tool.Usage{OutputTokens: 5}, Result: []byte(`{"a":1}`)}},
	}
}

// watchedOnTheWire returns watchedEvents as a caller gets them.
func watchedOnTheWire() []*agentdv1.RunEvent {
	return []*agentdv1.RunEvent{
		{Seq: 1, Time: timestamppb.New(moment), Event: &agentdv1.RunEvent_RunStarted{RunStarted: &agentdv1.RunStarted{RunId: "r", Prompt: "hi", Model: "m", Session: "s", ResponseSchema: []byte(`{"type":"object"}`)}}},
		{Seq: 2, Index: 1, Event: &agentdv1.RunEvent_TextDelta{TextDelta: &agentdv1.TextDelta{Text: "lo\uFFFDok"}}},
		{Seq: 2, Index: 2, Event: &agentdv1.RunEvent_TurnReset{TurnReset: &agentdv1.TurnReset{Reason: "again", Attempt: 2}}},
		{Seq: 2, Index: 3, Event: &agentdv1.RunEvent_ReasoningDelta{ReasoningDelta: &agentdv1.ReasoningDelta{Text: "hm\uFFFD"}}},
		{Seq: 2, Index: 4, Event: &agentdv1.RunEvent_ArgumentDelta{ArgumentDelta: &agentdv1.ArgumentDelta{CallId: "r.t1.c0", Tool: "echo", Text: "{b\uFFFD"}}},
		{Seq: 2, Index: 5, Event: &agentdv1.RunEvent_AnswerDelta{AnswerDelta: &agentdv1.AnswerDelta{Answer: []byte(`{"a":1}`)}}},
		{Seq: 2, Event: &agentdv1.RunEvent_AssistantMessage{AssistantMessage: &agentdv1.AssistantMessage{
			Text: "look", StopReason: "tool_use", Usage: &toolv1.Usage{OutputTokens: 5},
			Calls: []*agentdv1.ToolCall{{CallId: "r.t1.c0", Tool: "echo", Arguments: []byte("{bad")}},
		}}},
		{Seq: 3, Event: &agentdv1.RunEvent_CallStarted{CallStarted: &agentdv1.CallStarted{CallId: "r.t1.c0", Tool: "echo"}}},
		{Seq: 4, Index: 1, Event: &agentdv1.RunEvent_CallStatus{CallStatus: &agentdv1.CallStatus{
			CallId: "r.t1.c0", Tool: "echo", Status: &toolv1.Status{State: toolv1.StatusState_STATUS_STATE_DOING},
		}}},
		{Seq: 4, Event: &agentdv1.RunEvent_CallResult{CallResult: &agentdv1.CallResult{
			CallId: "r.t1.c0", Tool: "echo", Plugin: "p", Instance: "p-1",
			Result: &toolv1.Result{IsError: true, Content: []*toolv1.Content{{Block: &toolv1.Content_Text{Text: "[crashed] gone"}}}},
			Error: &toolv1.Error{
				Kind: toolv1.ErrorKind_ERROR_KIND_CRASHED, Message: "gone", RetryAfter: durationpb.New(1500 * time.Millisecond),
				CallId: "r.t1.c0", Plugin: "p", Instance: "p-1", Exit: &toolv1.Exit{Code: 2},
			},
		}}},
		{Seq: 5, Event: &agentdv1.RunEvent_UserMessage{UserMessage: &agentdv1.UserMessage{Text: "hm"}}},
		{Seq: 6, Event: &agentdv1.RunEvent_CancelRequested{CancelRequested: &agentdv1.CancelRequested{Reason: "enough"}}},
		{Seq: 7, Event: &agentdv1.RunEvent_RunFinished{RunFinished: &agentdv1.RunFinished{
			StopReason: agentdv1.StopReason_STOP_REASON_CANCELLED, Message: "enough", Text: "look", Turns: 1, Calls: 1, Usage: &toolv1.Usage{OutputTokens: 5},
			Result: []byte(`{"a":1}`),
		}}},
	}
}

// Each stop reason has its own value on the wire.
func TestStopReasons(t *testing.T) {
	reasons := []loop.StopReason{
		loop.StopEndTurn, loop.StopMaxTokens, loop.StopRefusal, loop.StopContentFilter, loop.StopContextOverflow, loop.StopMaxTurns,
		loop.StopMaxCalls, loop.StopCancelled, loop.StopModelError, loop.StopReturnDirect, loop.StopInternalError,
		loop.StopCompleted, loop.StopTokenBudget, loop.StopCostBudget, loop.StopWallTime, loop.StopOutputSize, loop.StopFailures,
		loop.StopTimeouts, loop.StopRepetition, loop.StopNoToolCalls, loop.StopInvalidAnswer, loop.StopEmptyResponse, loop.StopCallAsText,
	}
	fake := &fakeAgent{}
	_, conn := dial(t, fake)
	seen := map[agentdv1.StopReason]bool{agentdv1.StopReason_STOP_REASON_UNSPECIFIED: true}
	for _, reason := range reasons {
		fake.run = agent.Run{ID: "r", StopReason: reason}
		resp, err := agentdv1.NewAgentServiceClient(conn).GetRun(t.Context(), &agentdv1.GetRunRequest{RunId: "r"})
		if got := resp.GetRun().GetStopReason(); err != nil || seen[got] {
			t.Errorf("%s is %s on the wire, %v", reason, got, err)
		} else {
			seen[got] = true
		}
	}
	if len(seen) != len(agentdv1.StopReason_name) {
		t.Errorf("%d of %d words are used", len(seen), len(agentdv1.StopReason_name))
	}
}

func TestHealthAndShutdown(t *testing.T) {
	server, conn := dial(t, &fakeAgent{})
	resp, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{Service: agentdv1.AgentService_ServiceDesc.ServiceName})
	if err != nil || resp.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", resp, err)
	}
	stream, err := agentdv1.NewAgentServiceClient(conn).WatchRun(t.Context(), &agentdv1.WatchRunRequest{RunId: "r", AfterSeq: 1001})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Shutdown(now); !errors.Is(err, context.Canceled) {
		t.Errorf("shutting down with a watch open: %v", err)
	}
	if _, err := stream.Recv(); err == nil {
		t.Error("the watch goes on")
	}
}
