package commands

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/sdk/workspace/workspacetest"
)

// open returns a folder as a workspace, and what runs its commands.
func open(t *testing.T, l *Launcher, dir string) (*workspace.Local, workspace.Commands) {
	t.Helper()
	w, err := workspace.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	c, err := l.In(w)
	if err != nil {
		t.Fatal(err)
	}
	return w, c
}

func TestLocalCommands(t *testing.T) {
	l := New()
	workspacetest.RunCommands(t, func(t *testing.T) (workspace.Workspace, workspace.Commands) {
		return open(t, l, t.TempDir())
	})
}

// A process that only has to write its input may finish.
func TestOutputOfProcessSubstitutions(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Log("this machine has no bash, whose feature it is")
		return
	}
	l := New()
	l.linger = time.Hour // long enough for a busy machine
	_, c := open(t, l, t.TempDir())
	var out bytes.Buffer
	exit, err := c.Run(t.Context(), workspace.Command{
		Argv:   []string{"bash", "-c", `for i in 1 2 3; do echo $i > >(sleep 0.01; cat >>out); done; echo last > >(sleep 0.01; cat)`},
		Stdout: &out,
	})
	if err != nil || exit != (workspace.Exit{}) || out.String() != "last\n" {
		t.Errorf("got %+v, %q, %v", exit, out.String(), err)
	}
}

// If a launcher cannot end all processes of a command, it does not report success. It ends its
// process, so that toolhost kills them.
func TestProcessesThatCannotBeKilled(t *testing.T) {
	l := New()
	abandoned := 0
	l.patience, l.abandon = 0, func() { abandoned++ }
	dir := t.TempDir()
	_, c := open(t, l, dir)
	_, err := c.Run(t.Context(), workspace.Command{Argv: []string{"sh", "-c",
		"setsid sh -c 'echo $$ >pid; exec sleep 1000' &\nwhile [ ! -s pid ]; do sleep 0.01; done; kill -KILL $PPID; sleep 1000"}})
	if !errors.Is(err, workspace.ErrUnknownOutcome) || abandoned != 1 {
		t.Errorf("got %v; the process was abandoned %d times", err, abandoned)
	}
	if l.patience = time.Minute; !l.sweep() {
		t.Error("something is left")
	}
	gone(t, dir)
	if !l.sweep() {
		t.Error("something is left where nothing is")
	}
}

// A supervisor that loses its launcher ends its command immediately, and then itself.
func TestLauncherIsLost(t *testing.T) {
	l, dir := New(), t.TempDir()
	w, _ := open(t, l, dir)
	folder, err := w.OpenFolder(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	p, err := openPipes()
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	cmd := exec.Command(l.self)
	cmd.Args = []string{"toolhost-command", superviseArgument}
	cmd.Stdout, cmd.ExtraFiles = p.stdout.w, []*os.File{p.orders.r, p.report.w, folder, p.stderr.w}
	if err := l.start(cmd); err != nil {
		t.Fatal(err)
	}
	p.closeChild()
	script := "trap '' TERM; setsid sleep 1000 & echo $$ >pid; echo ready; while :; do sleep 1; done"
	if err := json.NewEncoder(p.orders.w).Encode(order{Command: []string{"/bin/sh", "-c", script}, Linger: linger}); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p.stdout.r).ReadString('\n'); line != "ready\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	p.close() // like the end of the launcher's process
	_ = cmd.Wait()
	gone(t, dir)
}

// gone fails the test if the process whose pid is in the folder, or any other process of the test,
// still runs.
func gone(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		t.Fatalf("the number %q, %v", text, err)
	}
	if r, there := look(pid); there && !r.ended {
		t.Errorf("process %d is left", pid)
	}
	if left := descendants(os.Getpid()); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}
