//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// attempt is an attempt in a sandbox.
type attempt struct {
	do   string
	want string // a part of the answer; empty: an error
}

func (w *world) check(t *testing.T, attempts []attempt) tool.Sandbox {
	t.Helper()
	words := make([]string, len(attempts))
	for i, a := range attempts {
		words[i] = a.do
	}
	answers, shown := w.probe(t, words...)
	for i, a := range attempts {
		switch failed := strings.HasPrefix(answers[i], "error: "); {
		case a.want == "" && !failed:
			t.Errorf("%s: %s; want it to be refused", a.do, answers[i])
		case a.want != "" && (failed || !strings.Contains(answers[i], a.want)):
			t.Errorf("%s: %s; want %q", a.do, answers[i], a.want)
		}
	}
	return shown
}

// files are the operations on files that a plugin may and may not do, by either of the two layers.
func (w *world) files() []attempt {
	return []attempt{
		{"read /etc/passwd", "root"},
		{"list /usr", "bin"},
		{"read /proc/self/comm", "sandbox"},
		{"read /dev/null", ""}, // replaced below: reading nothing is no error
		{"write /dev/null", "written"},
		{"read " + w.workspace + "/file", "this is in work"},
		{"write " + w.workspace + "/new", "written"},
		{"write " + w.own + "/new", "written"},
		{"write new", "written"}, // where it starts
		{"write /usr/probe", ""},
		{"list /usr/local", "bin"},
		{"write /etc/passwd", ""},
		{"read /etc/shadow", ""},
		{"read " + w.base + "/file", ""},
		{"read " + w.state + "/file", ""},
		{"list " + w.state, ""},
		{"read " + w.other + "/file", ""},
		{"write " + w.other + "/new", ""},
		{"read " + w.workspace + "/out/file", ""}, // a link that leads out
		{"link " + w.base + "/file " + w.workspace + "/hard", ""},
		{"read /proc/1/environ", ""},
		{"list /proc/1/root", ""},
		{"list /root", ""},
		{"list /home", ""},
		{"list /var/lib", ""},
		{"write /proc/sys/kernel/core_pattern", ""},
		{"read /dev/mem", ""},
		{"write /dev/tty", ""},
	}
}

func (w *world) prepareFiles(t *testing.T) []attempt {
	t.Helper()
	if err := os.Symlink(w.base, filepath.Join(w.workspace, "out")); err != nil {
		t.Fatal(err)
	}
	attempts := w.files()
	return append(attempts[:3], attempts[4:]...)
}

func TestFilesOutsideAreOutOfReach(t *testing.T) {
	w := newWorld(t)
	name := "toolhost-test-" + rand.Text() // a name that no other file on the machine has
	shown := w.check(t, append(w.prepareFiles(t), attempt{"write /tmp/" + name, "written"}, attempt{"write /dev/shm/" + name, "written"}))
	effective(t, shown, "files")
	effective(t, shown, "landlock")
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is not the process's own", dir)
		}
	}
	if got, err := os.ReadFile(filepath.Join(w.workspace, "new")); err != nil || string(got) != "written by the probe" {
		t.Errorf("in the workspace is %q, %v", got, err)
	}
}

// If one of the two layers is not available, the other one holds alone, and that is shown.
func TestEitherLayerHoldsAlone(t *testing.T) {
	for _, name := range []string{"files", "landlock"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.situation.Without[name] = "the test does without"
			shown := w.check(t, w.prepareFiles(t))
			if effective(t, shown, name) {
				t.Errorf("the layer %q is shown as there", name)
			}
		})
	}
}

func TestWorkspaceIsAsGranted(t *testing.T) {
	for access, attempts := range map[tool.Access]func(w *world) []attempt{
		tool.AccessNone: func(w *world) []attempt {
			return []attempt{{"read " + w.workspace + "/file", ""}, {"write " + w.workspace + "/new", ""}}
		},
		tool.AccessRead: func(w *world) []attempt {
			return []attempt{{"read " + w.workspace + "/file", "this is in work"}, {"write " + w.workspace + "/new", ""}, {"remove " + w.workspace + "/file", ""}}
		},
	} {
		for _, without := range []string{"", "files", "landlock"} {
			t.Run(string(access)+" without "+without, func(t *testing.T) {
				w := newWorld(t)
				w.cfg.WorkspaceAccess = access
				if without != "" {
					w.situation.Without[without] = "the test does without"
				}
				if shown := w.check(t, attempts(w)); shown.Workspace != access {
					t.Errorf("the workspace is shown as %s", shown.Workspace)
				}
			})
		}
	}
}

func TestGrantsOpenWhatTheyName(t *testing.T) {
	w := newWorld(t)
	data, out := filepath.Join(w.base, "data"), filepath.Join(w.base, "out")
	for _, dir := range []string{data, out} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		w.file(t, filepath.Join(dir, "file"), "granted")
	}
	link := filepath.Join(w.base, "link")
	if err := os.Symlink("data", link); err != nil {
		t.Fatal(err)
	}
	w.cfg.Read, w.cfg.Write = []string{link}, []string{out}
	w.check(t, []attempt{
		{"read " + link + "/file", "granted"},
		{"read " + data + "/file", "granted"},
		{"write " + data + "/new", ""},
		{"write " + out + "/new", "written"},
		{"rename " + out + "/new " + out + "/newer", "renamed"},
		{"read " + w.base + "/file", ""},
	})
	w.cfg.Read = []string{filepath.Join(w.base, "missing")}
	if _, _, err := w.start(t); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a grant of what is not there: %v", err)
	}
}

// toolhost's own files are protected, also in a granted folder. They cannot be moved away either.
func TestExceptionsFromTheWorkspace(t *testing.T) {
	w := newWorld(t)
	w.cfg.Workspace = w.base
	settings := filepath.Join(w.base, "etc", "toolhost", "toolhost.yaml")
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		t.Fatal(err)
	}
	w.file(t, settings, "settings")
	secret := filepath.Join(w.base, "work", "secret")
	w.file(t, secret, "secret")
	w.cfg.Protected, w.cfg.Hidden = []string{settings, "/not/there"}, append(w.cfg.Hidden, secret, "/not/there/either")
	attempts := []attempt{
		{"read " + w.base + "/file", "this is in"},
		{"write " + w.base + "/new", "written"},
		{"read " + settings, "settings"},
		{"write " + settings, ""},
		{"rename " + settings + " " + w.base + "/moved", ""},
		{"remove " + settings, ""},
		{"rename " + w.base + "/etc " + w.base + "/moved", ""},
		{"rename " + w.base + "/etc/toolhost " + w.base + "/moved", ""},
		{"read " + w.state + "/file", ""},
		{"write " + w.state + "/new", ""},
		{"rename " + w.state + " " + w.base + "/moved", ""},
		{"read " + w.other + "/file", ""},
		{"write " + w.own + "/new", "written"},
		{"rename " + secret + " " + w.base + "/moved", ""},
	}
	for _, without := range []string{"", "files"} {
		t.Run("without "+without, func(t *testing.T) {
			if without != "" {
				w.situation.Without[without] = "the test does without"
			}
			answers, shown := w.probe(t, "read "+secret)
			if strings.Contains(answers[0], "secret\n") || answers[0] == "secret" {
				t.Errorf("the secret is %q", answers[0])
			}
			if !effective(t, shown, "files") { // then no new file can be made in the folder itself
				attempts[1] = attempt{"write " + w.base + "/newer", ""}
				attempts = append(attempts, attempt{"write " + w.base + "/file", "written"})
				for _, layer := range shown.Layers {
					if layer.Name == "landlock" && !strings.Contains(layer.Note, "no new ones can be made beside them: "+w.base) {
						t.Errorf("the layer does not say what is not granted: %+v", layer)
					}
				}
			}
			w.check(t, attempts)
		})
	}
}
