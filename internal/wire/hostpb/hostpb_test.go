package hostpb_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/tool"
)

var moment = time.Date(2026, 2, 3, 4, 5, 6, 7, time.UTC)

// checkSet fails if a field of a struct is zero, so that a new field cannot be forgotten. skip
// names the fields that are not converted.
func checkSet(t *testing.T, v any, skip ...string) {
	t.Helper()
	s := reflect.ValueOf(v)
	for i := range s.NumField() {
		if name := s.Type().Field(i).Name; s.Field(i).IsZero() && !strings.Contains(" "+strings.Join(skip, " ")+" ", " "+name+" ") {
			t.Errorf("the test leaves %s.%s out", s.Type(), name)
		}
	}
}

func trip[V any, M proto.Message](t *testing.T, v V, from func(V) M, to func(M) V) {
	t.Helper()
	data, err := proto.Marshal(from(v))
	if err != nil {
		t.Fatal(err)
	}
	m := from(v).ProtoReflect().New().Interface().(M)
	if err := proto.Unmarshal(data, m); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v, to(m)); diff != "" {
		t.Errorf("(-sent +got):\n%s", diff)
	}
}

func TestRoundTripKeepsEveryField(t *testing.T) {
	yes, cost := true, 0.5
	info := tool.Info{Spec: tool.Spec{Name: "n", Description: "d"}, Plugin: "p", PluginVersion: "v", UnavailableReason: "r", Filters: []string{"f"}}
	query := tool.Query{
		Names: []string{"n"}, Categories: []string{"c"}, Tags: []string{"t"}, Plugins: []string{"p"}, Excluded: []string{"x"}, Dangerous: &yes, MaxCostPerUse: &cost,
		MaxTools: 7, Session: "s", Context: map[string]json.RawMessage{"k": json.RawMessage(`1`)},
	}
	plugin := tool.PluginInfo{
		Name: "n", Version: "v", Description: "d", Path: "p", Digest: "g", State: tool.PluginQuarantined, Reason: "r",
		Tools: []string{"t"}, Instances: 2, Launches: 3, LastExit: &tool.Exit{Code: 4}, Warnings: []string{"w"},
		RecentExits: []tool.PluginExit{{Instance: "i", Time: moment, Exit: tool.Exit{Code: 5}, Expected: true, Calls: []tool.ExitCall{{CallID: "c", Tool: "t", Session: "s", Principal: "uid:3", StartTime: moment, ArgumentsDigest: "ab"}}, Tenant: "red", HiddenCalls: 2, Unhealthy: true}},
		RetryTime:   moment, PreviousDigest: "h", PinnedDigest: "l",
		Refusal: &tool.PluginRefusal{Digest: "f", Reason: "r", Locked: true, Name: "m"}, Filters: []string{"x"}, OwnFilters: []tool.OwnFilter{{Name: "x", Tools: []string{"t"}}},
		SDK:         &tool.SDKInfo{Name: "s", Version: "v"},
		Permissions: &tool.Permissions{Network: true, Workspace: tool.AccessRead, Read: []string{"/r"}, Write: []string{"/w"}},
		Ungranted:   []tool.Ungranted{{Request: "r", Grant: "g"}}, Isolation: "session", Workspace: tool.AccessRead, WorkspaceBackend: "memory",
	}
	instance := tool.InstanceInfo{
		ID: "i", Plugin: "p", State: tool.InstanceDraining, PID: 5, Calls: 6, TotalCalls: 7, StartTime: moment,
		RSSBytes: 8, Digest: "g", Tenant: "red",
		Limits: []tool.EffectiveLimit{{Name: "memory", Value: "1", Mechanism: "none", Note: "n"}},
		Sandbox: &tool.Sandbox{
			Mode: "on", Network: true, Workspace: tool.AccessWrite, WorkspaceBackend: "remote", Read: []string{"/r"}, Write: []string{"/w"},
			Layers: []tool.SandboxLayer{{Name: "files", Effective: true, Mechanism: "m", Note: "n"}},
		},
	}
	restarted := tool.Restarted{Stopped: []string{"a"}, Started: []string{"b"}}
	checkSet(t, info)
	checkSet(t, query, "Principal", "Groups") // the server derives them from the connection
	checkSet(t, plugin)
	checkSet(t, instance)
	checkSet(t, restarted)
	checkSet(t, plugin.RecentExits[0])
	checkSet(t, *plugin.Refusal)
	checkSet(t, instance.Limits[0])
	checkSet(t, *instance.Sandbox)
	checkSet(t, instance.Sandbox.Layers[0])
	checkSet(t, *plugin.Permissions)
	checkSet(t, plugin.Ungranted[0])
	trip(t, info, hostpb.FromInfo, hostpb.ToInfo)
	trip(t, query, hostpb.FromSelection, hostpb.ToSelection)
	trip(t, []tool.Match{{Info: info, Score: 0.5}}, hostpb.FromMatches, hostpb.ToMatches)
	trip(t, tool.Rendered{Content: []byte("c"), MediaType: "m", Tools: []string{"t"}}, hostpb.FromRendered, hostpb.ToRendered)
	trip(t, plugin, hostpb.FromPlugin, hostpb.ToPlugin)
	trip(t, instance, hostpb.FromInstance, hostpb.ToInstance)
	trip(t, restarted, hostpb.FromRestarted, hostpb.ToRestarted)
}

func TestRoundTripKeepsEveryFieldOfOperation(t *testing.T) {
	event := tool.PluginEvent{
		Seq: 1, Time: moment, Type: "plugin_backing_off", Plugin: "p", Instance: "i", Digest: "d", Reason: "r",
		Until: moment.Add(time.Second), Tenant: "red",
	}
	line := tool.LogLine{Seq: 2, Plugin: "p", Instance: "i", CallID: "c", Tenant: "red", Record: tool.LogRecord{
		Time: moment, Level: tool.LogError, Message: "m", Attributes: map[string]json.RawMessage{"k": json.RawMessage(`1`)},
	}}
	stats := tool.Stats{
		Tool: "t", Plugin: "p", Calls: 7, Succeeded: 1, ToolErrors: 2, NeedsApproval: 1, Failures: map[tool.Kind]uint64{tool.KindTimeout: 3},
		TotalDuration: 4 * time.Second, MeanDuration: time.Second, P50: time.Millisecond, P99: time.Minute, TotalCost: 1.5,
	}
	reloaded := tool.Reloaded{
		Added: []string{"a"}, Removed: []string{"b"}, Upgraded: []string{"c"},
		Failures:      []tool.ReloadFailure{{Plugin: "p", Reason: "r"}},
		Configuration: &tool.ConfigurationChange{File: "f", Keys: []string{"k"}, Changes: []tool.SettingChange{{Key: "k", Old: "o", New: "n", Restart: true}}, Problem: "p"},
	}
	upgraded := tool.Upgraded{Digest: "d", PreviousDigest: "p"}
	checkSet(t, reloaded)
	checkSet(t, reloaded.Failures[0])
	checkSet(t, *reloaded.Configuration)
	checkSet(t, upgraded)
	trip(t, reloaded, hostpb.FromReloaded, hostpb.ToReloaded)
	trip(t, upgraded, hostpb.FromUpgraded, hostpb.ToUpgraded)
	trip(t, tool.LockFile{Path: "/p", Enforced: true}, hostpb.FromLockFile, hostpb.ToLockFile)
	trip(t, upgraded, hostpb.FromRolledBack, hostpb.ToRolledBack)
	events := tool.EventQuery{Plugin: "p", After: 1, Follow: true, Since: moment, Tenants: tool.Tenants{"red"}}
	logs := tool.LogQuery{Plugin: "p", CallID: "c", Last: 2, Follow: true, Tenants: tool.Tenants{"red"}}
	checkSet(t, event)
	checkSet(t, line)
	checkSet(t, line.Record)
	checkSet(t, stats)
	checkSet(t, events)
	checkSet(t, logs)
	trip(t, event, hostpb.FromPluginEvent, hostpb.ToPluginEvent)
	trip(t, line, hostpb.FromLogLine, hostpb.ToLogLine)
	trip(t, stats, hostpb.FromStats, hostpb.ToStats)
	trip(t, events, hostpb.FromEventQuery, hostpb.ToEventQuery)
	trip(t, logs, hostpb.FromLogQuery, hostpb.ToLogQuery)
}

func TestCallKeepsEveryFieldButPrincipalAndTime(t *testing.T) {
	want := tool.Call{
		ID: "i", Tool: "t", Arguments: json.RawMessage(`{}`), Session: "s", Timeout: time.Second,
		ApprovalWait: new(3 * time.Second),
		Approval:     &tool.Approval{ApprovedBy: "a", Reason: "r", Time: moment, Arguments: json.RawMessage(`{"a":1}`), ArgumentsSHA256: "d", SessionMove: "4f1c"},
		Context:      map[string]json.RawMessage{"k": json.RawMessage(`1`)}, Traceparent: "00-1", MaxShown: new(9), OutcomeOnly: true,
		Ledger: "0a1b", FirstSent: time.Unix(1700000000, 5).UTC(),
		Answers: []tool.QuestionKind{tool.QuestionPerson, tool.QuestionModel, tool.QuestionRoots},
		Agent:   "a", Run: "r", Supersedes: []string{"h"},
	}
	checkSet(t, want, "Principal", "Groups", "Via", "From")
	checkSet(t, *want.Approval, "Approver", "ApproverGroups")
	sent, approval := want, *want.Approval
	sent.Principal, sent.Groups, sent.Via, sent.Approval = "uid:0", []string{"g"}, "uid:1", &approval
	approval.Approver, approval.ApproverGroups = "red/ada", []string{"leads"}
	options := hostpb.FromCall(sent)
	if p := options.GetApproval().GetApprover(); p.GetTenant() != "red" || p.GetName() != "ada" || !slices.Equal(p.GetGroups(), []string{"leads"}) {
		t.Errorf("the approver is sent as %v", p)
	}
	got, err := hostpb.ToCall("t", want.Arguments, options)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, d := range []time.Duration{0, -time.Second} {
		_, err := hostpb.ToCall("t", nil, &toolhostv1.CallOptions{Timeout: durationpb.New(d)})
		if tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("a timeout of %s gives %v", d, err)
		}
	}
}

func TestRoundTripKeepsEveryFieldOfCalls(t *testing.T) {
	record := tool.CallRecord{
		CallID: "c", Principal: "uid:1", Session: "s", Tool: "t", Plugin: "p", Instance: "i", State: tool.CallFailed,
		Err: &tool.Error{Kind: tool.KindTimeout, Message: "m"}, StartTime: moment, EndTime: moment.Add(time.Second), Node: "n",
		Settled: &tool.Settlement{Verdict: tool.VerdictDidNotHappen, Reason: "r"},
	}
	query := tool.CallQuery{Plugin: "p", Tool: "t", Session: "s", CallID: "c", State: tool.CallRunning, Since: moment, PageSize: 5, PageToken: "x", Tenants: tool.Tenants{"red"}}
	piece := tool.ArtifactPiece{Data: []byte("d"), MediaType: "m", Size: 7, Name: "n"}
	checkSet(t, record)
	checkSet(t, query)
	checkSet(t, piece)
	trip(t, record, hostpb.FromCallRecord, hostpb.ToCallRecord)
	trip(t, query, hostpb.FromCallQuery, hostpb.ToCallQuery)
	trip(t, piece, hostpb.FromArtifactPiece, hostpb.ToArtifactPiece)
	for value := range toolhostv1.CallState_name {
		q := hostpb.ToCallQuery(&toolhostv1.ListCallsRequest{State: toolhostv1.CallState(value)})
		if (value != 0) != (q.State != "") || int32(hostpb.FromCallQuery(q).GetState()) != value {
			t.Errorf("state %d is %q", value, q.State)
		}
	}
	for value := range toolhostv1.ToolFormat_name {
		f := hostpb.ToFormat(toolhostv1.ToolFormat(value))
		if (value != 0) != (f != "") || int32(hostpb.FromFormat(f)) != value {
			t.Errorf("format %d is %q", value, f)
		}
	}
}

func TestEveryStateHasAWord(t *testing.T) {
	plugin := map[tool.PluginState]bool{
		tool.PluginEnabled: true, tool.PluginPaused: true, tool.PluginBackingOff: true, tool.PluginQuarantined: true,
		tool.PluginDisabled: true, tool.PluginUnusable: true,
	}
	for value := range toolhostv1.PluginState_name {
		m := &toolhostv1.Plugin{State: toolhostv1.PluginState(value)}
		p := hostpb.ToPlugin(m)
		if (value != 0) != plugin[p.State] || hostpb.FromPlugin(p).GetState() != m.GetState() {
			t.Errorf("%s is %q", m.GetState(), p.State)
		}
	}
	instance := map[tool.InstanceState]bool{
		tool.InstanceQueued: true, tool.InstanceVerifying: true, tool.InstanceStarting: true,
		tool.InstanceHandshaking: true, tool.InstanceWarming: true, tool.InstanceReady: true,
		tool.InstanceUnhealthy: true, tool.InstanceDraining: true, tool.InstanceStopping: true,
		tool.InstanceExited: true,
	}
	for value := range toolhostv1.InstanceState_name {
		m := &toolhostv1.Instance{State: toolhostv1.InstanceState(value)}
		i := hostpb.ToInstance(m)
		if (value != 0) != instance[i.State] || hostpb.FromInstance(i).GetState() != m.GetState() {
			t.Errorf("%s is %q", m.GetState(), i.State)
		}
	}
	if got := hostpb.FromPlugin(tool.PluginInfo{State: "newer"}).GetState(); got != 0 {
		t.Errorf("an unknown word is %s", got)
	}
}

// travel converts an event to messages and back.
func travel(t *testing.T, e tool.Event) (got []tool.Event, messages int) {
	t.Helper()
	var j hostpb.Joiner
	for m := range hostpb.FromEvent(e) {
		messages++
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > hostpb.MaxMessageBytes {
			t.Fatalf("a message has %d bytes", len(data))
		}
		var back toolhostv1.CallEvent
		if err := proto.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if e, ok := j.Add(&back); ok {
			got = append(got, e)
		}
	}
	return got, messages
}

func TestEventRoundTrip(t *testing.T) {
	big := strings.Repeat("ü", hostpb.ChunkBytes) // 128 KiB, split inside a character
	events := []tool.Event{
		{Started: &tool.Started{CallID: "c", Plugin: "p", Instance: "i", Attempt: 2}},
		{Status: &tool.Status{State: tool.StatusDoing, Message: "t"}},
		{Log: &tool.LogRecord{Level: tool.LogWarn, Message: "m"}},
		{Ended: &tool.Outcome{CallID: "c", Plugin: "p", Instance: "i", Replayed: true, Result: tool.TextResult("x")}},
		{Ended: &tool.Outcome{CallID: "c", Err: &tool.Error{Kind: tool.KindDenied, Message: "no"}}},
		{Ended: &tool.Outcome{CallID: "c", Result: tool.Result{Content: []tool.Content{
			tool.Text("x" + big), tool.JSON(json.RawMessage(`"` + big + `"`)), tool.Text("small"), tool.Image("image/png", []byte(big)),
			tool.File("f", "text/plain", []byte(big)),
			{Kind: tool.ContentArtifact, Artifact: &tool.Artifact{Handle: "h"}},
		}}}},
	}
	for _, want := range events {
		want.Seq, want.Time = 3, moment
		got, _ := travel(t, want)
		if diff := cmp.Diff([]tool.Event{want}, got, cmp.Comparer(bytes.Equal)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestManyMiddlingBlocksFit(t *testing.T) {
	var want tool.Result
	for range 100 {
		want.Content = append(want.Content, tool.Text(strings.Repeat("x", hostpb.ChunkBytes)))
	}
	got, messages := travel(t, tool.Event{Ended: &tool.Outcome{Result: want}})
	if len(got) != 1 || messages != 100 {
		t.Fatalf("%d events in %d messages, want 1 in 100: 99 pieces and the end", len(got), messages)
	}
	if diff := cmp.Diff(want, got[0].Ended.Result); diff != "" {
		t.Error("the result came back different")
	}
}

func TestAnOversizedEventIsReplaced(t *testing.T) {
	huge := json.RawMessage(`"` + strings.Repeat("x", hostpb.MaxMessageBytes) + `"`)
	got, _ := travel(t, tool.Event{Seq: 9, Status: &tool.Status{Result: huge}})
	if len(got) != 1 || got[0].Seq != 9 || got[0].Log == nil || !strings.Contains(got[0].Log.Message, "left out") {
		t.Errorf("a huge status became %+v", got)
	}
	got, _ = travel(t, tool.Event{Ended: &tool.Outcome{CallID: "c", Plugin: "p", Result: tool.Result{
		Content: []tool.Content{tool.Text("x")}, Effects: []tool.Effect{{Key: "k", Value: huge}},
	}}})
	if len(got) != 1 || got[0].Ended.Err == nil || got[0].Ended.Err.Kind != tool.KindInternal || got[0].Ended.CallID != "c" {
		t.Errorf("huge effects became %+v", got[0].Ended)
	}
}

func TestJoinerSurvivesAPeerThatBreaksTheContract(t *testing.T) {
	piece := func(index uint32) *toolhostv1.CallEvent {
		return &toolhostv1.CallEvent{Event: &toolhostv1.CallEvent_Chunk{Chunk: &toolhostv1.ContentChunk{Index: index, Data: []byte("x")}}}
	}
	end := func(r *toolv1.Result) *toolhostv1.CallEvent {
		return &toolhostv1.CallEvent{Event: &toolhostv1.CallEvent_Ended{Ended: &toolhostv1.CallEnded{
			CallId: "c", Outcome: &toolhostv1.CallEnded_Result{Result: r},
		}}}
	}
	for name, messages := range map[string][]*toolhostv1.CallEvent{
		"no such block":   {piece(1 << 31), end(&toolv1.Result{Content: []*toolv1.Content{{Block: &toolv1.Content_Text{}}}})},
		"block not set":   {piece(0), end(&toolv1.Result{Content: []*toolv1.Content{{}}})},
		"nil block":       {piece(0), end(&toolv1.Result{Content: []*toolv1.Content{nil}})},
		"image not set":   {piece(0), end(&toolv1.Result{Content: []*toolv1.Content{{Block: &toolv1.Content_Image{}}}})},
		"artifact":        {piece(0), end(&toolv1.Result{Content: []*toolv1.Content{{Block: &toolv1.Content_Artifact{}}}})},
		"without outcome": {{Event: &toolhostv1.CallEvent_Ended{Ended: &toolhostv1.CallEnded{CallId: "c"}}}},
		"nil end":         {{Event: &toolhostv1.CallEvent_Ended{}}},
	} {
		var j hostpb.Joiner
		var last tool.Event
		for _, m := range messages {
			if e, ok := j.Add(m); ok {
				last = e
			}
		}
		if last.Ended == nil || last.Ended.Err == nil || last.Ended.Err.Kind != tool.KindInternal {
			t.Errorf("%s: %+v", name, last.Ended)
		}
	}
	var j hostpb.Joiner
	if e, ok := j.Add(&toolhostv1.CallEvent{}); ok {
		t.Errorf("an event of an unknown kind became %+v", e)
	}
	if _, ok := j.Add(nil); ok {
		t.Error("nil became an event")
	}
}

// An older toolhost says that a call that a person has to approve failed.
func TestTheStateOfAnOlderToolhost(t *testing.T) {
	for kind, want := range map[tool.Kind]tool.CallState{tool.KindApprovalRequired: tool.CallNeedsApproval, tool.KindTimeout: tool.CallFailed} {
		m := hostpb.FromCallRecord(tool.CallRecord{State: tool.CallFailed, Err: &tool.Error{Kind: kind}})
		if got := hostpb.ToCallRecord(m).State; got != want {
			t.Errorf("%s: %s", kind, got)
		}
	}
}
