package agenttelemetry_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agenttelemetry"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/telemetry"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetrytest"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, s telemetryconfig.Settings) (*telemetry.Telemetry, *agenttelemetry.Observer) {
	t.Helper()
	s.Timeout, s.Traces.Enabled, s.Traces.Queue, s.Traces.TrustCallers = new(time.Second), true, new(100), "same_user"
	tele, err := telemetry.Open(t.Context(), telemetry.Config{
		Settings: s, Service: "agentd", Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tele.Close() })
	o, err := agenttelemetry.New(tele, "openai:m")
	if err == nil {
		err = o.Observe(func() agenttelemetry.State {
			return agenttelemetry.State{Journal: 4096, DiskFree: 1 << 30, DiskSize: 1 << 32}
		})
	}
	if err == nil {
		err = o.CountShared(func(context.Context) (runstore.Census, error) {
			return runstore.Census{Parked: 2, Live: 3, Silent: 1}, nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return tele, o
}

// The spans of a run are connected. If a run waits for a person, the next stretch has a link to the
// one before.
func TestSpansOfARun(t *testing.T) {
	collector := telemetrytest.Start(t)
	tele, o := open(t, telemetryconfig.Settings{Endpoint: collector.Endpoint})
	first, _ := trace.Parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	second, call := first, first
	second.Span, call.Span = trace.SpanID{2}, trace.SpanID{3}
	began := time.Unix(1_700_000_000, 0)
	o.WorkBegan()
	o.CallEnded(&agent.CallEnd{Parent: first, Context: call, ID: "c", Tool: "rm", Began: began, Took: time.Second, Outcome: "approval_required"})
	o.ModelAnswered(&agent.ModelEnd{Context: first, Model: "anthropic:claude", Began: began, Took: time.Second, Attempts: 2, StopReason: "tool_use"})
	o.WorkEnded(&agent.WorkEnd{Run: "r", Model: "anthropic:claude", Context: first, Parent: trace.SpanID{9}, Began: began, Took: time.Minute, Waits: true})
	o.WorkBegan()
	o.WorkEnded(&agent.WorkEnd{
		Run: "r", Model: "anthropic:claude", Context: second, Before: first, Parent: trace.SpanID{9}, Began: began.Add(24 * time.Hour), Took: time.Minute,
		Finished: &loop.RunFinished{StopReason: loop.StopModelError},
	})
	unsampled := second
	unsampled.Sampled = false
	o.WorkEnded(&agent.WorkEnd{Run: "other", Context: unsampled, Began: began})
	tele.Close()
	if got := len(collector.Spans()); got != 4 {
		t.Fatalf("%d spans: %+v", got, collector.Spans())
	}
	stretches := collector.Named("invoke_agent agentd")
	for i, want := range []struct{ id, links string }{{first.Span.String(), ""}, {second.Span.String(), first.Span.String()}} {
		got := stretches[i]
		if got.ID != want.id || strings.Join(got.Links, " ") != want.links || got.Parent != "0900000000000000" || got.End-got.Start != uint64(time.Minute) || got.Failed != (i == 1) {
			t.Errorf("stretch %d is %+v", i, got)
		}
	}
	if got := collector.Named("execute_tool rm")[0]; got.ID != call.Span.String() || got.Parent != first.Span.String() || !got.Failed {
		t.Errorf("the call is %+v", got)
	}
	if got := collector.Named("chat claude")[0]; got.Parent != first.Span.String() || got.Attributes["gen_ai.provider.name"] != "anthropic" || got.Failed {
		t.Errorf("the model request is %+v", got)
	}
}

// bounds gives, for each label, the reason why its number of values is bounded.
var bounds = map[string]string{
	"state": "working, waiting_for_person, parked; live, silent, lost", "stop_reason": "stop reasons", "sub_run": "true, false", "tool": "toolhost's list of tools, and unknown",
	"outcome": "kinds of errors", "type": "kinds of decisions", "gen_ai_provider_name": "providers", "gen_ai_request_model": "models of the configuration",
	"gen_ai_operation_name": "one", "gen_ai_token_type": "input, output", "error_type": "kinds of failures", "le": "buckets", "signal": "signals",
	"service_name": "one", "service_version": "one", "go_memory_type": "stack, other",
}

// chosen is text that a caller chooses.
const chosen = "chosen-by-a-caller"

// reportEverything reports at least one value of each metric.
func reportEverything(o *agenttelemetry.Observer) {
	o.WorkBegan()
	o.ModelAnswered(&agent.ModelEnd{Model: "openai:m", Session: chosen, Attempts: 3, FirstChunk: 1, Cost: 1, Usage: tool.Usage{InputTokens: 7}})
	o.ModelAnswered(&agent.ModelEnd{Model: "openai:m", Session: chosen, Failure: "malformed"})
	o.CallEnded(&agent.CallEnd{ID: chosen, Session: chosen, Tool: "unknown", Outcome: "not_found"})
	o.Asked("approval")
	o.Appended(time.Second, io.ErrShortWrite)
	o.RunWaits(chosen, time.Now().Add(-time.Hour))
	o.RunWaits("another", time.Now())
	o.RunWaits("another", time.Time{})
	o.WorkEnded(&agent.WorkEnd{Run: chosen, Session: chosen, Agent: chosen, Model: "openai:m", Waits: true, Finished: &loop.RunFinished{StopReason: loop.StopEndTurn, Message: chosen}})
}

// read returns what Prometheus reads.
func read(t *testing.T, tele *telemetry.Telemetry) string {
	t.Helper()
	resp, err := http.Get("http://" + tele.Listening() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	http.DefaultClient.CloseIdleConnections()
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestLabelsAreBounded(t *testing.T) {
	tele, o := open(t, telemetryconfig.Settings{Listen: "127.0.0.1:0"})
	reportEverything(o)
	body := read(t, tele)
	if strings.Contains(body, chosen) {
		t.Error("a metric contains what a caller chose")
	}
	for line := range strings.Lines(body) {
		name, rest, _ := strings.Cut(line, "{")
		labels, _, _ := strings.Cut(rest, "}")
		for label := range strings.SplitSeq(labels, ",") {
			if key, _, ok := strings.Cut(label, "="); ok && !strings.HasPrefix(line, "#") && bounds[key] == "" {
				t.Errorf("%s has the label %s: add it to bounds, with why its values are bounded", name, key)
			}
		}
	}
	for _, want := range []string{`agentd_runs{state="waiting_for_person"} 1`, `agentd_runs{state="working"} 0`, `agentd_runs{state="parked"} 2`, `agentd_nodes{state="silent"} 1`, `agentd_nodes{state="lost"} 0`, `agentd_decisions_total{type="approval"} 1`,
		`agentd_model_retries_total{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="m"} 2`, `error_type="malformed"`,
		`agentd_model_failures_total{error_type="malformed",gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="m"} 1`,
		`agentd_model_failures_total{error_type="failed",gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="m"} 0`,
		`agentd_runs_finished_total{stop_reason="model_error",sub_run="false"} 0`, `agentd_journal_failures_total 1`, `agentd_runs_longest_wait_seconds 3600.`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing", want)
		}
	}
}
