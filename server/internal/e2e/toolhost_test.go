package e2e_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// toolhost is a running `toolhost serve`.
type toolhost struct {
	home, workspace, state, plugins, addr string
	env                                   []string // further variables of toolhost
	program                               string   // in bin; empty: toolhost

	cmd    *exec.Cmd
	stderr *syncbuf.Buffer
	exited <-chan struct{} // closed when the process has ended
	looks  *client.Client
	resume func() // ends a pause
}

// newHome returns a folder with a short path, because socket paths have a limit of about 100 bytes.
func newHome(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	return home
}

// prepare returns a toolhost with the shipped plugins that has not been started.
func prepare(t *testing.T) *toolhost {
	t.Helper()
	home := newHome(t)
	h := &toolhost{
		home:      home,
		workspace: filepath.Join(home, "workspace"),
		state:     filepath.Join(home, "state"),
		plugins:   filepath.Join(home, "plugins"),
		addr:      "unix://" + filepath.Join(home, "t.sock"),
	}
	for _, dir := range []string{h.workspace, h.plugins} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"calculator", "fs"} {
		if err := os.Symlink(filepath.Join(bin, "plugins", name), filepath.Join(h.plugins, name)); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// start returns a ready toolhost and stops it at the end of the test.
func start(t *testing.T) *toolhost {
	t.Helper()
	h := prepare(t)
	h.serve(t)
	return h
}

// grant lets plugins read the folder with the binaries under test, because many plugins are scripts
// that run these binaries, and write the given paths. It appends to the toolhost.yaml of the test,
// if there is one.
func (h *toolhost) grant(t *testing.T, write ...string) {
	t.Helper()
	path := filepath.Join(h.home, "toolhost.yaml")
	config, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	sandbox, err := json.Marshal(map[string][]string{"read": {bin}, "write": append([]string{}, write...)})
	if err != nil {
		t.Fatal(err)
	}
	text := string(config)
	switch before, after, found := strings.Cut(text, "defaults: {"); {
	case strings.Contains(text, "sandbox: {"):
		return
	case found:
		text = before + "defaults: {sandbox: " + string(sandbox) + ", " + after
	default:
		text += "\ndefaults: {sandbox: " + string(sandbox) + "}\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// allow trusts plugins that a test adds while toolhost runs, unless the configuration says
// otherwise.
func (h *toolhost) allow(t *testing.T) {
	t.Helper()
	path := filepath.Join(h.home, "toolhost.yaml")
	config, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(config), "new_plugins:") {
		err = os.WriteFile(path, append(config, "\nnew_plugins: allow\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// share puts the ledger into a database of the PostgreSQL server at E2E_RECORDS, if that is set:
// each test can check a toolhost with such a ledger, too.
func (h *toolhost) share(t *testing.T) {
	t.Helper()
	server := os.Getenv("E2E_RECORDS")
	path := filepath.Join(h.home, "toolhost.yaml")
	config, err := os.ReadFile(path)
	if server == "" || err != nil || strings.Contains(string(config), "records:") {
		return
	}
	name := "e2e_" + strings.ToLower(filepath.Base(h.home)[4:])
	if out, err := exec.Command("psql", server, "-c", "CREATE DATABASE "+name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(path, append(config, "\nrecords: "+strings.Replace(server, "/postgres?", "/"+name+"?", 1)+"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// trust records a file in the home as trusted, like `toolhost trust`. toolhost and agentd start in
// the home.
func (h *toolhost) trust(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join(h.home, name)
	data, err := os.ReadFile(path)
	if err == nil {
		err = trust.NewStore(filepath.Join(h.home, ".local", "state", "toolhost")).TrustFile(path, data)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// serve starts toolhost with more flags and returns when it is ready.
func (h *toolhost) serve(t *testing.T, flags ...string) {
	t.Helper()
	h.grant(t)
	h.allow(t)
	h.share(t)
	h.trust(t, "toolhost.yaml")
	if h.workspace != "" {
		flags = append([]string{"--workspace", h.workspace}, flags...)
	}
	h.cmd = command(context.Background(), h.home, h.env, cmp.Or(h.program, "toolhost"), append([]string{"serve",
		"--plugins", h.plugins, "--listen", h.addr, "--state", h.state}, flags...)...)
	h.stderr = &syncbuf.Buffer{}
	h.cmd.Stderr = h.stderr
	line, exited, err := programs.Start(h.cmd)
	if err != nil {
		t.Fatal(err)
	}
	h.exited = exited
	t.Cleanup(func() {
		h.cmd.Process.Signal(syscall.SIGTERM)
		<-h.exited
		if t.Failed() {
			t.Logf("toolhost's log:\n%s", h.stderr)
		}
	})
	if !strings.Contains(line, h.addr) {
		t.Fatalf("the line that says it is ready is %q; want the address in it\n%s", line, h.stderr)
	}
	h.looks = h.dial(t)
}

// stop stops toolhost.
func (h *toolhost) stop(t *testing.T) {
	t.Helper()
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-h.exited
}

// do runs a client command against this toolhost.
func (h *toolhost) do(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return run(t, command(ctx, h.home, []string{"TOOLHOST_ADDR=" + h.addr}, "toolhost", args...))
}

// callJSON runs `toolhost call … -o json` and decodes its output.
func (h *toolhost) callJSON(t *testing.T, args ...string) (callOutput, result) {
	t.Helper()
	r := h.do(t, append([]string{"call", "-o", "json"}, args...)...)
	var out callOutput
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatalf("the output is no JSON object: %v\nstdout: %s\nstderr: %s", err, r.stdout, r.stderr)
	}
	return out, r
}

// callOutput is the documented output of `toolhost call -o json`.
type callOutput struct {
	CallID     string            `json:"call_id"`
	Tool       string            `json:"tool"`
	Plugin     string            `json:"plugin"`
	Instance   string            `json:"instance"`
	IsError    bool              `json:"is_error"`
	Text       string            `json:"text"`
	Content    []json.RawMessage `json:"content"`
	DurationMS *float64          `json:"duration_ms"`
	Error      *struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
	} `json:"error"`
}

// known returns all plugins. Tests that poll use it, because each command would be a process.
func (h *toolhost) known(t *testing.T) []tool.PluginInfo {
	t.Helper()
	plugins, err := h.looks.Admin().Plugins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return plugins
}

// tells reports whether toolhost's reason why a plugin is not in service contains a text.
func (h *toolhost) tells(t *testing.T, words string) bool {
	t.Helper()
	return slices.ContainsFunc(h.known(t), func(p tool.PluginInfo) bool {
		return strings.Contains(p.Reason, words) || p.Refusal != nil && strings.Contains(p.Refusal.Reason, words)
	})
}

// dial returns a client of this toolhost.
func (h *toolhost) dial(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.Dial(h.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
