package process_test

import (
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/tool"
)

// Two Configs start alike unless they differ in something that the process keeps for its life.
func TestStartsLike(t *testing.T) {
	cfg, _ := setup(t)
	for name, test := range map[string]struct {
		change func(c *process.Config)
		want   bool
	}{
		"nothing":   {func(*process.Config) {}, true},
		"instance":  {func(c *process.Config) { c.Instance = "other" }, true},
		"timeout":   {func(c *process.Config) { c.StartTimeout = 7 * time.Second }, true},
		"report":    {func(c *process.Config) { c.Report = func(tool.InstanceState) {} }, true},
		"path":      {func(c *process.Config) { c.Path = "/bin/true" }, false},
		"arguments": {func(c *process.Config) { c.Args = append([]string{"-x"}, c.Args...) }, false},
		"variable":  {func(c *process.Config) { c.Env = append([]string{"A=1"}, c.Env...) }, false},
		"limit":     {func(c *process.Config) { c.Limits.OpenFiles = 7 }, false},
		"grant":     {func(c *process.Config) { c.Sandbox.Network = true }, false},
		"namespace": {func(c *process.Config) { c.PIDNamespace = process.NamespaceRequired }, false},
	} {
		other := cfg
		if test.change(&other); cfg.StartsLike(other) != test.want {
			t.Errorf("with another %s it starts alike: %v, want %v", name, !test.want, test.want)
		}
	}
}
