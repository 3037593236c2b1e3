//go:build more

package monitoring

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetrytest"
	"github.com/toolhost/toolhost/tool"
)

// unreached are alerts that this test does not cause, with the reason. promtool tests them.
var unreached = map[string]string{
	"AgentdDiskAlmostFull":     "the journal is on the disk of the machine, which a test must not fill; the rule is that of ToolhostDiskAlmostFull",
	"AgentdJournalFails":       "a journal that cannot be written fails only after ten seconds, and stops the run",
	"AgentdRunParked":          aloneAlert,
	"AgentdSilent":             aloneAlert,
	"ToolhostDatabaseDown":     sharedAlert,
	"ToolhostDatabaseSlow":     sharedAlert,
	"ToolhostPeersUnreachable": sharedAlert,
	"ToolhostPluginHangs":      "toolhost stops a process that ignores a cancel only after the yield timeout, and the look back of the test is shorter",
	"ToolhostSilent":           sharedAlert,
}

const (
	sharedAlert = "the toolhost of this test shares its ledger with no other"
	aloneAlert  = "the runs of this test are in a file, of one agentd"
)

// Each failure makes its alerts fire, and its repair resolves them. In the end every query of every
// dashboard has an answer.
func TestAlertsFireAndResolve(t *testing.T) {
	rules := t.TempDir()
	alerts := shortRules(t, rules)
	s := newSite(t, startModel(t))
	p := startPrometheus(t, rules, s.metrics)
	eventually.Holds(t, "Prometheus reads both", func() bool { return len(p.query(t, "up == 1")) == 2 })

	caused := map[string]bool{}
	for _, failure := range []struct {
		name   string
		alerts []string
		test   func(t *testing.T, s *site, p *prometheus, alerts []string)
	}{
		{"crash", []string{"ToolhostPluginCrashed", "ToolhostPluginQuarantined", "ToolhostCallsFail"}, crash},
		{"launch", []string{"ToolhostLaunchesFail"}, failToLaunch},
		{"slow", []string{"ToolhostCallsSlow", "ToolhostQueueFull"}, slowDown},
		{"disk", []string{"ToolhostDiskAlmostFull"}, fillDisk},
		{"model", []string{"AgentdModelErrors", "AgentdRunsFail"}, breakModel},
		{"cost", []string{"AgentdCostRate"}, spend},
		{"person", []string{"AgentdApprovalsWait"}, waitForPerson},
		{"collector", []string{"ToolhostTelemetryDropped", "AgentdTelemetryDropped"}, startCollector},
		{"queries", nil, askEverything},
		{"ledger", []string{"ToolhostLedgerAlmostFull", "ToolhostDown"}, fillLedger},
		{"agentd", []string{"AgentdDown"}, stopAgentd},
	} {
		t.Run(failure.name, func(t *testing.T) { failure.test(t, s, p, failure.alerts) })
		for _, alert := range failure.alerts {
			caused[alert] = true
		}
	}
	for _, alert := range alerts {
		if caused[alert] == (unreached[alert] != "") {
			t.Errorf("the alert %s: caused %v, reason not to cause it %q", alert, caused[alert], unreached[alert])
		}
	}
}

// call makes a call. It may fail.
func (s *site) call(ctx context.Context, id, name string, arguments any) {
	text, _ := json.Marshal(arguments)
	_, _ = s.tools.Call(ctx, tool.Call{ID: id, Tool: name, Arguments: text})
}

type fault struct {
	Do     string `json:"do"`
	Text   string `json:"text,omitempty"`
	Number int    `json:"number,omitempty"`
}

// crash makes a plugin crash until it is in quarantine, and clears it.
func crash(t *testing.T, s *site, p *prometheus, alerts []string) {
	n := 0 // toolhost refuses the same call after its third crash, before the quarantine
	p.fires(t, func() { n++; s.call(t.Context(), "", "fault", fault{Do: "exit", Number: n}) }, alerts...)
	if out := s.do(t, "why", "fault"); !strings.Contains(out, "toolhost clear fault") {
		t.Errorf("toolhost why says\n%s", out)
	}
	s.do(t, "clear", "fault")
	p.resolves(t, alerts...)
}

// failToLaunch lets processes of a plugin end before they take calls.
func failToLaunch(t *testing.T, s *site, p *prometheus, alerts []string) {
	s.writes(t, "bin/broken", "")
	p.fires(t, func() { s.call(t.Context(), "", "chaoslaunch", fault{Do: "echo"}) }, alerts...)
	if err := os.Remove(s.path("bin", "broken")); err != nil {
		t.Fatal(err)
	}
	p.resolves(t, alerts...)
	if out := s.do(t, "call", "chaoslaunch", `{"do":"echo","text":"well again"}`); !strings.Contains(out, "well again") {
		t.Errorf("after the repair: %s", out)
	}
}

// slowDown keeps one call of a plugin in progress and its queue full. Each call takes two seconds.
// Further callers would be refused within microseconds, and no percentile would be slow.
func slowDown(t *testing.T, s *site, p *prometheus, alerts []string) {
	ctx, cancel := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	for range 3 {
		callers.Go(func() { // ends with ctx
			for ctx.Err() == nil {
				text, _ := json.Marshal(fault{Do: "hang"})
				_, _ = s.tools.Call(ctx, tool.Call{Tool: "chaosslow", Arguments: text, Timeout: 2e9})
			}
		})
	}
	p.fires(t, nil, alerts...)
	cancel()
	callers.Wait()
	p.resolves(t, alerts...)
}

func fillDisk(t *testing.T, s *site, p *prometheus, alerts []string) {
	free := s.fillDisk(t)
	p.fires(t, nil, alerts...)
	free()
	p.resolves(t, alerts...)
}

// run starts a run, waits for its end, and checks its exit code.
func (s *site) run(t *testing.T, prompt string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := s.command(ctx, "agentd", "run", "--addr", s.socket("a"), prompt)
	if out, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		t.Fatalf("the run %q ends with %v, want exit code %d:\n%s", prompt, err, code, out)
	}
}

func breakModel(t *testing.T, s *site, p *prometheus, alerts []string) {
	p.fires(t, func() { s.run(t, "this is broken", 1) }, alerts...)
	p.resolves(t, alerts...)
}

func spend(t *testing.T, s *site, p *prometheus, alerts []string) {
	s.run(t, "this is uneven", 0)
	p.fires(t, func() { s.run(t, "please compute", 0) }, alerts...)
	p.resolves(t, alerts...)
}

func waitForPerson(t *testing.T, s *site, p *prometheus, alerts []string) {
	id, err := s.runs.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "please ask"})
	if err != nil {
		t.Fatal(err)
	}
	p.fires(t, nil, alerts...)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if out, err := s.command(ctx, "agentd", "respond", "--addr", s.socket("a"), id, "--answer", "d1", "that one").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.resolves(t, alerts...)
}

// startCollector starts the collector, which did not answer until now.
func startCollector(t *testing.T, s *site, p *prometheus, alerts []string) {
	traced := func() { s.run(t, "please compute", 0) } // agentd and toolhost export spans of it
	p.fires(t, traced, alerts...)
	collector := &telemetrytest.Collector{}
	telemetrytest.StartAt(t, collector, s.collector)
	// A program that exports nothing after the failure does not know that it is over.
	eventually.Holds(t, "the collector gets spans of both programs", func() bool {
		traced()
		programs := map[string]bool{}
		for _, span := range collector.Spans() {
			programs[span.Service] = true
		}
		return len(programs) == 2
	})
	p.resolves(t, alerts...)
}

// fillLedger executes calls with side effects until the ledger refuses them. A larger ledger needs
// a restart, during which toolhost is down.
func fillLedger(t *testing.T, s *site, p *prometheus, alerts []string) {
	n := 0
	p.fires(t, func() { n++; s.call(t.Context(), fmt.Sprint("effect-", n), "chaoslaunch", fault{Do: "echo"}) }, alerts[0])
	s.configure(t, 10_000)
	s.toolhost.stop()
	p.fires(t, nil, alerts[1])
	s.toolhost.start(t)
	p.resolves(t, alerts...)
}

func stopAgentd(t *testing.T, s *site, p *prometheus, alerts []string) {
	s.agentd.stop()
	p.fires(t, nil, alerts...)
	s.agentd.start(t)
	p.resolves(t, alerts...)
}
