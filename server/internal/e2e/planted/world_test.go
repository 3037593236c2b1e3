package planted

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/server/internal/store/rmtree"
)

// built is the folder with the programs: toolhost, agentd, plugins/fs, plugins/shell and
// ownerplugin.
var built string

const (
	// patience bounds every command, so that a hang fails the test.
	patience = 3 * time.Minute
	// nobody is the ordinary user if the tests run as root.
	nobody = 65534
	// untrusted is the exit code for a configuration that is not trusted.
	untrusted = 7
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("/tmp", "planted-")
	if err == nil {
		built = dir
		err = errors.Join(
			programs.Build(context.Background(), dir, "./cmd/toolhost", "./cmd/agentd", "./internal/e2e/testplugins/ownerplugin"),
			programs.Build(context.Background(), filepath.Join(dir, "plugins"), "./plugins/fs", "./plugins/shell"),
		)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// world is a user with a home, a workspace and an installation: bin/toolhost, bin/agentd and
// bin/plugins.
type world struct {
	base, canary string
	uid          int
}

// eachUser runs a test as the user of the tests. If that user is root, it also runs it as an
// ordinary user.
func eachUser(t *testing.T, test func(t *testing.T, w *world)) {
	uids := map[string]int{"same user": os.Getuid()}
	if os.Getuid() == 0 {
		uids["nobody"] = nobody
	}
	for name, uid := range uids {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Not in /tmp, because plugins have another /tmp; short, because socket paths are
			// limited.
			base, err := os.MkdirTemp("/var/tmp", "plt-")
			must(t, err)
			t.Cleanup(func() {
				if err := rmtree.Remove(base); err != nil {
					t.Error(err)
				}
			})
			must(t, os.Chmod(base, 0o755))
			w := &world{base: base, canary: "canary-" + rand.Text(), uid: uid}
			for _, dir := range []string{"home", "run", "ws", "bin/plugins", "etc"} {
				must(t, os.MkdirAll(w.path(dir), 0o700))
			}
			for _, name := range []string{"toolhost", "agentd", "plugins/fs", "plugins/shell"} {
				data, err := os.ReadFile(filepath.Join(built, name))
				must(t, err)
				must(t, programs.Write(w.path("bin", name), data, 0o700))
			}
			w.own(t)
			test(t, w)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) path(elements ...string) string {
	return filepath.Join(append([]string{w.base}, elements...)...)
}

// own makes the user the owner of all files.
func (w *world) own(t *testing.T) {
	t.Helper()
	must(t, filepath.WalkDir(w.base, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, w.uid, -1))
	}))
}

// write writes a file of the user.
func (w *world) write(t *testing.T, name, text string) string {
	t.Helper()
	path := w.path(name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o600))
	w.own(t)
	return path
}

// plugin installs an ownerplugin with the claim under a file name.
func (w *world) plugin(t *testing.T, name, claim string) {
	t.Helper()
	if !json.Valid([]byte(claim)) {
		t.Fatalf("the claim is no JSON: %s", claim)
	}
	data, err := os.ReadFile(filepath.Join(built, "ownerplugin"))
	must(t, err)
	path := w.path(name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, programs.Write(path+".new", append(data, "\n"+claim...), 0o700))
	must(t, os.Rename(path+".new", path))
	w.own(t)
}

// command prepares a program that the user starts in a folder.
func (w *world) command(ctx context.Context, folder, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.path("bin", name), args...)
	cmd.Dir = w.path(folder)
	cmd.Env = []string{
		"HOME=" + w.path("home"), "TMPDIR=" + w.path("run"), "PATH=/usr/bin:/bin", "AWS_SECRET_ACCESS_KEY=" + w.canary, "XDG_RUNTIME_DIR=" + w.path("run"),
	}
	if os.Getuid() != w.uid {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(w.uid), Gid: uint32(w.uid)}}
	}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// result is the output and the exit code of a command.
type result struct {
	output string
	code   int
}

// run runs a program to its end.
func (w *world) run(t *testing.T, folder, name string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := w.command(ctx, folder, name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			t.Fatalf("%s %q: %v", name, args, err)
		}
	}
	return result{out.String(), cmd.ProcessState.ExitCode()}
}

// ends checks the exit code and that the output contains the texts.
func (r result) ends(t *testing.T, code int, texts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d\n%s", r.code, code, r.output)
	}
	for _, text := range texts {
		if !strings.Contains(r.output, text) {
			t.Errorf("want %q in the output of exit code %d\n%s", text, r.code, r.output)
		}
	}
}

// asks runs `agentd run` in a folder with a model that follows a script.
func (w *world) asks(t *testing.T, folder, script string, flags ...string) result {
	t.Helper()
	path := w.write(t, "etc/script.yaml", script)
	return w.run(t, folder, "agentd", append([]string{"run", "--model", "scripted:" + path, "go"}, flags...)...)
}

// harmless is the script of a model that only answers.
const harmless = "turns:\n  - text: all is well\n"

// writes is the script of a model that was persuaded to write a file.
func writes(path, content string) string {
	// JSON is valid YAML
	arguments, _ := json.Marshal(map[string]string{"path": path, "content": content})
	return fmt.Sprintf("turns:\n  - calls: [{id: w, tool: write_file, arguments: %s}]\n  - text: done\n", arguments)
}
