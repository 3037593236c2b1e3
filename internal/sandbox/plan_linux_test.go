//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// world is what a sandboxed shell of a test lives in.
type world struct {
	base, own, workspace string
	cfg                  sandbox.Config
	situation            sandbox.Situation
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{base: base, own: filepath.Join(base, "run/p1/tmp"), workspace: filepath.Join(base, "work")}
	stage := filepath.Join(base, "run/p1/root")
	for _, dir := range []string{w.own, w.workspace, stage, filepath.Join(base, "run/p2/tmp"), filepath.Join(base, "state")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.cfg = sandbox.Config{Mode: sandbox.ModeOn, Workspace: w.workspace, WorkspaceAccess: tool.AccessWrite, Hidden: []string{filepath.Join(base, "state"), filepath.Join(base, "run")}}
	w.situation = sandbox.Situation{Program: "/bin/sh", Own: []string{w.own}, Dir: w.own, Stage: stage, NoPIDNamespace: "the test has none"}
	return w
}

// shell runs a script in the sandbox and returns what it prints and how it ends.
func (w *world) shell(t *testing.T, script string) (string, tool.Sandbox) {
	t.Helper()
	out, shown, err := w.try(t, script)
	if err != nil {
		t.Fatal(err)
	}
	return out, shown
}

func (w *world) try(t *testing.T, script string) (string, tool.Sandbox, error) {
	t.Helper()
	for {
		plan, err := sandbox.New(w.cfg, w.situation)
		if err != nil {
			return "", tool.Sandbox{}, err
		}
		out, err := run(t, plan, "sh", "-c", script)
		plan.Close()
		refused, ok := errors.AsType[*sandbox.WallError](err)
		if !ok {
			return out, plan.Sandbox(), err
		}
		t.Log(refused)
		if w.situation.Without == nil {
			w.situation.Without = map[string]string{}
		}
		w.situation.Without[refused.Wall] = refused.Error()
	}
}

func run(t *testing.T, plan *sandbox.Plan, argv ...string) (string, error) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	out, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	process, err := plan.Start(t.Context(), argv, &os.ProcAttr{
		Env: []string{"PATH=/usr/bin:/bin"}, Files: []*os.File{null, outW, outW}, Sys: &syscall.SysProcAttr{Setsid: true},
	}, func(int) {})
	outW.Close()
	if err != nil {
		return "", err
	}
	text, readErr := io.ReadAll(out)
	if _, err := process.Wait(); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text)), readErr
}

func TestFirst(t *testing.T) {
	w := newWorld(t)
	out, shown := w.shell(t, `pwd; ls -la / /dev /etc /tmp; cat /proc/self/mountinfo; id; grep -i cap /proc/self/status; grep -i secc /proc/self/status; echo hi > `+w.workspace+`/x; ls `+w.base+` `+w.base+`/*; ps ax; ls /proc; cat /etc/passwd | head -2; ip a; unshare -U true; python3 -c 'print(1)'`)
	t.Log(out)
	t.Logf("%+v", shown)
}
