//go:build more

package languages

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serve starts a toolhost with the plugin of one language and returns its address. It stops
// toolhost at the end of the test.
func serve(t *testing.T, toolhost string, l language) string {
	t.Helper()
	// Short, because the length of a socket path is limited.
	home, err := os.MkdirTemp("/tmp", "lang-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	install(t, l, filepath.Join(home, "plugins"))
	config, err := json.Marshal(map[string]any{"defaults": map[string]any{"sandbox": map[string]any{"read": l.reads}}})
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
	cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home}
	log, err := os.Create(filepath.Join(home, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	ready := make(chan string, 1)
	go func() { // ends with the process
		defer close(exited)
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		ready <- line
		io.Copy(io.Discard, stdout)
		cmd.Wait()
	}()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		<-exited
		if t.Failed() {
			said, _ := os.ReadFile(log.Name())
			t.Logf("what toolhost says:\n%s", said)
		}
	})
	if line := <-ready; !strings.Contains(line, addr) {
		t.Fatalf("toolhost is not ready: it printed %q", line)
	}
	known(t, toolhost, addr)
	return addr
}

// known waits until toolhost has the definitions of its plugin. On a busy machine toolhost is ready
// earlier.
func known(t *testing.T, toolhost, addr string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-tick.C {
		said, err := exec.CommandContext(t.Context(), toolhost, "tools", "--addr", addr, "say").CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the plugin's tools are not known: %s", said)
		}
	}
}

// install writes a script that runs the plugin, because a plugin is one executable file.
func install(t *testing.T, l language, dir string) {
	t.Helper()
	script := "#!/bin/sh\nexec '" + strings.Join(l.plugin, "' '") + "'\n"
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "table"), []byte(script), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// call runs a caller and returns its output.
func call(t *testing.T, l language, addr, cases string) string {
	t.Helper()
	argv := append(append([]string{}, l.caller...), addr, cases, "session-of-"+l.name)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("the caller failed: %v\nafter: …%s\n%s", err, stdout.String()[max(0, stdout.Len()-300):], stderr.String())
	}
	return stdout.String()
}
