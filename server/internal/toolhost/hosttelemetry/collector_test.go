package hosttelemetry_test

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetrytest"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/tool"
)

// A collector that is gone, hangs or is too slow does not delay calls. Spans are dropped and
// counted, and the log has one line when exports begin to fail and one when they succeed again.
func TestCollectorGone(t *testing.T) {
	const most, calls = 100, 5000
	collector := &telemetrytest.Collector{}
	telemetrytest.StartAt(t, collector, "127.0.0.1:0")() // gone
	s := settings()
	s.Endpoint, s.Metrics.Enabled, s.Traces.Queue, s.Timeout, s.Listen = collector.Endpoint, false, new(most), new(time.Second), "127.0.0.1:0"
	log := &lines{}
	tele, o := open(t, s, nil, log)
	call := func(times int) {
		for range times {
			call := &tool.Call{ID: "c", Tool: "echo", Principal: me}
			span := o.CallBegan(call, host.ToolCall, time.Now())
			o.CallEnded(&host.CallEnd{Call: call, Plugin: "p", Span: span, Outcome: &tool.Outcome{}})
		}
	}
	call(calls)
	eventually.Holds(t, "the failure is logged", func() bool { return len(log.with("cannot be exported")) == 1 })
	call(calls)
	_, metrics := read(t, tele, "/metrics")
	if !strings.Contains(metrics, `toolhost_telemetry_up{signal="traces"} 0`) || !droppedAtLeast(metrics, 2*(calls-20*most)) {
		t.Errorf("the metrics say\n%s", only(metrics, "telemetry"))
	}
	telemetrytest.StartAt(t, collector, strings.TrimPrefix(collector.Endpoint, "http://"))
	eventually.Holds(t, "spans are exported again", func() bool { call(1); return len(log.with("is exported again")) == 1 && len(collector.Spans()) > 0 })
	if got := len(log.with("telemetry")); got != 2 {
		t.Errorf("%d lines: %q", got, log.with(""))
	}
}

func droppedAtLeast(metrics string, least int) bool {
	_, rest, _ := strings.Cut(metrics, `toolhost_telemetry_dropped_total{signal="traces"} `)
	value, _, _ := strings.Cut(rest, "\n")
	got, err := strconv.ParseFloat(value, 64)
	return err == nil && int(got) >= least
}

func only(metrics, word string) string {
	kept := slices.DeleteFunc(slices.Collect(strings.Lines(metrics)), func(line string) bool { return !strings.Contains(line, word) })
	return strings.Join(kept, "")
}

// If a collector accepts traces and metrics and never answers, calls do not wait, and the process
// keeps one queue of spans. It drops and counts all others. No export ends before the test allows
// it, so a call that waited for one would never end.
func TestCollectorHangs(t *testing.T) {
	const queue, more = 10, 1000
	collector := &telemetrytest.Collector{Hold: make(chan struct{})}
	telemetrytest.StartAt(t, collector, "127.0.0.1:0")
	s := settings()
	s.Endpoint, s.Listen, s.Traces.Queue, s.Timeout = collector.Endpoint, "127.0.0.1:0", new(queue), new(time.Hour)
	interval := 10 * time.Millisecond
	s.Metrics.Interval = &interval
	tele, o := open(t, s, nil, io.Discard)
	release := sync.OnceFunc(func() { close(collector.Hold) })
	defer release()
	work := func(times int) {
		for range times {
			call := &tool.Call{ID: "c", Tool: "echo", Principal: me}
			o.CallEnded(&host.CallEnd{Call: call, Plugin: "p", Span: o.CallBegan(call, host.ToolCall, time.Now()), Outcome: &tool.Outcome{}})
		}
	}
	work(queue)
	eventually.Holds(t, "exports of all signals wait", func() bool { return collector.Held() == 2 })
	work(more)
	_, metrics := read(t, tele, "/metrics")
	for _, want := range []string{
		`toolhost_calls_total{outcome="ok",plugin="p",tool="echo"} 1010`,
		`toolhost_telemetry_dropped_total{signal="traces"} 1000`,
	} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("%s is missing:\n%s", want, only(metrics, "telemetry"))
		}
	}
	release()
	if err := tele.Close(); err != nil {
		t.Error(err)
	}
	if spans := len(collector.Spans()); spans != queue {
		t.Errorf("%d spans of a queue of %d were kept", spans, queue)
	}
}
