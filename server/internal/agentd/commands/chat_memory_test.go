package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
)

// The chat says that a folder has an AGENTS.md that no memory file is.
func TestUnusedInstructionsAreNamed(t *testing.T) {
	folder, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{folder, other} {
		if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte("Be kind."), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		folder string
		memory []string
		agents map[string]agentconfig.Agent
		says   bool
	}{
		"not configured":         {folder, nil, nil, true},
		"another one":            {folder, []string{filepath.Join(other, "AGENTS.md"), "workspace:docs/AGENTS.md"}, nil, true},
		"there is none":          {t.TempDir(), nil, nil, false},
		"of the workspace":       {folder, []string{"workspace:AGENTS.md"}, nil, false},
		"of the operator":        {folder, []string{filepath.Join(folder, "AGENTS.md")}, nil, false},
		"of an agent":            {folder, nil, map[string]agentconfig.Agent{"a": {Memory: []string{"workspace:./AGENTS.md"}}}, false},
		"a folder with the name": {filepath.Dir(folder), nil, nil, false},
	} {
		wide := 0
		d, shown := folds(&wide)
		c := &chat{text: d}
		c.setup.config.Memory, c.setup.config.Agents = tt.memory, tt.agents
		if err := c.unusedMemory(tt.folder); err != nil {
			t.Fatal(err)
		}
		if says := strings.Contains(shown.String(), `does not get AGENTS.md`) && strings.Contains(shown.String(), `memory: ["workspace:AGENTS.md"]`); says != tt.says || !says && shown.Len() > 0 {
			t.Errorf("%s: it says %q", name, shown)
		}
	}
}
