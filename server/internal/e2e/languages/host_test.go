//go:build more

package languages

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/e2e/languages/setup"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// serve starts a toolhost with the plugin of one language and returns its address. It stops
// toolhost at the end of the test.
func serve(t *testing.T, toolhost string, l setup.Language) string {
	t.Helper()
	addr := serveAll(t, toolhost, nil, map[string]program{"table": {l.Plugin, l.Reads}})
	known(t, toolhost, addr, "say")
	return addr
}

// program is a plugin: its command line, and the files and folders that its sandbox must allow.
type program struct{ argv, reads []string }

// serveAll starts a toolhost with plugins, by their names, and with additional environment
// variables.
func serveAll(t *testing.T, toolhost string, env []string, plugins map[string]program) string {
	t.Helper()
	// Short, because the length of a socket path is limited.
	home, err := os.MkdirTemp("/tmp", "lang-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	var reads []string
	for name, p := range plugins {
		install(t, p.argv, filepath.Join(home, "plugins", name))
		reads = append(reads, p.reads...)
	}
	config, err := json.Marshal(map[string]any{"defaults": map[string]any{"sandbox": map[string]any{"read": reads}}})
	// Outside of the workspace, where tools may write.
	configured := filepath.Join(t.TempDir(), "toolhost.yaml")
	if err == nil {
		err = os.WriteFile(configured, config, 0o600) // JSON is valid YAML
	}
	if err != nil {
		t.Fatal(err)
	}
	addr := "unix://" + filepath.Join(home, "t.sock")
	cmd := exec.Command(toolhost, "serve", "--plugins", "plugins", "--listen", addr, "--state", "state", "--workspace", home,
		"--config", configured)
	cmd.Dir, cmd.Env = home, append([]string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home}, env...)
	log, err := os.Create(filepath.Join(home, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	line, exited, err := programs.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		<-exited
		if t.Failed() {
			logged, _ := os.ReadFile(log.Name())
			t.Logf("what toolhost says:\n%s", logged)
		}
	})
	if !strings.Contains(line, addr) {
		t.Fatalf("toolhost is not ready: it printed %q", line)
	}
	return addr
}

// known waits until toolhost has the definition of a tool. On a busy machine toolhost is ready
// earlier.
func known(t *testing.T, toolhost, addr, tool string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-tick.C {
		output, err := exec.CommandContext(t.Context(), toolhost, "tools", "--addr", addr, tool).CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the tool %s is not known: %s", tool, output)
		}
	}
}

// install writes a script that runs a plugin, because a plugin is one executable file.
func install(t *testing.T, argv []string, path string) {
	t.Helper()
	script := "#!/bin/sh\nexec '" + strings.Join(argv, "' '") + "'\n"
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(script), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// call runs a caller and returns its output.
func call(t *testing.T, l setup.Language, addr, cases string) string {
	t.Helper()
	argv := append(append([]string{}, l.Caller...), addr, cases, "session-of-"+l.Name)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("the caller failed: %v\nafter: …%s\n%s", err, stdout.String()[max(0, stdout.Len()-300):], stderr.String())
	}
	return stdout.String()
}
