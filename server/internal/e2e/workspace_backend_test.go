package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/tool"
)

// workspaceServer is a `toolhost workspace serve`.
type workspaceServer struct {
	home, root, at string
	flags          []string
	cmd            *exec.Cmd
	exited         <-chan struct{}
	log            *syncbuf.Buffer
}

var readyAt = regexp.MustCompile(`is ready at (\S+)`)

// start starts the server, again at its last address.
func (s *workspaceServer) start(t *testing.T) {
	t.Helper()
	flags := append([]string{"workspace", "serve", "--root", s.root, "--listen", s.at}, s.flags...)
	s.cmd = command(context.Background(), s.home, nil, "toolhost", flags...)
	s.log = &syncbuf.Buffer{}
	s.cmd.Stderr = s.log
	line, exited, err := programs.Start(s.cmd)
	if err != nil {
		t.Fatal(err)
	}
	s.exited = exited
	t.Cleanup(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		<-exited
		if t.Failed() {
			t.Logf("the log of the workspace server:\n%s", s.log)
		}
	})
	found := readyAt.FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("%q names no address\n%s", line, s.log)
	}
	s.at = found[1]
}

// kill kills the server without a warning.
func (s *workspaceServer) kill(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.exited
}

// serveWorkspace starts a workspace server with TLS.
func serveWorkspace(t *testing.T, ca *testca.CA, flags ...string) *workspaceServer {
	t.Helper()
	certificate, key := ca.Files(t, "127.0.0.1")
	home := newHome(t)
	s := &workspaceServer{home: home, root: filepath.Join(home, "root"), at: "127.0.0.1:0", flags: append(flags, "--tls-certificate", certificate, "--tls-key", key)}
	if err := os.Mkdir(s.root, 0o700); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	return s
}

// withBackend returns a toolhost with fs and shell and a backend.
func withBackend(t *testing.T, backend string) *toolhost {
	t.Helper()
	h := prepare(t)
	h.workspace = ""
	if err := os.Symlink(filepath.Join(bin, "others", "shell"), filepath.Join(h.plugins, "shell")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(h.home, "toolhost.yaml"), "tools: {shell: {dangerous: false}}\nworkspace: "+backend+"\n", 0o600)
	h.serve(t)
	return h
}

// inSession calls a tool in a session.
func inSession(t *testing.T, c *client.Client, session, name string, in map[string]any) (string, bool, error) {
	t.Helper()
	arguments, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got, err := c.Call(ctx, tool.Call{Tool: name, Session: session, Arguments: arguments})
	var text strings.Builder
	for _, part := range got.Result.Content {
		text.WriteString(part.Text + string(part.JSON) + "\n")
	}
	return text.String(), got.Result.IsError, err
}

// works fails the test unless a call succeeds and its text has the words.
func works(t *testing.T, c *client.Client, words, name string, in map[string]any) {
	t.Helper()
	if text, failed, err := inSession(t, c, "", name, in); err != nil || failed || !strings.Contains(text, words) {
		t.Errorf("%s %v: got %q, %v, %v; want %q", name, in, text, failed, err, words)
	}
}

// showsBackend fails the test unless the plugin fs and its processes are shown with their access to
// the workspace, and where it is.
func showsBackend(t *testing.T, c *client.Client, backend string) {
	t.Helper()
	works(t, c, "", "glob", map[string]any{"pattern": "*"}) // an instance runs
	plugins, err := c.Admin().Plugins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plugins {
		if p.Name == "fs" && (p.Workspace != tool.AccessWrite || p.WorkspaceBackend != backend) {
			t.Errorf("the plugin has the access %q to a workspace %q", p.Workspace, p.WorkspaceBackend)
		}
	}
	instances, err := c.Admin().Instances(t.Context(), "fs")
	if err != nil || len(instances) == 0 {
		t.Fatal(len(instances), err)
	}
	if s := instances[0].Sandbox; s == nil || s.Mode != "off" && (s.Workspace != tool.AccessWrite || s.WorkspaceBackend != backend) {
		t.Errorf("the process has %+v", s)
	}
}

// The files of a workspace in memory outlive the processes of plugins. It has no commands.
func TestWorkspaceInMemory(t *testing.T) {
	t.Parallel()
	h := withBackend(t, "{backend: memory, quota: 1MiB}")
	c := h.dial(t)
	showsBackend(t, c, "memory")
	works(t, c, "a new file", "write_file", map[string]any{"path": "src/a.txt", "content": "in memory\n"})
	h.do(t, "restart", "fs").exits(t, 0)
	works(t, c, "in memory", "read_file", map[string]any{"path": "src/a.txt"})
	works(t, c, "in memory", "read_file", map[string]any{"path": "/workspace/src/a.txt"})
	works(t, c, "src/a.txt", "glob", map[string]any{"pattern": "**/*.txt"})
	if text, failed, err := inSession(t, c, "", "shell", map[string]any{"command": "pwd"}); err != nil || !failed || !strings.Contains(text, "runs no commands") {
		t.Errorf("shell: got %q, %v, %v", text, failed, err)
	}
	if text, failed, err := inSession(t, c, "", "write_file", map[string]any{"path": "b", "content": strings.Repeat("x", 2<<20)}); err != nil || !failed || !strings.Contains(text, "no room") {
		t.Errorf("beyond the quota: got %.200q, %v, %v", text, failed, err)
	}
}

// fs and shell work at a server without a change. Its commands are in a sandbox, and the
// credentials of toolhost are in no plugin.
func TestRemoteWorkspace(t *testing.T) {
	t.Parallel()
	ca := testca.New(t)
	s := serveWorkspace(t, ca, "--client-ca", ca.Path)
	certificate, key := ca.Files(t, "toolhost.example")
	h := withBackend(t, fmt.Sprintf("{backend: remote, remote: {address: %q, authorities: %q, certificate: %q, key: %q}}", s.at, ca.Path, certificate, key))
	c := h.dial(t)
	works(t, c, "a new file", "write_file", map[string]any{"path": "src/a.txt", "content": "one\ntwo\n"})
	showsBackend(t, c, "remote")
	if content, err := os.ReadFile(filepath.Join(s.root, "src", "a.txt")); err != nil || string(content) != "one\ntwo\n" {
		t.Errorf("at the server: %q, %v", content, err)
	}
	works(t, c, "two", "shell", map[string]any{"command": "tail -n1 a.txt; echo made >b.txt", "working_directory": "src"})
	works(t, c, "made", "read_file", map[string]any{"path": "src/b.txt"})
	works(t, c, "", "edit_file", map[string]any{"path": "src/a.txt", "edits": []map[string]string{{"old_text": "two", "new_text": "three"}}})
	works(t, c, "three", "grep", map[string]any{"pattern": "thr.e"})
	works(t, c, "b.txt", "list_dir", map[string]any{"path": "src"})
	works(t, c, s.root, "shell", map[string]any{"command": "pwd"})
	works(t, c, "three", "read_file", map[string]any{"path": filepath.Join(s.root, "src/a.txt")})
	if err := os.Symlink("/etc", filepath.Join(s.root, "out")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../root/src/a.txt", "/etc/passwd", "out/passwd"} {
		if text, failed, err := inSession(t, c, "", "read_file", map[string]any{"path": path}); err != nil || !failed || strings.Contains(text, "root:") {
			t.Errorf("%s: got %q, %v, %v", path, text, failed, err)
		}
	}
	hidden, failed, err := inSession(t, c, "", "shell", map[string]any{"command": "cat " + s.flags[len(s.flags)-1] + " " + key + "; ls " + s.home + "; env"})
	if err != nil || strings.Contains(hidden, "PRIVATE KEY") || strings.Contains(hidden, "TOOLHOST_WORKSPACE") {
		t.Errorf("a command sees too much: %q, %v, %v", hidden, failed, err)
	}
	dies(t, s, c)
}

// dies kills the server while a command runs.
func dies(t *testing.T, s *workspaceServer, c *client.Client) {
	t.Helper()
	fifo := filepath.Join(s.root, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	type ended struct {
		text   string
		failed bool
		err    error
	}
	result := make(chan ended, 1)
	go func() { // ends with the call
		text, failed, err := inSession(t, c, "", "shell", map[string]any{"command": "setsid sleep 1000 >fifo & echo begun >fifo; sleep 1000"})
		result <- ended{text, failed, err}
	}()
	reader, err := os.Open(fifo) // blocks until the command opens it
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	s.kill(t)
	if got := <-result; got.err != nil || !got.failed || !strings.Contains(got.text, "not known") || !strings.Contains(got.text, `"exit_code":-1`) {
		t.Errorf("the command: got %q, %v, %v", got.text, got.failed, got.err)
	}
	if _, err := io.Copy(io.Discard, reader); err != nil { // ends with the last process that has the FIFO open
		t.Error(err)
	}
	for name, in := range map[string]map[string]any{"read_file": {"path": "src/a.txt"}, "grep": {"pattern": "x"}, "shell": {"command": "true"}} {
		if text, _, err := inSession(t, c, "", name, in); tool.KindOf(err) != tool.KindUnavailable {
			t.Errorf("%s without a server: got %q, %v", name, text, err)
		}
	}
	s.start(t)
	eventually.Holds(t, "the tools find the server again", func() bool {
		text, failed, err := inSession(t, c, "", "read_file", map[string]any{"path": "src/a.txt"})
		return err == nil && !failed && strings.Contains(text, "three")
	})
	works(t, c, "again", "shell", map[string]any{"command": "echo again"})
}

// Each session has its own workspace at the server. Without the token, there is none.
func TestRemoteWorkspacesOfSessions(t *testing.T) {
	t.Parallel()
	ca := testca.New(t)
	token := filepath.Join(newHome(t), "token")
	write(t, token, "a-token-that-nobody-guesses\n", 0o600)
	s := serveWorkspace(t, ca, "--token-file", token, "--separate")
	given := filepath.Join(newHome(t), "token")
	write(t, given, "a-token-that-is-mistaken\n", 0o600)
	h := withBackend(t, fmt.Sprintf("{backend: remote, mode: session, remote: {address: %q, authorities: %q, token_file: %q}}", s.at, ca.Path, given))
	c := h.dial(t)
	if text, _, err := inSession(t, c, "one", "list_dir", map[string]any{}); tool.KindOf(err) != tool.KindUnavailable || !strings.Contains(err.Error(), "credentials") {
		t.Errorf("with a wrong token: got %q, %v", text, err)
	}
	write(t, given, "a-token-that-nobody-guesses\n", 0o600)
	eventually.Holds(t, "the new token counts", func() bool {
		_, failed, err := inSession(t, c, "one", "write_file", map[string]any{"path": "a", "content": "of one"})
		return err == nil && !failed
	})
	if text, failed, err := inSession(t, c, "two", "list_dir", map[string]any{"path": "."}); err != nil || failed || strings.Contains(text, "a\n") {
		t.Errorf("another session: got %q, %v, %v", text, failed, err)
	}
	if text, failed, err := inSession(t, c, "two", "shell", map[string]any{"command": "echo of two >a; ls -a ..; cat ../*/a"}); err != nil || strings.Contains(text, "of one") {
		t.Errorf("a command of another session: got %q, %v, %v", text, failed, err)
	}
	if text, failed, err := inSession(t, c, "one", "shell", map[string]any{"command": "cat a"}); err != nil || failed || !strings.Contains(text, "of one") {
		t.Errorf("the first session: got %q, %v, %v", text, failed, err)
	}
	if entries, err := os.ReadDir(s.root); err != nil || len(entries) != 2 {
		t.Errorf("the server has %v, %v", entries, err)
	}
	if log := h.stderr.String() + s.log.String(); strings.Contains(log, "a-token-that") {
		t.Errorf("a token is in a log: %s", log)
	}
}
