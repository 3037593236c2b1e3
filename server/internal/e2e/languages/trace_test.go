//go:build more

package languages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/telemetry/telemetrytest"
)

// A run is one trace from agentd to the code of its tools. The authors of the tools only create
// spans with OpenTelemetry's API. Several calls of each tool run at the same time.
func TestTrace(t *testing.T) {
	bin := build(t)
	plugins := map[string]program{}
	for _, l := range languages(t, bin) {
		plugins["tracer_"+l.Name] = program{l.Tracer, l.Reads}
	}
	collector := telemetrytest.Start(t)
	env := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.Endpoint, "OTEL_METRICS_EXPORTER=none"}
	t.Run("run", func(t *testing.T) { // toolhost exports its last spans when it ends, with this test
		runAgent(t, bin, serveAll(t, filepath.Join(bin, "toolhost"), env, plugins), env)
	})
	compareTraces(t, collector.Spans())
	late := telemetrytest.Start(t)
	t.Run("timeouts", func(t *testing.T) {
		addr := serveAll(t, filepath.Join(bin, "toolhost"), []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + late.Endpoint, "OTEL_METRICS_EXPORTER=none"}, plugins)
		timeOut(t, filepath.Join(bin, "toolhost"), addr)
	})
	compareTimeouts(t, late)
}

// waitingTools are tools that can wait until their call is canceled.
var waitingTools = []string{"trace_go", "trace_python", "trace_typescript"}

// timeOut calls tools that create spans and then exceed their time.
func timeOut(t *testing.T, toolhost, addr string) {
	t.Helper()
	var calls sync.WaitGroup
	for _, tool := range waitingTools {
		known(t, toolhost, addr, tool)
		// The time includes the launch of the plugin, which a busy machine makes slow.
		call := exec.CommandContext(t.Context(), toolhost, "call", "--addr", addr, "--timeout", "20s", tool, `{"name":"`+tool+`","wait":true}`)
		calls.Go(func() {
			said, err := call.CombinedOutput()
			if err == nil || !strings.Contains(string(said), "timeout") {
				t.Errorf("the call of %s ended with %v: %s", tool, err, said)
			}
		})
	}
	calls.Wait()
}

// compareTimeouts checks that the traces of the calls that timed out have the spans that ended
// before.
func compareTimeouts(t *testing.T, collector *telemetrytest.Collector) {
	t.Helper()
	for _, tool := range waitingTools {
		calls, outer, inner := collector.Named("execute_tool "+tool), collector.Named(tool+" outer"), collector.Named(tool+" inner")
		if len(calls) != 1 || len(outer) != 1 || len(inner) != 1 {
			t.Errorf("%s: the collector got %d calls, %d outer and %d inner spans", tool, len(calls), len(outer), len(inner))
			continue
		}
		if !calls[0].Failed || outer[0].Parent != calls[0].ID || inner[0].Parent != outer[0].ID {
			t.Errorf("%s: the collector got %+v, %+v and %+v", tool, calls[0], outer[0], inner[0])
		}
	}
}

var tracedTools = []string{"trace_go", "trace_python", "trace_python_async", "trace_typescript"}

const callsPerTool = 3

// runAgent lets agentd call each tool several times at once.
func runAgent(t *testing.T, bin, addr string, env []string) {
	t.Helper()
	var calls []string
	for _, tool := range tracedTools {
		known(t, filepath.Join(bin, "toolhost"), addr, tool)
		for i := range callsPerTool {
			calls = append(calls, fmt.Sprintf("{id: %s_%d, tool: %s, arguments: {name: %s %d}}", tool, i, tool, tool, i))
		}
	}
	home := t.TempDir()
	script := filepath.Join(home, "script.yaml")
	text := "turns:\n- {calls: [" + strings.Join(calls, ", ") + "]}\n- {text: done}\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "agentd"), "run", "--toolhost", addr, "--model", "scripted:"+script, "trace")
	cmd.Dir, cmd.Env = home, append([]string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home}, env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the run failed: %v\n%s", err, said)
	}
}

// compareTraces compares the spans, each with its ancestors, with those of the run.
func compareTraces(t *testing.T, all []telemetrytest.Span) {
	t.Helper()
	const run, call, plugin = "agentd: invoke_agent agentd", " > agentd: execute_tool ", " > toolhost: execute_tool "
	want := map[string]int{run: 1, run + " > agentd: chat scripted": 2}
	for _, tool := range tracedTools {
		called := run + call + tool
		want[called], want[called+plugin+tool] = callsPerTool, callsPerTool
		scope, _, _ := strings.Cut(strings.TrimPrefix(tool, "trace_"), "_")
		for i := range callsPerTool {
			own := fmt.Sprintf(" > toolhost.plugin/tracer_%s: %s %d", scope, tool, i)
			want[called+plugin+tool+own+" outer"], want[called+plugin+tool+own+" outer"+own+" inner"] = 1, 1
		}
	}
	byID, got := map[string]telemetrytest.Span{}, map[string]int{}
	for _, s := range all {
		byID[s.ID] = s
	}
	for _, s := range all {
		if s.Trace != all[0].Trace {
			t.Errorf("%s is in another trace", s.Name)
		}
		if p := byID[s.Parent]; p.ID != "" && p.Service == "toolhost" && (s.Start < p.Start || s.End > p.End) {
			t.Errorf("%s is not within its parent %s", s.Name, p.Name)
		}
		got[lineage(byID, s)]++
	}
	if diff := cmp.Diff(want, got); diff != "" || len(byID) != len(all) {
		t.Errorf("%d spans with %d ids (-want +got):\n%s", len(all), len(byID), diff)
	}
	for _, s := range all {
		if language := s.Attributes["language"]; strings.HasSuffix(s.Name, " inner") && (language == "" || !strings.Contains(s.Name, language)) {
			t.Errorf("%s has the attributes %v", s.Name, s.Attributes)
		}
	}
}

// lineage returns the names of a span and its ancestors, each after its scope or service.
func lineage(byID map[string]telemetrytest.Span, s telemetrytest.Span) string {
	var names []string
	for ok := true; ok && len(names) < len(byID); s, ok = byID[s.Parent] {
		in := s.Service
		if strings.HasPrefix(s.Scope, "toolhost.plugin/") {
			in = s.Scope
		}
		names = append([]string{in + ": " + s.Name}, names...)
	}
	return strings.Join(names, " > ")
}
