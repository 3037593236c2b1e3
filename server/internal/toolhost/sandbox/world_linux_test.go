//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// world is the surroundings of a small toolhost: a workspace, a state folder, and the folders of
// two plugins, one of which is sandboxed.
type world struct {
	base, workspace, own, other, state string
	cfg                                sandbox.Config
	situation                          sandbox.Situation
}

func newWorld(t testing.TB) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		base: base, workspace: filepath.Join(base, "work"), own: filepath.Join(base, "run", "p1", "tmp"),
		other: filepath.Join(base, "run", "p2", "tmp"), state: filepath.Join(base, "state"),
	}
	stage := filepath.Join(base, "run", "p1", "root")
	for _, dir := range []string{w.workspace, w.own, w.other, w.state, stage} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{w.workspace, w.own, w.other, w.state, base} {
		w.file(t, filepath.Join(dir, "file"), "this is in "+filepath.Base(dir))
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.cfg = sandbox.Config{
		Mode: sandbox.ModeOn, Workspace: w.workspace, WorkspaceAccess: tool.AccessWrite,
		Hidden: []string{w.state, filepath.Join(base, "run")},
	}
	w.situation = sandbox.Situation{
		Program: program, Own: []string{w.own}, Dir: w.own, Stage: stage, NoPIDNamespace: "tests have none",
		Without: map[string]string{},
	}
	return w
}

func (w *world) file(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// probe makes attempts in the sandbox and returns their results. It logs the layers that this
// machine does not give.
func (w *world) probe(t *testing.T, attempts ...string) ([]string, tool.Sandbox) {
	t.Helper()
	answers, shown, err := w.start(t, attempts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range shown.Layers {
		if !layer.Effective {
			t.Logf("this machine does not give the layer %q: %s", layer.Name, layer.Note)
		}
	}
	if len(answers) != len(attempts) {
		t.Fatalf("%d answers to %d attempts: %q", len(answers), len(attempts), answers)
	}
	return answers, shown
}

// start does what package process does: it tries again without layers that fail.
func (w *world) start(t *testing.T, attempts ...string) ([]string, tool.Sandbox, error) {
	t.Helper()
	for {
		plan, err := sandbox.New(w.cfg, w.situation)
		if err != nil {
			return nil, tool.Sandbox{}, err
		}
		out, err := run(t, plan, append([]string{"probe", "probe"}, attempts...))
		shown := plan.Sandbox()
		plan.Close()
		if refused, ok := errors.AsType[*sandbox.LayerError](err); ok && w.situation.Without[refused.Layer] == "" {
			w.situation.Without[refused.Layer] = refused.Error()
			continue
		}
		return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), shown, err
	}
}

func run(t testing.TB, plan *sandbox.Plan, argv []string) (string, error) {
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
	entered, err := plan.Enter(argv, &os.ProcAttr{
		Files: []*os.File{null, outW, outW}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	outW.Close()
	if err != nil {
		return "", err
	}
	process, err := entered.Execute(t.Context())
	if err != nil {
		return "", err
	}
	text, readErr := io.ReadAll(out)
	if _, err := process.Wait(); err != nil {
		t.Fatal(err)
	}
	return string(text), readErr
}

// effective reports whether a layer is shown as effective.
func effective(t *testing.T, shown tool.Sandbox, name string) bool {
	t.Helper()
	at := slices.IndexFunc(shown.Layers, func(w tool.SandboxLayer) bool { return w.Name == name })
	if at < 0 {
		t.Fatalf("the layer %q is not shown: %+v", name, shown.Layers)
	}
	layer := shown.Layers[at]
	if layer.Effective == (layer.Mechanism == "") || !layer.Effective && layer.Note == "" {
		t.Errorf("a layer needs a mechanism or the reason why there is none: %+v", layer)
	}
	return layer.Effective
}
