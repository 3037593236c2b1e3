package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// reader executes the blocks of a page in a home folder that no other test uses.
type reader struct {
	home, dir string // home contains all files of the reader; the scripts run in dir
	env       []string
	serving   map[string]server  // the running servers, by program
	log       string             // path of the server's log
	then      func()             // called once, after the first output of the page; may be nil
	enter     []string           // the program, with its arguments, that runs commands on the reader's machine; nil: none
	others    map[string]*reader // the readers at the other machines of the page, by the name of the machine
}

// server is a running server.
type server struct {
	cmd    *exec.Cmd
	exited <-chan struct{} // closed when the server has exited
}

// goEnv returns Go's settings. If `go env` fails it returns an empty map, and the scripts that need
// Go fail.
var goEnv = sync.OnceValue(func() (env map[string]string) {
	if out, err := exec.CommandContext(context.Background(), "go", "env", "-json").Output(); err == nil {
		_ = json.Unmarshal(out, &env)
	}
	return env
})

// newReader returns a reader for a page about a language, or for another page if language is "".
// The scripts run in the folder dir of the reader's home.
func newReader(t *testing.T, dir, language string) *reader {
	t.Helper()
	// Short, because the length of a socket path is limited.
	home, err := os.MkdirTemp("/tmp", "docs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(home) })
	r := &reader{home: home, dir: filepath.Join(home, dir), log: filepath.Join(home, "log"), serving: map[string]server{}}
	cache := filepath.Join(root(t), ".build", "docs")
	for _, folder := range []string{r.dir, filepath.Join(home, "run"), cache} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	checkout(t, filepath.Join(home, "checkout"), language, dir == "checkout")
	r.env = []string{
		"HOME=" + home, "XDG_RUNTIME_DIR=" + filepath.Join(home, "run"), "TMPDIR=" + home,
		"PLUGINS=" + filepath.Join(home, "checkout", "bin", "plugins"),
		"PATH=" + bin + ":" + os.Getenv("PATH"),
		// The readers share Go's caches. server/internal/e2e/programs compiles with the same flags, so
		// the readers reuse its results.
		"GOCACHE=" + goEnv()["GOCACHE"], "GOMODCACHE=" + goEnv()["GOMODCACHE"], "GOPROXY=" + goEnv()["GOPROXY"],
		"GOFLAGS=" + strings.TrimSpace(goEnv()["GOFLAGS"]+" "+programs.Flags),
		"PIP_CACHE_DIR=" + filepath.Join(cache, "pip"), "npm_config_cache=" + filepath.Join(cache, "npm"), "PIP_NO_COMPILE=1",
		"npm_config_prefer_offline=true", "CGO_ENABLED=0",
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(strings.ToLower(variable), "=")
		if strings.HasSuffix(name, "_proxy") || strings.HasPrefix(name, "pip_") && name != "pip_cache_dir" || strings.HasPrefix(name, "npm_config_") ||
			strings.HasPrefix(name, "ssl_cert") || name == "node_extra_ca_certs" || name == "requests_ca_bundle" {
			r.env = append([]string{variable}, r.env...)
		}
	}
	t.Cleanup(func() {
		for _, program := range []string{"agentd", "toolhost"} {
			r.stop(t, program)
		}
	})
	return r
}

// follow executes the blocks of a page in order.
func (r *reader) follow(t *testing.T, p page) {
	t.Helper()
	if p.language() == "python" {
		r.env = append(r.env, "PIP_NO_INDEX=1", "PIP_FIND_LINKS="+wheels(t))
	}
	if p.installs() {
		r.env = append(r.env, pinned(t)...)
	}
	if p.documentsCheckout() {
		r.env = append(r.env, "CHECKOUT="+filepath.Join(r.home, "checkout"))
	}
	var printed string
	for _, b := range p.blocks {
		at := r
		if name := b.machine(); name != "" {
			if at = r.others[name]; at == nil {
				t.Fatalf("%s:%d: the test has no machine %s", p.name, b.line, name)
			}
		}
		switch {
		case b.language == "sh" && b.has("no-run"):
		case b.language == "sh" && b.has("serve"):
			at.serve(t, p, b)
		case b.language == "sh":
			printed = at.script(t, p, b)
		case b.language == "output":
			if !matches(b.text, printed) {
				t.Fatalf("%s:%d: the page shows\n%s\nand printed was\n%s", p.name, b.line, b.text, printed)
			}
			if then := r.then; then != nil {
				r.then = nil
				then()
			}
		case b.file() != "":
			path := filepath.Join(at.dir, b.file())
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// pinned returns variables that make npm and pip resolve dependencies as they were on one day. A
// page names versions of the servers only, and a later version of a dependency must not fail the
// test.
func pinned(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(t), "server", "internal", "e2e", "testdata", "servers", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pins: %v", err)
	}
	versions := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			requirement, _, _ := strings.Cut(line, " ")
			name, version, _ := strings.Cut(requirement, "==")
			if !strings.HasSuffix(file, "sqlite.txt") { // its version of the library mcp is older
				versions[name] = version
			}
		}
	}
	var text strings.Builder
	for name, version := range versions {
		text.WriteString(name + "==" + version + "\n")
	}
	constraints := filepath.Join(t.TempDir(), "constraints.txt")
	if err := os.WriteFile(constraints, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"PIP_CONSTRAINT=" + constraints, "npm_config_before=2026-11-23"}
}

// command returns the program and the arguments that execute a script on the reader's machine.
func (r *reader) command(script string) []string {
	return append(slices.Clip(r.enter), "/bin/sh", "-uc", script)
}

// script runs a script to its end and returns its output.
func (r *reader) script(t *testing.T, p page, b block) string {
	t.Helper()
	want, err := b.exit()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := r.command("set -e\n" + b.text)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.dir, r.env, 5*time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		r.reached(t, p)
		t.Fatalf("%s:%d: exit code %d, want %d, of\n%s\nit printed\n%s%s", p.name, b.line, got, want, b.text, stdout.String(), stderr.String())
	}
	if stdout.Len() == 0 && want != 0 {
		return stderr.String() // a failing command prints the reason to stderr
	}
	return stdout.String()
}

// serve starts a server and returns when the server prints that it is ready. It stops the server of
// the same program that an earlier block started.
func (r *reader) serve(t *testing.T, p page, b block) {
	t.Helper()
	program := "toolhost"
	if strings.HasPrefix(b.text, "agentd ") {
		program = "agentd"
	}
	r.stop(t, program)
	log, err := os.OpenFile(r.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	command := r.command("exec " + b.text)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = r.dir, r.env, log
	line, exited, err := programs.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	r.serving[program] = server{cmd, exited}
	if line == "" {
		<-exited
		logged, _ := os.ReadFile(r.log)
		t.Fatalf("%s:%d: the server ended before it was ready:\n%s", p.name, b.line, logged)
	} else if strings.Contains(line, "not described yet") {
		r.known(t, p)
	}
}

// known waits until toolhost has the definitions of all plugins. A person would see the message and
// wait.
func (r *reader) known(t *testing.T, p page) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for strings.Contains(r.script(t, p, block{language: "sh", text: "toolhost plugins\n"}), "is being asked") {
		<-tick.C
	}
}

// stop stops the running server of a program, if there is one.
func (r *reader) stop(t *testing.T, program string) {
	s, runs := r.serving[program]
	if !runs {
		return
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	<-s.exited
	delete(r.serving, program)
	if t.Failed() {
		said, _ := os.ReadFile(r.log)
		t.Logf("what the server says:\n%s", said)
	}
}

// removeAll removes a folder, including entries without permissions for the owner, such as the
// sealed copies of plugins.
func removeAll(dir string) {
	filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	os.RemoveAll(dir)
}
