package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// The settings of agentd.yaml reach the agent.
func TestWhatTheFileSaysReachesTheAgent(t *testing.T) {
	c, err := agentconfig.Parse("/agentd.yaml", []byte("model_idle: 90s\nexplicit_completion: true\nagents: {echoes: {tools: {names: [echo], plugins: [p], excluded: [x]}, model: 'anthropic:m', effort: low, sub_runs: 0}}\nmax_runs: 7\nattachment_memory: 21MiB\nsub_runs: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := &setup{config: c, process: cli.Process{Getenv: func(string) string { return "" }}}
	got, err := s.agentConfig(true)
	if err != nil {
		t.Fatal(err)
	}
	if got.ModelIdle != 90*time.Second || !got.ExplicitCompletion || got.MaxRuns != 7 || got.AttachmentMemory != 21<<20 || got.SubRuns != 1 || !got.People.Attended {
		t.Errorf("got %+v", got)
	}
	want := map[string]agent.NamedAgent{"echoes": {
		Tools:  loop.ToolChoice{Names: []string{"echo"}, Plugins: []string{"p"}, Excluded: []string{"x"}, MaxTools: 40},
		Models: []string{"anthropic:m"}, Sampling: model.Sampling{Effort: model.EffortLow}, SubRuns: -1,
	}}
	if diff := cmp.Diff(want, got.Agents); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	// a model without its key is a problem only of the runs that name it
	if m := got.Models["anthropic:m"]; m.Model != nil || m.Problem == nil || !strings.Contains(m.Problem.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("the model of the agent: %+v", m)
	}
}
