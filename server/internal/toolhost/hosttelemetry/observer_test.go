package hosttelemetry_test

import (
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/telemetry"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetrytest"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/question"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttelemetry"
	"github.com/toolhost/toolhost/tool"
)

// net/http keeps a connection whose request it refused for half a second after Close.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

func settings() telemetryconfig.Settings {
	return telemetryconfig.Settings{
		Histograms: "classic", Timeout: new(time.Second),
		Traces: telemetryconfig.Traces{Enabled: true, TrustCallers: "same_user", Queue: new(2048)}, Metrics: telemetryconfig.Metrics{Enabled: true},
	}
}

// open returns telemetry with an observer. Close exports the spans and metrics that wait.
func open(t *testing.T, s telemetryconfig.Settings, env map[string]string, log io.Writer) (*telemetry.Telemetry, *hosttelemetry.Observer) {
	t.Helper()
	tele, err := telemetry.Open(t.Context(), telemetry.Config{
		Settings: s, Service: "toolhost", Version: "1", Getenv: func(name string) string { return env[name] }, Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tele.Close() })
	o, err := hosttelemetry.New(tele)
	if err != nil {
		t.Fatal(err)
	}
	return tele, o
}

var me = "uid:" + strconv.Itoa(os.Getuid())

const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0"

// A caller's sampled flag takes effect only if the configuration trusts the caller. The call of any
// other caller gets a new trace with a link to the caller's trace.
func TestCallersSampledFlag(t *testing.T) {
	for name, test := range map[string]struct {
		trust, principal, flag string
		ratio                  float64
		recorded, joined       bool
	}{
		"this user samples":            {"same_user", me, "1", 0, true, true},
		"this user does not":           {"same_user", me, "0", 1, false, false},
		"another user samples":         {"same_user", "uid:77", "1", 0, false, false},
		"another user, by our choice":  {"same_user", "uid:77", "0", 1, true, false},
		"over TCP":                     {"same_user", "anonymous", "1", 1, true, false},
		"nobody may":                   {"none", me, "1", 0, false, false},
		"everybody may":                {"all", "uid:77", "1", 0, true, true},
		"no context, by our choice":    {"same_user", me, "", 1, true, false},
		"no context, and not recorded": {"same_user", me, "", 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			collector := telemetrytest.Start(t)
			s := settings()
			s.Endpoint, s.Traces.TrustCallers, s.Traces.SampleRatio, s.Metrics.Enabled = collector.Endpoint, test.trust, &test.ratio, false
			tele, o := open(t, s, nil, io.Discard)
			call := &tool.Call{ID: "c", Tool: "echo", Principal: test.principal}
			if test.flag != "" {
				call.Traceparent = caller + test.flag
			}
			span := o.CallBegan(call, host.ToolCall, time.Now())
			if (span != nil) != test.recorded {
				t.Fatalf("recorded: %v", span != nil)
			}
			o.CallEnded(&host.CallEnd{Call: call, Plugin: "p", Span: span, Outcome: &tool.Outcome{}, Total: time.Millisecond})
			tele.Close()
			spans := collector.Spans()
			if !test.recorded {
				if len(spans) != 0 {
					t.Errorf("the collector got %+v", spans)
				}
				return
			}
			if len(spans) != 1 || spans[0].Name != "execute_tool echo" || (spans[0].Parent == "b7ad6b7169203331") != test.joined ||
				(spans[0].Trace == caller[3:35]) != test.joined || (len(spans[0].Links) == 1) == (test.joined || test.flag == "") {
				t.Errorf("the collector got %+v", spans)
			}
		})
	}
}

// A filter's call is recorded only if the filtered call is.
func TestFilterFollowsItsCall(t *testing.T) {
	collector := telemetrytest.Start(t)
	s := settings()
	s.Endpoint, s.Metrics.Enabled = collector.Endpoint, false
	_, o := open(t, s, nil, io.Discard)
	for flag, recorded := range map[string]bool{"1": true, "0": false, "": false} {
		call := &tool.Call{ID: "filter-c", Tool: "redact", Principal: "uid:77"}
		if flag != "" {
			call.Traceparent = caller + flag
		}
		if span := o.CallBegan(call, host.FilterCall, time.Now()); (span != nil) != recorded {
			t.Errorf("flag %q: recorded %v", flag, span != nil)
		}
	}
}

// The message of an error may quote arguments, so a span has the message only with content.
func TestErrorMessagesAreContent(t *testing.T) {
	const message = "must be one of [1], but is hunter2"
	for content, want := range map[bool]string{false: "invalid_argument", true: message} {
		collector := telemetrytest.Start(t)
		s := settings()
		s.Endpoint, s.Metrics.Enabled, s.Traces.Content = collector.Endpoint, false, content
		tele, o := open(t, s, nil, io.Discard)
		call := &tool.Call{ID: "c", Tool: "echo", Principal: me}
		span := o.CallBegan(call, host.ToolCall, time.Now())
		o.CallEnded(&host.CallEnd{Call: call, Plugin: "p", Span: span, Outcome: &tool.Outcome{Err: tool.Errorf(tool.KindInvalidArgument, message)}})
		tele.Close()
		if spans := collector.Spans(); len(spans) != 1 || !spans[0].Failed || spans[0].Message != want {
			t.Errorf("content %v: %+v", content, spans)
		}
	}
}

// A plugin's spans are untrusted data: the exported ones stay within the call that returned them.
func TestReturnedSpans(t *testing.T) {
	collector := telemetrytest.Start(t)
	s := settings()
	s.Endpoint, s.Metrics.Enabled = collector.Endpoint, false
	tele, o := open(t, s, nil, io.Discard)
	call := &tool.Call{ID: "c", Tool: "echo", Principal: me, Traceparent: caller + "1"}
	at := time.Unix(1_700_000_000, 0)
	span := o.CallBegan(call, host.ToolCall, at)
	exported, _ := trace.Parse(span.Traceparent())
	id := func(n byte) trace.SpanID { return trace.SpanID{n} }
	span.Returned("p", []trace.Span{
		{ID: id(1), Parent: id(2), Name: "inner", Start: at.Add(time.Second), End: at.Add(2 * time.Second), Kind: trace.Client},
		{ID: id(2), Name: "outer", Start: at.Add(-time.Hour), End: at.Add(24 * time.Hour), Events: []trace.Event{{Name: "early", Time: at.Add(-time.Hour)}}},
		{ID: id(3), Parent: trace.SpanID{0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31}, Name: "below the caller"},
		{ID: id(3), Name: "twice"},
		{ID: id(4), Parent: id(4), Name: "its own parent"},
		{ID: id(7), Parent: id(9), Name: "its own ancestor"},
		{ID: id(8), Parent: id(7), Name: "the second of a ring"},
		{ID: id(9), Parent: id(8), Name: "the third of a ring"},
		{ID: id(10), Parent: id(9), Name: "below a ring"},
		{ID: exported.Span, Name: "in place of the call"},
		{ID: trace.SpanID{0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31}, Name: "in place of the caller"},
	}, 0)
	span.Returned("q", []trace.Span{{ID: id(5), Parent: id(2), Name: "below another plugin's"}}, 3)
	o.CallEnded(&host.CallEnd{Call: call, Plugin: "p", Span: span, Outcome: &tool.Outcome{}, Total: 10 * time.Second, Arrived: at})
	span.Returned("p", []trace.Span{{ID: id(6), Name: "late"}}, 0)
	tele.Close()
	if own := collector.Named("execute_tool echo"); len(own) != 1 || own[0].Attributes["toolhost.spans.dropped"] != "int_value:6" {
		t.Errorf("the call's span is %+v", own)
	}
	parents := map[string]string{}
	for _, got := range collector.Spans() {
		parents[got.Name] = got.Parent
		if got.Trace != caller[3:35] || got.Service != "toolhost" {
			t.Errorf("%s is in trace %s of %s", got.Name, got.Trace, got.Service)
		}
		if got.Start < uint64(at.UnixNano()) || got.End > uint64(at.Add(10*time.Second).UnixNano()) || got.Start > got.End {
			t.Errorf("%s is from %d to %d", got.Name, got.Start, got.End)
		}
		if got.Name != "execute_tool echo" && (!strings.HasPrefix(got.Scope, "toolhost.plugin/") || got.Attributes["toolhost.plugin.name"] == "") {
			t.Errorf("%s has the scope %s and %v", got.Name, got.Scope, got.Attributes)
		}
	}
	call1 := caller[36:52]
	mine := parentID(exported.Span)
	want := map[string]string{
		"execute_tool echo": call1, "inner": parentID(id(2)), "outer": mine, "below the caller": mine, "its own parent": mine, "below another plugin's": mine,
		"its own ancestor": mine, "the second of a ring": parentID(id(7)), "the third of a ring": parentID(id(8)), "below a ring": parentID(id(9)),
	}
	if !maps.Equal(parents, want) {
		t.Errorf("the parents are %v, want %v", parents, want)
	}
}

func parentID(id trace.SpanID) string {
	return trace.Context{Trace: trace.TraceID{1}, Span: id}.String()[36:52]
}

// read returns what Prometheus reads.
func read(t *testing.T, tele *telemetry.Telemetry, path string) (int, string) {
	t.Helper()
	resp, err := http.Get("http://" + tele.Listening() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// bounds gives, for each label, the reason why its number of values is bounded. No label has ids,
// sessions, principals or texts that a caller chooses.
var bounds = map[string]string{
	"tool": "names in the catalog", "plugin": "names in the catalog", "rule": "names in the configuration",
	"outcome": "kinds of errors, decisions, ok and tool_error", "type": "types of events, reasons of exits, kinds of statements", "state": "states of plugins, instances and toolhosts",
	"signal": "traces, metrics, logs", "le": "buckets", "grpc_method": "methods that toolhost serves, or other", "grpc_status": "codes of gRPC",
	"method": "methods that are passed on", "service_name": "one", "service_version": "one", "version": "one", "go_memory_type": "stack, other",
}

func TestLabelsAreBounded(t *testing.T) {
	s := settings()
	s.Listen = "127.0.0.1:0"
	tele, o := open(t, s, nil, io.Discard)
	reportEverything(t, o)
	_, metrics := read(t, tele, "/metrics")
	if strings.Contains(metrics, "chosen-") {
		t.Error("a metric contains what a caller chose")
	}
	series := 0
	for line := range strings.Lines(metrics) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		series++
		name, rest, _ := strings.Cut(line, "{")
		labels, _, _ := strings.Cut(rest, "}")
		for label := range strings.SplitSeq(labels, ",") {
			key, _, ok := strings.Cut(label, "=")
			if ok && bounds[key] == "" {
				t.Errorf("%s has the label %s: add it to bounds, with why its values are bounded", name, key)
			}
		}
		if exported := strings.HasPrefix(name, "toolhost_") || strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") || strings.HasPrefix(name, "target_info"); !exported {
			t.Errorf("the metric %s has no prefix", name)
		}
	}
	if series < 50 || series > 400 {
		t.Errorf("there are %d series", series)
	}
	for _, want := range []string{
		`toolhost_calls_total{outcome="internal",plugin="p",tool="echo"} 500`, `toolhost_calls_refused_total{outcome="not_found"} 500`,
		`toolhost_call_retries_total{plugin="p",tool="echo"} 500`, `toolhost_cold_starts_total{plugin="p",tool="echo"} 500`,
		`toolhost_instance_exits_total{plugin="p",type="signal"} 500`, `toolhost_instance_exits_total{plugin="p",type="unhealthy"} 1`,
		`toolhost_instance_exits_total{plugin="at-the-start",type="unhealthy"} 0`, `toolhost_plugin_cpu_seconds_total{plugin="p"} 500`,
		`toolhost_policy_decisions_total{outcome="denied",rule="a-rule"} 1`, `toolhost_instances{plugin="p",state="ready"} 1`,
		`toolhost_launches_failed_total{plugin="p"} 1`, `toolhost_questions_total{outcome="declined",plugin="p",type="person"} 1`, `toolhost_filter_duration_seconds_count{outcome="internal",tool="echo"} 500`, `toolhost_disk_free_bytes 1`,
		`toolhost_calls_queue_limit{plugin="p"} 5`, `toolhost_ledger_ids 3`, `toolhost_ledger_id_limit 4`, "process_start_time_seconds ",
		// An alert sees the first failure of a plugin only if the counter existed before.
		`toolhost_plugin_events_total{plugin="at-the-start",type="instance_crashed"} 0`, `toolhost_launches_failed_total{plugin="at-the-start"} 0`,
		`toolhost_plugin_events_total{plugin="added",type="plugin_quarantined"} 0`,
		`toolhost_requests_passed_total{method="WatchCall",outcome="unreachable"} 0`, `toolhost_requests_passed_total{method="CancelCall",outcome="ok"} 1`,
		`toolhost_nodes{state="silent"} 2`, "toolhost_ledger_beat_age_seconds 1.5", "toolhost_calls_elsewhere 6", `toolhost_ledger_statement_duration_seconds_count{type="begin"} 1`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// reportEverything reports at least one value of each metric. Text that callers choose begins with
// "chosen-".
func reportEverything(t *testing.T, o *hosttelemetry.Observer) {
	t.Helper()
	if err := o.Observe(func() hosttelemetry.State {
		return hosttelemetry.State{DiskFree: 1, DiskSize: 2, BeatAge: 1500 * time.Millisecond, Nodes: map[string]int{"up": 1, "silent": 2}, Measurements: host.Measurements{LedgerIDs: 3, MaxLedgerIDs: 4, Elsewhere: 6, Plugins: []supervisor.Measurements{{
			Plugin: "p", State: tool.PluginEnabled, Instances: map[tool.InstanceState]int{tool.InstanceReady: 1}, MaxQueue: 5,
		}}}}
	}); err != nil {
		t.Fatal(err)
	}
	for i := range 500 { // what callers choose
		text := "chosen-" + strconv.Itoa(i)
		call := &tool.Call{ID: text, Session: text, Principal: text, Tool: "echo", Traceparent: text}
		end := &host.CallEnd{Call: call, Plugin: "p", Outcome: &tool.Outcome{Err: tool.Errorf(tool.KindInternal, "%s", text)}, Attempts: 2, Cold: true, Cost: 1, Waited: 1}
		o.CallEnded(end)
		end.Kind = host.FilterCall
		o.CallEnded(end)
		o.CallRefused(text, tool.KindNotFound)
		o.PluginEvent(tool.PluginEvent{Type: "instance_crashed", Plugin: "p", Instance: text, Reason: text})
		o.InstanceEnded("p", tool.PluginExit{Instance: text, Exit: tool.Exit{Signal: "SIGSEGV"}}, time.Second)
	}
	o.Expect("at-the-start")
	o.InstanceEnded("p", tool.PluginExit{Expected: true, Exit: tool.Exit{Signal: "SIGKILL"}, Unhealthy: true}, 0)
	o.PluginEvent(tool.PluginEvent{Type: "plugin_added", Plugin: "added"})
	o.InstanceReady("p", time.Second)
	o.LaunchFailed("p", tool.Errorf(tool.KindUnavailable, "no"))
	o.CallDecided(audit.Denied, "a-rule")
	o.CallAsked("p", tool.QuestionPerson, question.Declined)
	o.ExpectPassed("WatchCall")
	o.RequestPassed("CancelCall", "ok")
	o.LedgerTook("begin", time.Second)
}
func TestListener(t *testing.T) {
	s := settings()
	s.Listen, s.Pprof = "127.0.0.1:0", shortdir.Make(t)+"/p.sock"
	tele, o := open(t, s, map[string]string{"OTEL_SDK_DISABLED": "true"}, io.Discard)
	if o != nil {
		t.Error("OTEL_SDK_DISABLED switches nothing off")
	}
	if code, _ := read(t, tele, "/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("before it is ready: %d", code)
	}
	tele.Ready(true)
	for path, want := range map[string]int{"/readyz": 200, "/healthz": 200, "/metrics": 404, "/debug/pprof/": 404} {
		if code, _ := read(t, tele, path); code != want {
			t.Errorf("%s is %d, want %d", path, code, want)
		}
	}
	info, err := os.Stat(s.Pprof)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket of pprof: %v, %v", info.Mode(), err)
	}
}

// Spans contain arguments and results only if the operator enabled that.
func TestContent(t *testing.T) {
	for _, content := range []bool{false, true} {
		collector := telemetrytest.Start(t)
		s := settings()
		s.Endpoint, s.Metrics.Enabled, s.Traces.Content = collector.Endpoint, false, content
		tele, o := open(t, s, nil, io.Discard)
		call := &tool.Call{ID: "c", Tool: "echo", Principal: me}
		span := o.CallBegan(call, host.ToolCall, time.Now())
		asked := false
		span.Arguments(func() string { asked = true; return `{"a":1}` })
		o.CallEnded(&host.CallEnd{Call: call, Plugin: "p", Span: span, Outcome: &tool.Outcome{Result: tool.TextResult(strings.Repeat("x", 20<<10))}})
		tele.Close()
		got := collector.Named("execute_tool echo")[0].Attributes
		if asked != content || (got["gen_ai.tool.call.arguments"] == `{"a":1}`) != content || (len(got["gen_ai.tool.call.result"]) == 8<<10) != content {
			t.Errorf("content %v: asked %v, %d attributes", content, asked, len(got))
		}
	}
}

// lines keeps the lines of a log.
type lines struct{ syncbuf.Buffer }

func (l *lines) with(word string) (found []string) {
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return found
}
