package agent_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// The calls of a run are spans of the caller's trace if the configuration trusts callers, also
// without an observer. The journal records them.
func TestTraces(t *testing.T) {
	const ours = "0af7651916cd43dd8448eb211c80319c"
	form := regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	for name, test := range map[string]struct {
		parent    string
		distrusts bool
		trace     string
		flags     string
	}{
		"none":        {"", false, "", "01"},
		"a parent":    {"00-" + ours + "-b7ad6b7169203331-00", false, ours, "00"},
		"not trusted": {"00-" + ours + "-b7ad6b7169203331-00", true, "", "01"},
		"no trace id": {"00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01", false, "", "01"},
		"ill-formed":  {"00-" + strings.ToUpper(ours) + "-b7ad6b7169203331-01", false, "", "01"},
	} {
		t.Run(name, func(t *testing.T) {
			m := turns(response(model.StopToolUse, call("a", "echo"), call("b", "echo")), response(model.StopEndTurn, text("hi")))
			f, tools := askedFixture(t, m, func(cfg *agent.Config) { cfg.TrustCallers = !test.distrusts })
			f.start(loop.Task{Traceparent: test.parent})
			sent := map[string]string{}
			events := f.watch(0)
			for _, c := range tools.opened {
				sent[c.ID] = c.Traceparent
			}
			run := events[0].Payload.(*loop.RunStarted).Traceparent
			if !form.MatchString(run) || !strings.HasSuffix(run, test.flags) || test.trace != "" && run[3:35] != test.trace || run == test.parent ||
				test.trace == "" && strings.Contains(run, ours) {
				t.Fatalf("the run is %q", run)
			}
			spans := map[string]bool{run: true}
			for _, e := range events {
				started, ok := e.Payload.(*loop.CallStarted)
				if !ok {
					continue
				}
				if got := sent[started.CallID]; got != started.Traceparent || got[:36] != run[:36] || spans[got] || !form.MatchString(got) {
					t.Errorf("%s was sent with %q, the event has %q, the run %q", started.CallID, got, started.Traceparent, run)
				}
				spans[started.Traceparent] = true
			}
			if len(spans) != 3 {
				t.Errorf("there are %d spans", len(spans))
			}
		})
	}
}
