//go:build mutants

package docs

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// bound is the time of one run, and boundOfPrograms that of a run that also builds programs. A
// mutant whose test hangs is noticed as well as one whose test fails.
const (
	bound           = 2 * time.Minute
	boundOfPrograms = 5 * time.Minute
)

// noticed is in the output of a test that fails, and not in that of a mutant that does not compile.
var noticed = regexp.MustCompile(`(?m)^\s*--- FAIL: |^panic: |^fatal error: `)

// TestMutants makes each mutant alone, with a build overlay, and runs its test. It fails for each
// mutant that the test does not notice. A test must pass without the mutant.
func TestMutants(t *testing.T) {
	passes := map[string]bool{} // by test, without a mutant
	killed := 0
	for _, m := range readMutants(t) {
		t.Run(m.of, func(t *testing.T) {
			if key := m.folder + ":" + m.test; !passes[key] {
				if passed, out := m.run(t, ""); !passed {
					t.Fatalf("%s fails without the mutant:\n%s", key, out)
				}
				passes[key] = true
			}
			switch passed, out := m.run(t, m.overlay(t)); {
			case passed:
				t.Errorf("%s:%s passes with this change of %s:\n-%s\n+%s", m.folder, m.test, m.file, m.text(m.old), m.text(m.new))
			case !noticed.MatchString(out):
				t.Errorf("the change of %s to %s does not compile:\n%s", m.file, m.text(m.new), out)
			default:
				killed++
			}
		})
	}
	t.Logf("%d mutants were noticed", killed)
}

// overlay writes the mutant, and returns the file for the flag -overlay of go.
func (m *mutant) overlay(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	changed, list := filepath.Join(dir, filepath.Base(m.file)), filepath.Join(dir, "overlay.json")
	source := strings.Replace(readPage(t, m.file), m.text(m.old), m.text(m.new), 1)
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root(t), m.file): changed}})
	if err = cmp.Or(err, os.WriteFile(changed, []byte(source), 0o600), os.WriteFile(list, replace, 0o600)); err != nil {
		t.Fatal(err)
	}
	return list
}

// run runs the test of a mutant. The environment has the overlay, because some tests build
// programs.
func (m *mutant) run(t *testing.T, overlay string) (passed bool, out string) {
	t.Helper()
	limit := bound
	if strings.Contains(m.folder, "/e2e") {
		limit = boundOfPrograms
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*boundOfPrograms) // with the compiler
	defer cancel()
	module, folder := ".", m.folder
	if inner, ok := strings.CutPrefix(folder, "server/"); ok {
		module, folder = "server", inner
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-vet=off", "-tags=grpcnotrace,more", "-timeout="+limit.String(), "-run=^("+cmp.Or(m.test, ".*")+")$", "./"+folder)
	cmd.Dir, cmd.WaitDelay = filepath.Join(root(t), module), time.Second
	cmd.Env = append(os.Environ(), "HISTORIES=yes") // of TestHistories
	if overlay != "" {
		cmd.Env = append(cmd.Env, "GOFLAGS="+os.Getenv("GOFLAGS")+" '-overlay="+overlay+"'")
	}
	text, err := cmd.CombinedOutput()
	if strings.Contains(string(text), "[no tests to run]") {
		t.Fatalf("%s has no test %s here", m.folder, m.test)
	}
	return err == nil, string(text)
}
