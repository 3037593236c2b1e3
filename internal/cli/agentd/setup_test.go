package agentd

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/agent/agentconfig"
	"github.com/toolhost/toolhost/internal/agent/loop"
)

// The settings of agentd.yaml reach the agent.
func TestWhatTheFileSaysReachesTheAgent(t *testing.T) {
	c, err := agentconfig.Parse("/agentd.yaml", []byte("model_idle: 90s\nexplicit_completion: true\nkinds: {echoes: {names: [echo]}}\nmax_runs: 7\nsub_runs: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := &setup{config: c}
	got := s.agentConfig(true)
	if got.ModelIdle != 90*time.Second || !got.ExplicitCompletion || got.MaxRuns != 7 || got.SubRuns != 1 || !got.People.Attended {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff(map[string]loop.ToolChoice{"echoes": {Names: []string{"echo"}, MaxTools: 40}}, got.Kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}
