package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// atOnce is the number of parallel tests that run at the same time. It exceeds the number of
// processors, because the tests wait for processes, timeouts and restarts most of the time.
const atOnce = 6

// bin is the folder with the binaries under test (toolhost, agentd, plugins/NAME) and the plugins
// of the tests.
var bin string

// patience limits every wait, so that a hang fails a test and does not stop the run.
const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(max(atOnce, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "toolhost-e2e-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	bin = dir
	for target, packages := range map[string][]string{
		dir:                           {"./cmd/toolhost", "./cmd/agentd", "./internal/toolhost/conformance/badplugin", "./internal/toolhost/process/fault/faultplugin", "./internal/e2e/testplugins/versionplugin", "./internal/e2e/testplugins/dynamicplugin", "./internal/e2e/testplugins/contextplugin", "./internal/e2e/testplugins/filterplugin", "./internal/e2e/testplugins/secretplugin", "./internal/e2e/testplugins/terminalplugin", "./internal/e2e/testplugins/approvalplugin", "./internal/e2e/testplugins/schemaplugin", "./internal/e2e/testplugins/mcpserver", "./internal/e2e/testplugins/conformserver", "./internal/e2e/testplugins/askplugin", "./internal/e2e/testplugins/bankplugin"},
		filepath.Join(dir, "plugins"): {"./plugins/artifacts", "./plugins/calculator", "./plugins/fs", "./plugins/todo"},
		filepath.Join(dir, "others"):  {"./plugins/shell"}, // only used by a few tests
	} {
		if err := programs.Build(context.Background(), target, packages...); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

// result has the output of a command and its exit code.
type result struct {
	stdout, stderr string
	code           int
}

// says fails the test unless the output contains all texts.
func (r result) says(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.stdout+r.stderr, text) {
			t.Errorf("want %q in the output, got exit code %d\nstdout: %s\nstderr: %s", text, r.code, r.stdout, r.stderr)
		}
	}
}

// exits fails the test unless the command ended with the code.
func (r result) exits(t *testing.T, code int) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", r.code, code, r.stdout, r.stderr)
	}
}

// command prepares a binary under test with a separate environment, so that the machine's settings
// have no effect.
func command(ctx context.Context, home string, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(bin, name), args...)
	cmd.Env = append([]string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home}, env...)
	cmd.Dir = home
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// run runs a command to its end.
func run(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatalf("running %s: %v\n%s", cmd, err, stderr.String())
	}
	return result{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
}
