package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/question"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// recorder is an observer that stores the reports that it receives. If traced is set, it records
// all calls in spans.
type recorder struct {
	traced string // the trace context of each recorded call; empty: no call is recorded

	mu      sync.Mutex
	ends    []host.CallEnd
	refused []string
	decided []string
	asked   []string
	plugins []string
}

func (r *recorder) CallBegan(*tool.Call, host.CallKind, time.Time) host.Span {
	if r.traced == "" {
		return nil
	}
	return &recordedSpan{recorder: r}
}

func (r *recorder) CallEnded(end *host.CallEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = append(r.ends, *end)
}

func (r *recorder) CallRefused(name string, kind tool.Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = append(r.refused, name+" "+string(kind))
}

func (r *recorder) CallDecided(outcome audit.Outcome, rule string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.decided = append(r.decided, string(outcome)+" "+rule)
}

func (r *recorder) CallAsked(plugin string, kind tool.QuestionKind, outcome question.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, fmt.Sprint(plugin, " ", kind, " ", outcome))
}

func (r *recorder) note(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plugins = append(r.plugins, what)
}

func (r *recorder) PluginEvent(e tool.PluginEvent)                  { r.note(e.Type) }
func (r *recorder) InstanceReady(plugin string, took time.Duration) { r.note("ready " + plugin) }
func (r *recorder) LaunchFailed(plugin string, err *tool.Error)     { r.note("failed " + plugin) }
func (r *recorder) InstanceEnded(plugin string, exit tool.PluginExit, cpu time.Duration) {
	if exit.Unhealthy {
		r.note("unhealthy " + plugin)
	}
	r.note("ended " + plugin + " " + cpu.String())
}

// end returns the report of the only call that has ended.
func (r *recorder) end(t *testing.T) host.CallEnd {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ends) != 1 {
		t.Fatalf("%d calls have ended: %+v", len(r.ends), r.ends)
	}
	return r.ends[0]
}

type recordedSpan struct {
	recorder  *recorder
	mu        sync.Mutex
	events    []string
	arguments string
	spans     []trace.Span
}

func (s *recordedSpan) Traceparent() string { return s.recorder.traced }

func (s *recordedSpan) Event(name string, _ ...slog.Attr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, name)
}

func (s *recordedSpan) Arguments(text func() string) { s.arguments = text() }

func (s *recordedSpan) Returned(_ string, spans []trace.Span, _ int) {
	s.spans = append(s.spans, spans...)
}

const itsTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// observed is a rig whose host reports to r.
func observed(t *testing.T, r *recorder, tools ...hosttest.Tool) *rig {
	return newRig(t, tools, func(cfg *host.Config) { cfg.Observer, cfg.PluginObserver = r, r })
}

// The observer receives one report for a call, with its attempts and waits, and the call's span has
// the events between begin and end.
func TestObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing, _ := moody(tool.Spec{ReadOnly: true, Retry: tool.RetryPolicy{MaxAttempts: 3, InitialBackoff: time.Second}, CostPerUse: 2},
			1, tool.Errorf(tool.KindUnavailable, "not now"))
		r := &recorder{traced: itsTrace}
		rig := observed(t, r, failing)
		rig.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
			time.Sleep(time.Second)
			return rig.start(ctx, hosttest.NewPlugin([]hosttest.Tool{failing}))
		}
		if got := outcome(t, rig, call("moody", "{}")); got.Err != nil {
			t.Fatal(got.Err)
		}
		synctest.Wait()
		end := r.end(t)
		if end.Attempts != 2 || !end.Cold || end.Cost != 4 || end.Waited < time.Second || end.Total < end.Waited+time.Second/2 || end.Plugin == "" || end.Outcome.Err != nil {
			t.Errorf("the report is %+v", end)
		}
		want := []string{"decided", "launched", "instance acquired", "attempt", "retry", "instance acquired", "attempt"}
		if got := end.Span.(*recordedSpan).events; !slices.Equal(got, want) {
			t.Errorf("the span has %q, want %q", got, want)
		}
		if want := []string{"allowed "}; !slices.Equal(r.decided, want) {
			t.Errorf("decisions: %q", r.decided)
		}
		if !slices.Contains(r.plugins, "instance_ready") || !slices.ContainsFunc(r.plugins, func(s string) bool { return strings.HasPrefix(s, "ready ") }) {
			t.Errorf("plugins: %q", r.plugins)
		}
	})
}

// A repeated call is reported once, and a call that cannot begin is not reported as a call.
func TestObserverCountsEachCallOnce(t *testing.T) {
	r := &recorder{}
	echo := hosttest.Tool{Spec: tool.Spec{Name: "echo", Description: "Says it."}, Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
		return tool.TextResult("said"), nil
	}}
	rig := observed(t, r, echo)
	c := tool.Call{ID: "same", Tool: "echo", Arguments: []byte(`{}`)}
	outcome(t, rig, c)
	if again := outcome(t, rig, c); !again.Replayed {
		t.Errorf("the second outcome is %+v", again)
	}
	r.end(t)
	if _, err := rig.Open(t.Context(), call("nothing", "{}"), true); err == nil || len(r.refused) != 1 || r.refused[0] != "nothing not_found" {
		t.Errorf("an unknown tool: %v, reported as %q", err, r.refused)
	}
	rig.Close()
	if !slices.ContainsFunc(r.plugins, func(s string) bool { return strings.HasPrefix(s, "ended ") && strings.HasSuffix(s, " 1s") }) {
		t.Errorf("plugins: %q", r.plugins)
	}
}

// spanning returns a span with a secret.
type spanning struct{ pluginwire.Handler }

func (s spanning) Call(ctx context.Context, c *pluginwire.ServerCall) (tool.Result, error) {
	if c.Start().Traceparent != itsTrace || c.Start().SpanBytes == 0 {
		return tool.TextResult("not recorded " + c.Start().Traceparent), nil
	}
	err := c.SendSpans(ctx, []trace.Span{{ID: trace.NewSpanID(), Name: "uses hunter2-hunter2", Attributes: []slog.Attr{slog.String("key", "hunter2-hunter2")}}}, 0)
	return tool.TextResult("recorded"), err
}

// The plugin of a recorded call gets the trace context of the call's span. The observer gets the
// plugin's spans and the arguments without secrets.
func TestObserverGetsSpansWithoutSecrets(t *testing.T) {
	store := secrets.New(secrets.Config{
		Sources: []secrets.Source{{Name: "password", Tenants: map[string]secrets.Place{secrets.AllTenants: {Env: "PASSWORD"}}, Plugins: []string{"p"}}},
		Getenv:  func(string) string { return "hunter2-hunter2" },
	})
	if _, err := store.View("ada").Values("p", []string{"password"}); err != nil { // which the redactor learns
		t.Fatal(err)
	}
	for _, traced := range []string{itsTrace, ""} {
		r := &recorder{traced: traced}
		echo := hosttest.Tool{Spec: tool.Spec{
			Name: "echo", Description: "Says it.", InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`),
		}}
		rig := newRig(t, []hosttest.Tool{echo}, func(cfg *host.Config) { cfg.Observer, cfg.Secrets = r, store })
		rig.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
			return rig.start(ctx, spanning{hosttest.NewPlugin([]hosttest.Tool{echo})})
		}
		c := call("echo", `{"text":"hunter2-hunter2"}`)
		c.Traceparent = "00-11111111111111111111111111111111-2222222222222222-00"
		got := outcome(t, rig, c)
		end := r.end(t)
		if traced == "" {
			if end.Span != nil || got.Result.Text() != "not recorded "+c.Traceparent {
				t.Errorf("a call that is not recorded has the span %+v and the result %q", end.Span, got.Result.Text())
			}
			continue
		}
		span := end.Span.(*recordedSpan)
		if len(span.spans) != 1 || span.spans[0].Name != "uses [secret password]" || span.spans[0].Attributes[0].Value.String() != "[secret password]" {
			t.Errorf("%q: the spans are %+v", got.Result.Text(), span.spans)
		}
		if span.arguments != `{"text":"[secret password]"}` || !json.Valid([]byte(span.arguments)) {
			t.Errorf("the arguments are %s", span.arguments)
		}
	}
}

// contexts is an observer that records no call. It stores the trace contexts of the filters' calls.
type contexts struct {
	recorder
	filters []string
}

func (c *contexts) CallBegan(call *tool.Call, kind host.CallKind, _ time.Time) host.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kind == host.FilterCall {
		c.filters = append(c.filters, call.Traceparent)
	}
	return nil
}

// The plugin and the filters of a call that the host does not record get no sampled context,
// whatever the caller sends.
func TestCallThatIsNotRecordedIsNotSampled(t *testing.T) {
	const sampled, plain = itsTrace, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	filters := map[string]filterFunc{"before": says(filterjson.Answer{})}
	for sent, want := range map[string]string{sampled: plain, plain: plain, "": "", "01" + sampled[2:]: "", "ill-formed": ""} {
		for _, observed := range []bool{true, false} {
			echo := hosttest.Tool{Spec: tool.Spec{Name: "echo", Description: "Says it."}}
			seen := &contexts{}
			rig, _ := newFilterRig(t, []hosttest.Tool{echo}, filters, func(cfg *host.Config) {
				if observed {
					cfg.Observer = seen
				}
			}, host.Filter{Name: "before"})
			rig.launch = func(ctx context.Context, p *catalog.Plugin, _ string) (host.Process, error) {
				if p.Info.Name == filterPluginName {
					return rig.start(ctx, &filterPlugin{filters: filters})
				}
				return rig.start(ctx, spanning{hosttest.NewPlugin([]hosttest.Tool{echo})})
			}
			c := call("echo", "{}")
			c.Traceparent = sent
			if got := outcome(t, rig, c); got.Result.Text() != "not recorded "+want {
				t.Errorf("%q, observed: %v: the plugin answers %q, %v", sent, observed, got.Result.Text(), got.Err)
			}
			if observed && !slices.Equal(seen.filters, []string{want}) {
				t.Errorf("%q: the filters' calls have %q", sent, seen.filters)
			}
		}
	}
}

// Host.Measure works while calls run.
func TestMeasure(t *testing.T) {
	release := make(chan struct{})
	slow := hosttest.Tool{Spec: tool.Spec{Name: "slow", Description: "Waits."}, Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
		<-release
		return tool.TextResult("done"), nil
	}}
	rig := newRig(t, []hosttest.Tool{slow}, nil)
	if m := rig.Measure(); len(m.Plugins) != 0 || m.LedgerCalls != 0 {
		t.Errorf("before any call: %+v", m)
	}
	e, err := rig.Open(t.Context(), tool.Call{ID: "one", Tool: "slow", Arguments: []byte("{}")}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for ev, err := e.Next(t.Context()); ev.Started == nil; ev, err = e.Next(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	m := rig.Measure()
	if len(m.Plugins) != 1 || m.LedgerCalls != 1 {
		t.Fatalf("while a call runs: %+v", m)
	}
	if p := m.Plugins[0]; p.Calls != 1 || p.Instances[tool.InstanceReady] != 1 || p.RSSBytes != 1<<20 || p.CPU != time.Second || p.State != tool.PluginEnabled {
		t.Errorf("the plugin is %+v", p)
	}
	close(release)
}
