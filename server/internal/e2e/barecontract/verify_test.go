//go:build more

package barecontract

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// testVerify checks that `toolhost verify` accepts a plugin that knows only the contract.
func testVerify(t *testing.T, toolhost string, p program) {
	home := shortFolder(t)
	config, err := json.Marshal(map[string]any{"defaults": map[string]any{"sandbox": map[string]any{"read": p.reads}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "toolhost.yaml") // JSON is valid YAML
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), toolhost, "verify", p.install(t, home), "--config", file)
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
