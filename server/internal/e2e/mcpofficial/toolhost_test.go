//go:build mcp

package mcpofficial

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// build builds the programs and returns their folder.
func build(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	if err := programs.Build(t.Context(), bin, "./cmd/toolhost", "./internal/e2e/testplugins/conformserver", "./internal/e2e/testplugins/conformplugin"); err != nil {
		t.Fatal(err)
	}
	return bin
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// host is a running toolhost.
type host struct {
	line string // what it printed when it was ready
	log  *syncbuf.Buffer
	stop func()

	addr string // for commands of toolhost
	url  string // for MCP clients
}

// serve starts a toolhost in a folder that has toolhost.yaml and the folder plugins.
func serve(bin, home string) (*host, error) {
	cmd := exec.CommandContext(context.Background(), filepath.Join(bin, "toolhost"), "serve", "--config", filepath.Join(home, "toolhost.yaml"))
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home}
	cmd.Dir = home
	h := &host{log: &syncbuf.Buffer{}}
	cmd.Stderr = h.log
	line, exited, err := programs.Start(cmd)
	if err != nil {
		return nil, err
	}
	h.line = line
	h.stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-exited
	}
	if line == "" {
		h.stop()
		return nil, fmt.Errorf("toolhost does not start:\n%s", h.log)
	}
	return h, nil
}

// shortFolder returns a folder with a short path, because socket paths have a limit of about 100
// bytes.
func shortFolder() (string, error) { return os.MkdirTemp("/tmp", "mcp-") }

// serveServer starts a toolhost with the plugins for the suite and for the official clients, until
// the test ends. The MCP server behind it speaks a version of the protocol. rules are in the
// policy.
func serveServer(t *testing.T, bin, version, rules string) *host {
	t.Helper()
	home, err := shortFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	write(t, filepath.Join(home, "plugins/conformserver/plugin.yaml"), fmt.Sprintf("mcp: {command: [./conformserver], annotations: trusted, protocol: %q}\n", version))
	for link, program := range map[string]string{"conformserver/conformserver": "conformserver", "conformplugin": "conformplugin"} {
		if err := os.Link(filepath.Join(bin, program), filepath.Join(home, "plugins", link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(home, "workspace"), 0o700); err != nil {
		t.Fatal(err)
	}
	addr := "unix://" + filepath.Join(home, "t.sock")
	write(t, filepath.Join(home, "toolhost.yaml"), fmt.Sprintf(`listen: %[2]s
plugins: [%[1]s/plugins]
state: %[1]s/state
workspace: %[1]s/workspace
new_plugins: allow
mcp:
  listeners: [{address: 127.0.0.1:0, admits: caller}]
policy: {rules: [%[3]s]}
auth:
  bindings:
    - {role: admin, principals: ["uid:%[4]d"], tenants: [all]}
    - {role: approver, principals: [anonymous]}
defaults: {ask: [person, model, roots]}
`, home, addr, rules, os.Getuid()))
	h, err := serve(bin, home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.stop)
	_, rest, _ := strings.Cut(h.line, ", ")
	address, _, found := strings.Cut(rest, " for MCP")
	if !found {
		t.Fatalf("toolhost says %q\n%s", h.line, h.log)
	}
	h.addr, h.url = addr, "http://"+address+"/mcp"
	return h
}

// conductServer runs the server scenarios of a version, and returns what the suite printed. The MCP
// server behind toolhost speaks the same version.
func conductServer(t *testing.T, bin, version, out string) string {
	t.Helper()
	h := serveServer(t, bin, version, `{name: all, when: "true", then: allow}`)
	printed, err := run(t.Context(), out, version, asServer, nil, "--url", h.url)
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	write(t, filepath.Join(out, "toolhost.log"), h.log.String())
	return printed
}
