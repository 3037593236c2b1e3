package toolpb_test

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

var values = map[string]json.RawMessage{"a": json.RawMessage(`1`), "b": json.RawMessage(`{"x":[]}`)}

func fullSpec() tool.Spec {
	return tool.Spec{
		Name: "read_file", Version: "1.2.3", DisplayName: "Read", Description: "Reads.", Category: "files",
		Tags: []string{"fs", "io"}, InputSchema: json.RawMessage(`{"type":"object"}`),
		OutputSchema:  json.RawMessage(`{"type":"string"}`),
		InputExamples: []tool.InputExample{{Description: "one", Arguments: json.RawMessage(`{"path":"a"}`)}},
		Timeout:       3 * time.Second, ProgressExtendsTimeout: true,
		Retry:              tool.RetryPolicy{MaxAttempts: 3, InitialBackoff: time.Millisecond, MaxBackoff: time.Second},
		RateLimitPerMinute: 60, MemoryLimitBytes: 1 << 33, CostPerUse: 0.25, RequiresAuth: []string{"TOKEN"},
		SandboxExempt: true, PartialArguments: true, Dangerous: true, ReadOnly: true, Idempotent: true, Serial: true,
		ReturnDirect: true, Strict: true, Dynamic: true, Settles: true, Seals: true, Parallel: true, ContextKeys: []string{"todos"}, EffectKeys: []string{"e"}, Metadata: values,
	}
}

func fullExit() *tool.Exit {
	return &tool.Exit{Code: -1, Signal: "SIGKILL", OutOfMemory: true, Reason: "why", LastStderr: []string{"x", "y"}}
}

func fullError() *tool.Error {
	return &tool.Error{
		Kind: tool.KindCrashed, Message: "it fell", RetryAfter: time.Second, CallID: "c1", Plugin: "fs",
		Instance: "fs-1", Exit: fullExit(), Rule: "no-writes", Arguments: []byte(`{"a":1}`), ArgumentsSHA256: "d", DefinitionSHA256: "d1", Decision: "calls/a", SessionMove: "4f1c", ApproverGroups: []string{"finance"}, Cost: 2.5, FourEyes: true,
	}
}

func fullResult() tool.Result {
	return tool.Result{
		Content: []tool.Content{tool.Text("hello")}, IsError: true,
		Effects:  []tool.Effect{{Key: "k", Operation: tool.EffectMerge, Value: json.RawMessage(`{}`)}},
		Duration: time.Minute, Cost: 0.5, Metadata: values,
		Usage: tool.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4},
	}
}

func fullStatus() tool.Status {
	return tool.Status{
		State: tool.StatusDoing, Message: "message", Parameters: json.RawMessage(`{"a":1}`),
		Progress: &tool.Progress{Done: 1, Total: 2, Message: "half"}, Result: json.RawMessage(`"r"`),
	}
}

func fullLog() tool.LogRecord {
	return tool.LogRecord{
		Time: time.Unix(1700000000, 42).UTC(), Level: tool.LogWarn, Message: "m", Attributes: values,
	}
}

// trip converts v to its message, encodes and decodes the message, converts it back, and checks
// that nothing is lost. With full, it also checks that v leaves no field unset, so that a new field
// cannot be forgotten.
func trip[T any, M proto.Message](t *testing.T, v T, full bool, from func(T) M, to func(M) T) {
	t.Helper()
	msg := from(v)
	data, err := proto.Marshal(msg)
	if err != nil {
		t.Fatalf("marshalling: %v", err)
	}
	decoded := msg.ProtoReflect().New().Interface().(M)
	if err := proto.Unmarshal(data, decoded); err != nil {
		t.Fatalf("unmarshalling: %v", err)
	}
	if diff := cmp.Diff(v, to(decoded)); diff != "" {
		t.Errorf("after the trip (-sent +got):\n%s", diff)
	}
	if full {
		checkSet(t, reflect.ValueOf(v), reflect.TypeOf(v).String())
		checkPopulated(t, msg.ProtoReflect())
	}
}

func checkSet(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]() {
		return
	}
	for i := range v.NumField() {
		name := path + "." + v.Type().Field(i).Name
		if name == "*tool.Error.Err" {
			continue // documented as not converted
		}
		if v.Field(i).IsZero() {
			t.Errorf("%s is not set in the fixture", name)
		}
		if v.Type() != reflect.TypeFor[tool.Content]() {
			checkSet(t, v.Field(i), name)
		}
	}
}

func checkPopulated(t *testing.T, m protoreflect.Message) {
	t.Helper()
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.ContainingOneof() == nil && !m.Has(f) {
			t.Errorf("%s is not populated by the conversion", f.FullName())
		}
		if f.Message() != nil && !f.IsList() && !f.IsMap() && m.Has(f) && f.Message().ParentFile().Package() == "toolhost.tool.v1" {
			checkPopulated(t, m.Get(f).Message())
		}
	}
}

func TestRoundTripKeepsEveryField(t *testing.T) {
	t.Run("spec", func(t *testing.T) { trip(t, fullSpec(), true, toolpb.FromSpec, toolpb.ToSpec) })
	t.Run("result", func(t *testing.T) { trip(t, fullResult(), true, toolpb.FromResult, toolpb.ToResult) })
	t.Run("effect", func(t *testing.T) {
		trip(t, fullResult().Effects[0], true, toolpb.FromEffect, toolpb.ToEffect)
	})
	t.Run("usage", func(t *testing.T) { trip(t, fullResult().Usage, true, toolpb.FromUsage, toolpb.ToUsage) })
	t.Run("status", func(t *testing.T) { trip(t, fullStatus(), true, toolpb.FromStatus, toolpb.ToStatus) })
	t.Run("progress", func(t *testing.T) {
		trip(t, *fullStatus().Progress, true, toolpb.FromProgress, toolpb.ToProgress)
	})
	t.Run("log", func(t *testing.T) { trip(t, fullLog(), true, toolpb.FromLogRecord, toolpb.ToLogRecord) })
	t.Run("error", func(t *testing.T) { trip(t, fullError(), true, toolpb.FromError, toolpb.ToError) })
	t.Run("exit", func(t *testing.T) { trip(t, fullExit(), true, toolpb.FromExit, toolpb.ToExit) })
}

func TestRoundTripOfZeroValues(t *testing.T) {
	trip(t, tool.Spec{}, false, toolpb.FromSpec, toolpb.ToSpec)
	trip(t, tool.Result{}, false, toolpb.FromResult, toolpb.ToResult)
	trip(t, tool.Status{}, false, toolpb.FromStatus, toolpb.ToStatus)
	trip(t, tool.Content{}, false, toolpb.FromContent, toolpb.ToContent)
}

func TestContentRoundTrip(t *testing.T) {
	artifact := &tool.Artifact{Handle: "h", MediaType: "text/plain", Name: "n", Size: 1 << 40, Head: "he", Tail: "ta"}
	checkSet(t, reflect.ValueOf(artifact), "artifact")
	for _, c := range []tool.Content{
		tool.Text("text"), tool.Text(""), tool.JSON(json.RawMessage(`[1]`)),
		{Kind: tool.ContentImage, MediaType: "image/png", Name: "a.png", Data: []byte{0, 0xff}},
		tool.File("f.bin", "application/octet-stream", []byte{1}),
		{Kind: tool.ContentText, Text: "{}", URI: "test://a", MediaType: "application/json"},
		{Kind: tool.ContentFile, Name: "f.bin", MediaType: "application/octet-stream", Data: []byte{1}, URI: "test://f.bin"},
		{Kind: tool.ContentArtifact, Artifact: artifact},
	} {
		t.Run(string(c.Kind), func(t *testing.T) { trip(t, c, false, toolpb.FromContent, toolpb.ToContent) })
	}
}

func TestEnumsRoundTrip(t *testing.T) {
	for _, s := range []tool.StatusState{"", tool.StatusWait, tool.StatusDoing, tool.StatusSuccess, tool.StatusError} {
		trip(t, tool.Status{State: s}, false, toolpb.FromStatus, toolpb.ToStatus)
	}
	for _, l := range []tool.LogLevel{tool.LogDebug, tool.LogInfo, tool.LogWarn, tool.LogError} {
		trip(t, tool.LogRecord{Level: l}, false, toolpb.FromLogRecord, toolpb.ToLogRecord)
	}
	for _, o := range []tool.EffectOperation{tool.EffectReplace, tool.EffectAppend, tool.EffectMerge} {
		trip(t, tool.Effect{Operation: o}, false, toolpb.FromEffect, toolpb.ToEffect)
	}
}

func TestUnknownAndMissingReadAsNotSet(t *testing.T) {
	if got := toolpb.ToStatus(&toolv1.Status{State: 99}); got.State != "" {
		t.Errorf("state %q", got.State)
	}
	if got := toolpb.ToLogRecord(&toolv1.LogRecord{Level: 99}); got.Level != tool.LogInfo {
		t.Errorf("level %q", got.Level)
	}
	if got := toolpb.ToEffect(&toolv1.Effect{Operation: 99}); got.Operation != tool.EffectReplace {
		t.Errorf("operation %q", got.Operation)
	}
	if got := toolpb.ToError(&toolv1.Error{Kind: 99}); got.Kind != tool.KindInternal {
		t.Errorf("kind %q", got.Kind)
	}
	nils := tool.Result{Content: []tool.Content{{}}, Effects: []tool.Effect{{Operation: tool.EffectReplace}}}
	got := toolpb.ToResult(&toolv1.Result{Content: []*toolv1.Content{nil}, Effects: []*toolv1.Effect{nil}})
	if diff := cmp.Diff(nils, got); diff != "" {
		t.Errorf("nil elements (-want +got):\n%s", diff)
	}
	if got := toolpb.ToContent(&toolv1.Content{Block: &toolv1.Content_Image{}}); got.Kind != tool.ContentImage {
		t.Errorf("nil image: %+v", got)
	}
	if got := toolpb.FromContent(tool.Content{Kind: tool.ContentArtifact}); got.GetArtifact() == nil {
		t.Errorf("artifact without its pointer: %v", got)
	}
	if toolpb.FromError(nil) != nil || toolpb.ToError(nil) != nil || toolpb.FromExit(nil) != nil || toolpb.ToExit(nil) != nil {
		t.Error("nil does not stay nil")
	}
	toolpb.ToSpec(nil)
	toolpb.ToResult(nil)
	toolpb.ToStatus(nil)
	toolpb.ToLogRecord(nil)
}

func TestInvalidValuesBecomeValid(t *testing.T) {
	const bad, good = "a\xff\xfeb", "a\uFFFDb"
	spec := tool.Spec{
		Name: bad, Version: bad, DisplayName: bad, Description: bad, Category: bad, Tags: []string{bad},
		InputExamples: []tool.InputExample{{Description: bad}}, RequiresAuth: []string{bad}, ContextKeys: []string{bad}, EffectKeys: []string{"e"},
		Metadata: map[string]json.RawMessage{bad: nil}, CostPerUse: math.NaN(), Timeout: -1,
	}
	messages := []proto.Message{
		toolpb.FromSpec(spec),
		toolpb.FromContent(tool.Text(bad)), toolpb.FromContent(tool.File(bad, bad, []byte(bad))),
		toolpb.FromContent(tool.Content{Kind: tool.ContentArtifact, Artifact: &tool.Artifact{Handle: bad, MediaType: bad, Name: bad, Head: bad, Tail: bad}}),
		toolpb.FromEffect(tool.Effect{Key: bad}), toolpb.FromProgress(tool.Progress{Message: bad}),
		toolpb.FromStatus(tool.Status{Message: bad}), toolpb.FromLogRecord(tool.LogRecord{Message: bad}),
		toolpb.FromError(&tool.Error{Message: bad, CallID: bad, Plugin: bad, Instance: bad}),
		toolpb.FromExit(&tool.Exit{Signal: bad, Reason: bad, LastStderr: []string{bad}}),
	}
	for _, m := range messages {
		if _, err := proto.Marshal(m); err != nil {
			t.Errorf("%T: %v", m, err)
		}
	}
	if got := toolpb.FromContent(tool.Text(bad)).GetText(); got != good {
		t.Errorf("text %q, want %q", got, good)
	}
	if got := toolpb.FromSpec(spec); got.CostPerUse != 0 || got.Timeout != nil {
		t.Errorf("cost %v, timeout %v", got.CostPerUse, got.Timeout)
	}
	for cost, want := range map[float64]float64{math.MaxFloat64: tool.MaxCost, math.Inf(1): 0, -1: 0} {
		got := []float64{
			toolpb.ToResult(&toolv1.Result{Cost: cost}).Cost, toolpb.FromResult(tool.Result{Cost: cost}).Cost,
			toolpb.ToSpec(&toolv1.ToolSpec{CostPerUse: cost}).CostPerUse, toolpb.ToError(&toolv1.Error{Cost: cost}).Cost,
		}
		if slices.ContainsFunc(got, func(f float64) bool { return f != want }) {
			t.Errorf("the cost %v becomes %v, want %v", cost, got, want)
		}
	}
	if got := toolpb.ToProgress(&toolv1.Progress{Done: math.Inf(1), Total: math.NaN()}); got != (tool.Progress{}) {
		t.Errorf("progress %v", got)
	}
	if got := toolpb.ToTime(&timestamppb.Timestamp{Seconds: math.MaxInt64}); !got.IsZero() {
		t.Errorf("time %v", got)
	}
	if got := toolpb.ToDuration(&durationpb.Duration{Seconds: -5}); got != 0 {
		t.Errorf("duration %v", got)
	}
	if got := toolpb.ToDuration(&durationpb.Duration{Seconds: math.MaxInt64}); got != math.MaxInt64 {
		t.Errorf("duration %v", got)
	}
}
