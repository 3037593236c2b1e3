//go:build !race

package hosttelemetry_test

import (
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/telemetry"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetrytest"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttelemetry"
	"github.com/toolhost/toolhost/tool"
)

// With 1,000 plugins and 10,000 tools, each series names its plugin and tool, and all scrapes have
// the same series. Otherwise an alert does not name its plugin, and an increase means nothing.
func TestSeriesOfManyPlugins(t *testing.T) {
	const plugins, tools = 1000, 10_000
	s := settings()
	s.Listen, s.Traces.Enabled, s.Histograms = "127.0.0.1:0", false, "native" // the text has no buckets of these
	tele, o := open(t, s, nil, io.Discard)
	var state hosttelemetry.State
	for i := range plugins {
		name := fmt.Sprint("p", i)
		o.Expect(name)
		o.PluginEvent(tool.PluginEvent{Type: "instance_crashed", Plugin: name})
		state.Plugins = append(state.Plugins, supervisor.Measurements{Plugin: name, State: tool.PluginQuarantined})
	}
	if err := o.Observe(func() hosttelemetry.State { return state }); err != nil {
		t.Fatal(err)
	}
	for i := range tools {
		for _, outcome := range []*tool.Outcome{{}, {Err: tool.Errorf(tool.KindCrashed, "x")}, {Err: tool.Errorf(tool.KindTimeout, "x")}} {
			ended(o, i%plugins, i, outcome)
		}
	}
	first, second := scrape(t, tele), scrape(t, tele)
	if !maps.Equal(first, second) {
		t.Error("two scrapes differ")
	}
	for i := range plugins {
		for _, want := range []string{`toolhost_plugin_events_total{plugin="p%d",type="instance_crashed"} 1`, `toolhost_plugin_state{plugin="p%d",state="quarantined"} 1`} {
			if want := fmt.Sprintf(want, i); !first[want] {
				t.Fatalf("%s is missing", want)
			}
		}
	}
	for i := range tools {
		if want := fmt.Sprintf(`toolhost_calls_total{outcome="timeout",plugin="p%d",tool="t%d"} 1`, i%plugins, i); !first[want] {
			t.Fatalf("%s is missing", want)
		}
	}
	for line := range first {
		if strings.Contains(line, "overflow") {
			t.Errorf("a series has no names: %s", line)
		}
	}
}

// Beyond the bound, the first series stay, and one series counts all others.
func TestSeriesAreBounded(t *testing.T) {
	s := settings()
	s.Listen, s.Traces.Enabled = "127.0.0.1:0", false
	tele, o := open(t, s, nil, io.Discard)
	const beyond = 80
	for i := range telemetry.MaxSeries + beyond {
		o.CallDecided(audit.Denied, fmt.Sprint("rule-", i))
	}
	first, second := scrape(t, tele), scrape(t, tele)
	if !maps.Equal(first, second) {
		t.Error("two scrapes differ")
	}
	if len(first) != telemetry.MaxSeries+1 || !first[fmt.Sprintf(`toolhost_policy_decisions_total{outcome="denied",rule="rule-%d"} 1`, telemetry.MaxSeries-1)] ||
		!first[`toolhost_policy_decisions_total{otel_metric_overflow="true"} `+strconv.Itoa(beyond)] {
		t.Errorf("%d series", len(first))
	}
}

// ended reports the end of a call.
// The metrics of 10,000 tools are more than one message of gRPC may have. They arrive in parts.
func TestManySeriesArriveAtTheCollector(t *testing.T) {
	const tools = 10_000
	collector := telemetrytest.Start(t)
	s := settings()
	s.Endpoint, s.Traces.Enabled, s.Timeout, s.Metrics.Interval = collector.Endpoint, false, new(time.Minute), new(time.Second)
	log := &lines{}
	_, o := open(t, s, nil, log)
	for i := range tools {
		for n, outcome := range []*tool.Outcome{{}, {Err: tool.Errorf(tool.KindTimeout, "x")}} {
			o.CallEnded(&host.CallEnd{
				Call: &tool.Call{ID: "c", Tool: fmt.Sprint("a_tool_with_a_name_of_usual_length_", i)}, Plugin: fmt.Sprint("usual-plugin-", i%100),
				Outcome: outcome, Attempts: 1, Total: time.Duration(1+n*100) * time.Millisecond,
			})
		}
	}
	eventually.Holds(t, "all series arrive", func() bool {
		return collector.Series("toolhost.calls") == 2*tools || len(log.with("cannot be exported")) > 0
	})
	if failed := log.with("cannot be exported"); len(failed) > 0 {
		t.Error(failed)
	}
}

func ended(o *hosttelemetry.Observer, plugin, number int, outcome *tool.Outcome) {
	o.CallEnded(&host.CallEnd{Call: &tool.Call{ID: "c", Tool: fmt.Sprint("t", number)}, Plugin: fmt.Sprint("p", plugin), Outcome: outcome, Attempts: 1})
}

// scrape returns the lines of the metrics of calls, plugins and decisions.
func scrape(t *testing.T, tele *telemetry.Telemetry) map[string]bool {
	t.Helper()
	_, metrics := read(t, tele, "/metrics")
	lines := map[string]bool{}
	for line := range strings.Lines(metrics) {
		name, _, _ := strings.Cut(line, "_total{")
		switch {
		case name == "toolhost_calls", name == "toolhost_policy_decisions", strings.HasPrefix(line, "toolhost_plugin_"):
			lines[strings.TrimSuffix(line, "\n")] = true
		}
	}
	return lines
}
