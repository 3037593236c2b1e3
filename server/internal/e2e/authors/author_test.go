package authors

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/store/rmtree"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// patience bounds each command, so that a hang fails a test instead of blocking it.
const patience = 2 * time.Minute

// author is a person with a home folder and the programs in PATH.
type author struct {
	home, folder string
	env          []string
}

func newAuthor(t *testing.T) *author {
	t.Helper()
	// Short, because a socket path is limited to about 100 bytes.
	home, err := os.MkdirTemp("/tmp", "author-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rmtree.Remove(home); err != nil {
			t.Error(err)
		}
	})
	a := &author{home: home, folder: filepath.Join(home, "work")}
	for _, dir := range []string{a.folder, filepath.Join(home, "run")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	a.env = append(slices.DeleteFunc(os.Environ(), ours),
		"PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"XDG_RUNTIME_DIR="+filepath.Join(home, "run"),
		"XDG_STATE_HOME="+filepath.Join(home, "state"),
		"XDG_DATA_HOME="+filepath.Join(home, "data"),
	)
	return a
}

// ours reports whether the author's commands must not inherit a variable of the test's environment:
// it would lead them to another toolhost, or give make the settings of another make.
func ours(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return strings.HasPrefix(name, "TOOLHOST_") || strings.HasPrefix(name, "AGENTD_") || strings.HasPrefix(name, "MAKE") || name == "MFLAGS"
}

func (a *author) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(a.folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(trust.FileNames(), name) {
		a.says(t, "toolhost trust "+name, "trusted "+name)
	}
}

// command prepares a shell line that the author types.
func (a *author) command(t *testing.T, line string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", "exec "+line)
	cmd.Dir, cmd.Env = a.folder, a.env
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// types runs a line that must succeed and returns its standard output.
func (a *author) types(t *testing.T, line string) string {
	t.Helper()
	cmd := a.command(t, line)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	began := time.Now()
	out, err := cmd.Output()
	t.Logf("$ %.100s (%v)\n%s%s", line, time.Since(began).Round(time.Millisecond), out, stderr.String())
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return string(out)
}

// serves runs a line that starts a server. It returns when the server is ready, with a function
// that stops it.
func (a *author) serves(t *testing.T, line string) (stop func()) {
	t.Helper()
	// Not CommandContext: only the signal ends it, if necessary after the test's context.
	cmd := exec.Command("/bin/sh", "-c", "exec "+line)
	cmd.Dir, cmd.Env = a.folder, a.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ready, err := bufio.NewReader(stdout).ReadString('\n')
	stop = sync.OnceFunc(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("%s: %v\n%s", line, err, stderr.String())
		}
	})
	t.Cleanup(stop)
	if err != nil || !strings.Contains(ready, "ready") {
		t.Fatalf("%s says %q, %v", line, ready, err)
	}
	t.Logf("$ %s\n%s", line, ready)
	if strings.Contains(ready, "still being asked") { // a person reads this and waits
		a.known(t)
	}
	return stop
}

// known waits until toolhost has the definitions of all plugins.
func (a *author) known(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		out, err := a.command(t, "toolhost plugins").Output()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(out), "is being asked") {
			return
		}
		<-tick.C
	}
}
