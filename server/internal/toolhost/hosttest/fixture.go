package hosttest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// The plugin that has the tools of the suite.
const (
	PluginName    = "fixture"
	PluginVersion = "1.2.3"
)

// Tool is a tool of the suite with its behavior.
type Tool struct {
	// Spec is what the plugin declares.
	Spec tool.Spec
	// Run executes a call. The fields ID, Tool, Arguments, Session and Context of call are set.
	// Arguments are complete and have the properties that the schema requires. emit sends a status
	// or a log line to the caller, and blocks while the caller does not read. ctx may come from
	// WithArtifacts and WithAsker. An error means that the test's machinery failed, or is the error
	// of ctx.
	Run func(ctx context.Context, call tool.Call, emit func(tool.Event)) (tool.Result, error)
	// Preview gets the argument text so far. Nil: the tool takes no partial arguments.
	Preview func(text []byte, emit func(tool.Event))
	// Settle says what became of an earlier call with an id and arguments. Nil: the tool cannot.
	Settle func(ctx context.Context, call tool.Call) (tool.Settlement, error)
}

// Tools returns the tools of the suite. Their state (counters, calls that wait) belongs to the
// returned value, so that a plugin process calls Tools once.
func Tools() []Tool {
	kept := &state{counters: map[string]int{}, waiting: map[string]int{}, gates: map[string]chan struct{}{}}
	text := property{"text", "string"}
	key := property{"key", "string"}
	return []Tool{
		{Spec: spec(askTool, property{"kind", "string"}, property{"message", "string"}), Run: ask},
		{Spec: spec("break", property{"kind", "string"}), Run: breakDown},
		{Spec: spec("count", key), Run: kept.count},
		{Spec: dangerous(spec("danger")), Run: echoed("done")},
		{Spec: readOnly(spec("echo", text)), Run: echo},
		{Spec: readOnly(spec("fail", property{"message", "string"})), Run: fail},
		{Spec: contextual(readOnly(spec("inspect"))), Run: inspect},
		{Spec: readOnly(spec("large", property{"bytes", "integer"}, property{"kind", "string"})), Run: large},
		{Spec: partial(spec("preview", text)), Run: echo, Preview: preview},
		{Spec: spec("release", key), Run: kept.release},
		{Spec: readOnly(spec("steps", property{"count", "integer"}, property{"bytes", "integer"})), Run: steps},
		{Spec: readOnly(spec("sum", property{"handle", "string"})), Run: sum},
		{Spec: readOnly(spec("talk", text)), Run: talk},
		{Spec: spec("wait", key), Run: kept.wait},
		{Spec: readOnly(spec("waiting", key)), Run: kept.countWaiting},
	}
}

type property struct{ name, kind string }

func spec(name string, properties ...property) tool.Spec {
	props, required := map[string]any{}, []string{}
	for _, p := range properties {
		props[p.name] = map[string]any{"type": p.kind}
		required = append(required, p.name)
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": props, "required": required, "additionalProperties": false,
	})
	if err != nil {
		panic(err)
	}
	return tool.Spec{
		Name: name, Version: PluginVersion, Description: "The tool " + name + " of the conformance suite.",
		Category: "suite", Tags: []string{"all"}, InputSchema: schema,
	}
}

func readOnly(s tool.Spec) tool.Spec {
	s.ReadOnly = true
	s.Tags = append(s.Tags, "calm")
	return s
}

func dangerous(s tool.Spec) tool.Spec {
	s.Dangerous, s.CostPerUse, s.Category = true, 2.5, "danger"
	s.InputSchema = json.RawMessage(`{"type":"object","properties":{"why":{"type":"integer"}},"additionalProperties":false}`)
	return s
}

func contextual(s tool.Spec) tool.Spec {
	s.ContextKeys = []string{"note"}
	return s
}

func partial(s tool.Spec) tool.Spec {
	s.PartialArguments = true
	return s
}

// arguments has the arguments of every tool of the suite.
type arguments struct {
	Text    string `json:"text"`
	Key     string `json:"key"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Handle  string `json:"handle"`
	Bytes   int    `json:"bytes"`
	Count   int    `json:"count"`
}

func parse(call tool.Call) (arguments, error) {
	var a arguments
	if len(call.Arguments) == 0 {
		return a, nil
	}
	err := json.Unmarshal(call.Arguments, &a)
	return a, err
}

func echo(_ context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
	a, err := parse(call)
	return tool.TextResult(a.Text), err
}

func echoed(text string) func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
	return func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
		return tool.TextResult(text), nil
	}
}

func fail(_ context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
	a, err := parse(call)
	return tool.ErrorResult(a.Message), err
}

func breakDown(_ context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
	a, err := parse(call)
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{}, &tool.Error{
		Kind: tool.Kind(a.Kind), Message: "broken as asked: " + a.Kind, RetryAfter: 1500 * time.Millisecond,
	}
}

// inspected is the result of the tool inspect. It describes the call.
type inspected struct {
	CallID  string                     `json:"call_id"`
	Session string                     `json:"session"`
	Context map[string]json.RawMessage `json:"context"`
}

func inspect(_ context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
	data, err := json.Marshal(inspected{CallID: call.ID, Session: call.Session, Context: call.Context})
	return tool.Result{Content: []tool.Content{tool.JSON(data)}}, err
}

// pattern returns n bytes of text in which neighboring pieces of 64 KiB differ, so that a test
// notices a lost or swapped piece. The text repeats every 4099 bytes, which is a prime number.
func pattern(n int) string {
	const period = 4099
	var b strings.Builder
	for i := 0; b.Len() < min(n, period); i++ {
		b.WriteString(strconv.Itoa(i))
		b.WriteByte(' ')
	}
	if n <= period {
		return b.String()[:n]
	}
	return strings.Repeat(b.String()[:period], n/period+1)[:n]
}

func large(_ context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
	a, err := parse(call)
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Content: largeContent(a.Kind, a.Bytes)}, nil
}

// largeContent returns the large block between two small ones, so that its position matters.
func largeContent(kind string, n int) []tool.Content {
	body := pattern(n)
	block := tool.Text(body)
	switch tool.ContentKind(kind) {
	case tool.ContentJSON:
		block = tool.JSON(json.RawMessage(`"` + body + `"`))
	case tool.ContentImage:
		block = tool.Image("image/png", []byte(body))
	case tool.ContentFile:
		block = tool.File("large.bin", "application/octet-stream", []byte(body))
	}
	return []tool.Content{tool.Text("before"), block, tool.Text("after")}
}

func steps(ctx context.Context, call tool.Call, emit func(tool.Event)) (tool.Result, error) {
	a, err := parse(call)
	if err != nil {
		return tool.Result{}, err
	}
	message := pattern(a.Bytes)
	for i := 1; i <= a.Count; i++ {
		if ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		emit(tool.Event{Status: &tool.Status{
			State: tool.StatusDoing, Message: message, Parameters: json.RawMessage(fmt.Sprintf(`{"step":%d}`, i)),
			Progress: &tool.Progress{Done: float64(i), Total: float64(a.Count)},
		}})
	}
	return tool.TextResult(fmt.Sprintf("%d steps", a.Count)), nil
}

// talk writes a line to the log of the call.
func talk(_ context.Context, call tool.Call, emit func(tool.Event)) (tool.Result, error) {
	a, err := parse(call)
	emit(tool.Event{Log: &tool.LogRecord{
		Time: time.Now(), Level: tool.LogWarn, Message: a.Text, Attributes: map[string]json.RawMessage{"n": json.RawMessage(`1`)},
	}})
	return tool.TextResult("said"), err
}

func preview(text []byte, emit func(tool.Event)) {
	emit(tool.Event{Status: &tool.Status{State: tool.StatusWait, Message: "preview"}})
}

// state is the state of the tools between calls.
type state struct {
	mutex    sync.Mutex
	counters map[string]int
	waiting  map[string]int
	gates    map[string]chan struct{}
}

func (s *state) count(_ context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
	a, err := parse(call)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.counters[a.Key]++
	return tool.TextResult(strconv.Itoa(s.counters[a.Key])), err
}

func (s *state) wait(ctx context.Context, call tool.Call, emit func(tool.Event)) (tool.Result, error) {
	a, err := parse(call)
	if err != nil {
		return tool.Result{}, err
	}
	gate := s.enter(a.Key)
	defer s.leave(a.Key)
	emit(tool.Event{Status: &tool.Status{State: tool.StatusDoing, Message: "waiting"}})
	select {
	case <-gate:
		return tool.TextResult("released"), nil
	case <-ctx.Done():
		return tool.Result{}, ctx.Err()
	}
}

func (s *state) enter(key string) <-chan struct{} {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.waiting[key]++
	if s.gates[key] == nil {
		s.gates[key] = make(chan struct{})
	}
	return s.gates[key]
}

func (s *state) leave(key string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.waiting[key]--
}

func (s *state) release(_ context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
	a, err := parse(call)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if gate := s.gates[a.Key]; gate != nil {
		close(gate)
		delete(s.gates, a.Key)
	}
	return tool.TextResult("ok"), err
}

func (s *state) countWaiting(_ context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
	a, err := parse(call)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return tool.TextResult(strconv.Itoa(s.waiting[a.Key])), err
}
