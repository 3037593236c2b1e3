package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/telemetry/telemetrytest"
)

// A run with two tools of two plugins is one connected trace of agentd and toolhost, although a
// private toolhost serves the tools.
func TestTraceOfARun(t *testing.T) {
	collector := telemetrytest.Start(t)
	home := newHome(t)
	script := filepath.Join(home, "script.yaml")
	if err := os.WriteFile(script, []byte(`turns:
- {calls: [{id: a, tool: calculator, arguments: {expression: 6*7}}, {id: b, tool: list_todos, arguments: {}}]}
- {text: done}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	env := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.Endpoint, "OTEL_METRICS_EXPORTER=none"}
	run(t, command(ctx, home, env, "agentd", "run", "--model", "scripted:"+script, "compute and list")).exits(t, 0)

	byID, all := map[string]telemetrytest.Span{}, collector.Spans()
	for _, s := range all {
		if byID[s.ID].ID != "" {
			t.Errorf("two spans have the id %s", s.ID)
		}
		byID[s.ID] = s
	}
	lineage := map[string]int{}
	for _, s := range all {
		if s.Trace != all[0].Trace {
			t.Errorf("%s is in another trace", s.Name)
		}
		names := []string{}
		for at := s; ; at = byID[at.Parent] {
			names = append([]string{at.Service + " " + at.Name}, names...)
			if at.Parent == "" || at.ID == "" {
				break
			}
		}
		lineage[strings.Join(names, " > ")]++
	}
	const run, tool = "agentd invoke_agent agentd", " > agentd execute_tool "
	for want, count := range map[string]int{
		run: 1, run + " > agentd chat scripted": 2,
		run + tool + "calculator": 1, run + tool + "calculator > toolhost execute_tool calculator": 1,
		run + tool + "list_todos": 1, run + tool + "list_todos > toolhost execute_tool list_todos": 1,
	} {
		if lineage[want] != count {
			t.Errorf("%d times %s, want %d", lineage[want], want, count)
		}
	}
	if len(all) != 7 || t.Failed() {
		t.Errorf("%d spans: %v", len(all), lineage)
	}
	served := collector.Named("execute_tool calculator")
	for _, s := range served {
		if s.Service == "toolhost" && (s.Attributes["gen_ai.tool.name"] != "calculator" || s.Attributes["toolhost.plugin.name"] != "calculator" || len(s.Events) < 3) {
			t.Errorf("toolhost's span is %+v", s)
		}
	}
}
