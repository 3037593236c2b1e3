package install

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/trust"
)

// What `trust --diff` showed is trusted with its digest, and nothing that is in its place later.
func TestTrustWithADigest(t *testing.T) {
	state, path := t.TempDir(), filepath.Join(t.TempDir(), trust.ToolhostFile)
	getenv := func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }
	write := func(text string) string {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return trust.Digest([]byte(text))
	}
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := NewTrustCommand(cli.Process{Getenv: getenv, Stdout: &out, Stderr: &out})
		cmd.SetArgs(args)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	trusted := func() bool {
		_, known, err := trust.NewUserStore(getenv).File(path)
		return known && err == nil
	}
	code := func(err error) int {
		if exit, ok := errors.AsType[*cli.ExitError](err); ok {
			return exit.Code
		}
		return 0
	}
	seen := write("locked: true\n")
	if out, err := run("--diff", path); err != nil || !strings.Contains(out, "to trust exactly this: toolhost trust "+path+" --digest "+seen) {
		t.Errorf("--diff says %q, %v", out, err)
	}
	write("locked: false\n")
	if _, err := run(path, "--digest", seen); code(err) != cli.ExitUntrusted || trusted() {
		t.Errorf("what came since is trusted: %v", err)
	}
	if _, err := run(path, "--digest", ""); err == nil || trusted() {
		t.Errorf("a digest that is empty, such as that of an unset variable: %v", err)
	}
	if _, err := run("--all", "--digest", seen); code(err) != cli.ExitUsage {
		t.Errorf("a digest of all plugins: %v", err)
	}
	write("locked: true\n")
	if _, err := run(path, "--digest", seen); err != nil || !trusted() {
		t.Errorf("what was seen is not trusted: %v", err)
	}
}
