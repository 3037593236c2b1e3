package e2e_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetrytest"
)

// withTraces starts a toolhost that exports traces to a collector, with the plugin badplugin, which
// commits a violation.
func withTraces(t *testing.T, violation string) (*toolhost, *telemetrytest.Collector) {
	t.Helper()
	collector := telemetrytest.Start(t)
	h := prepare(t)
	script := "#!/bin/sh\nexec '" + filepath.Join(bin, "badplugin") + "' " + violation + "\n"
	if err := os.WriteFile(filepath.Join(h.plugins, "badplugin"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	config := "telemetry: {endpoint: \"" + collector.Endpoint + "\", metrics: {enabled: false}}\n"
	if err := os.WriteFile(filepath.Join(h.home, "toolhost.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	h.serve(t)
	return h, collector
}

// A plugin sends a million spans, spans of foreign parents, of other centuries, in a ring, and huge
// ones. Its call succeeds, and the trace has a bounded number of bounded spans and the number of
// those that toolhost dropped.
func TestAttackBySpans(t *testing.T) {
	t.Parallel()
	const sent = 1_000_000
	h, collector := withTraces(t, "bad_spans")
	if out, r := h.callJSON(t, "say", `{"text":"heard"}`); !strings.HasSuffix(out.Text, "heard") {
		t.Fatalf("the call ended with %+v: %s", out, r.stderr)
	}
	h.stop(t) // which exports the spans
	calls := collector.Named("execute_tool say")
	if len(calls) != 1 {
		t.Fatalf("the trace has %d calls: %+v", len(calls), calls)
	}
	call, byID := calls[0], map[string]telemetrytest.Span{}
	dropped, err := strconv.Atoi(strings.TrimPrefix(call.Attributes["toolhost.spans.dropped"], "int_value:"))
	if err != nil || dropped < sent {
		t.Errorf("the call reports %q dropped spans", call.Attributes["toolhost.spans.dropped"])
	}
	for _, s := range collector.Spans() {
		byID[s.ID] = s
	}
	if len(byID) != len(collector.Spans()) || len(byID) > 1+trace.MaxSpans {
		t.Errorf("the collector got %d spans with %d ids", len(collector.Spans()), len(byID))
	}
	names := map[string]telemetrytest.Span{}
	for _, s := range byID {
		names[s.Name] = s
		if s.Trace != call.Trace || s.Service != "toolhost" || s.Start < call.Start || s.End > call.End || s.Start > s.End {
			t.Errorf("%s is outside of the call: %+v", s.Name, s)
		}
		if s.ID == call.ID {
			continue
		}
		if s.Scope != "toolhost.plugin/badplugin" || s.Attributes["toolhost.plugin.name"] != "badplugin" || len(s.Attributes) > trace.MaxAttributes+1 {
			t.Errorf("%s has the scope %s and %d attributes", s.Name, s.Scope, len(s.Attributes))
		}
		above := s
		for range len(byID) {
			above = byID[above.Parent]
		}
		if above.ID != "" || s.Parent == "" {
			t.Errorf("the ancestors of %s do not end with the call", s.Name)
		}
		for key, value := range s.Attributes {
			if len(key) > trace.MaxName || len(value) > trace.MaxText {
				t.Errorf("%s has an attribute of %d and %d bytes", s.Name, len(key), len(value))
			}
		}
	}
	for _, name := range []string{"future", "past", "no time", "foreign", "loop", "pool", "toolhost's"} {
		if names[name].ID == "" {
			t.Errorf("the span %s is missing", name)
		}
	}
	if names["twice"].ID != "" || names["no id"].ID != "" || names["foreign"].Parent != call.ID {
		t.Errorf("the spans are %+v", names)
	}
}

// A plugin that sends text which is not UTF-8 breaks its own connection. Its call fails, and the
// calls of other plugins do not.
func TestAttackByGarbledSpans(t *testing.T) {
	h, collector := withTraces(t, "garbled_spans")
	if out, _ := h.callJSON(t, "say", `{"text":"heard"}`); out.Error == nil || out.Error.Kind != "crashed" {
		t.Errorf("the call ended with %+v", out)
	}
	if out, _ := h.callJSON(t, "calculator", `{"expression":"6*7"}`); out.Text != "42" {
		t.Errorf("the call of another plugin ended with %+v", out)
	}
	h.stop(t)
	for _, s := range collector.Spans() {
		if !strings.HasPrefix(s.Name, "execute_tool ") {
			t.Errorf("the collector got %+v", s)
		}
	}
}
