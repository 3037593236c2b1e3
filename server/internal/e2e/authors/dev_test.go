package authors

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// watched is a running `toolhost dev` and its output so far.
type watched struct {
	cmd *exec.Cmd

	mu    sync.Mutex
	shown bytes.Buffer
	read  int // length of the output that until has consumed
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.shown.Write(p)
}

// until waits for the words in the output after the position of the previous call. It returns the
// output up to the end of the words.
func (w *watched) until(t *testing.T, words string) string {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		w.mu.Lock()
		rest := w.shown.String()[w.read:]
		at := strings.Index(rest, words)
		if at >= 0 {
			w.read += at + len(words)
		}
		w.mu.Unlock()
		if at >= 0 {
			return rest[:at+len(words)]
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %q in\n%s", words, rest)
		}
		<-tick.C
	}
}

// end sends SIGINT, as Ctrl-C does.
func (w *watched) end(t *testing.T) {
	t.Helper()
	if w.cmd.ProcessState != nil {
		return
	}
	w.cmd.Process.Signal(os.Interrupt)
	if err := w.cmd.Wait(); err != nil || t.Failed() {
		t.Errorf("%v; it showed\n%s", err, w.shown.String())
	}
}

// develops runs `toolhost dev` with more arguments on a folder whose build command copies the
// plugin from the file `made`.
func (a *author) develops(t *testing.T, words ...string) *watched {
	t.Helper()
	a.folderPlugin(t, "weather", "permissions: {network: true}\n")
	a.versionplugin(t, "one", map[string]string{"version": "one"})
	a.versionplugin(t, "two", map[string]string{"version": "two"})
	a.write(t, "weather/source", "cp -f ../one program")
	w := &watched{cmd: exec.Command(filepath.Join(bin, "toolhost"), append([]string{"dev", "weather", "--build", ". ./source"}, words...)...)}
	w.cmd.Dir, w.cmd.Env = a.folder, append(a.env, "TMPDIR="+a.temp(t))
	w.cmd.Stdout, w.cmd.Stderr = w, w
	// A Ctrl-C in the terminal of the test must not reach the command.
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.end(t) })
	return w
}

func (a *author) temp(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(a.home, "tmp")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDev(t *testing.T) {
	t.Run("a change is built, run and shown", func(t *testing.T) {
		t.Parallel()
		a := newAuthor(t)
		listen := "unix://" + filepath.Join(a.temp(t), "dev.sock")
		w := a.develops(t, "--call", `versionplugin_read {}`, "--listen", listen)
		w.until(t, "is built by")
		w.until(t, "building")
		w.until(t, "versionplugin one is in service")
		w.until(t, "asks for the network, which is not granted; in toolhost.yaml: plugin.versionplugin.sandbox.network: true")
		_, addr, _ := strings.Cut(w.until(t, " versionplugin_draft '{}'"), "--addr ")
		if addr, _, _ = strings.Cut(addr, " "); addr != listen {
			t.Errorf("it listens at %s, not at %s", addr, listen)
		}
		w.until(t, "runs with process id")
		w.until(t, "versionplugin_read ended: one")

		a.write(t, "weather/source", "echo the compiler is unhappy; false")
		w.until(t, "building")
		w.until(t, "the compiler is unhappy")
		w.until(t, "waiting for a change; versionplugin one stays in service")
		a.says(t, "toolhost call --addr "+addr+" versionplugin_read '{}'", "one")
		w.until(t, "versionplugin_read ended: one")

		a.write(t, "weather/source", "cp -f ../two program")
		w.until(t, "versionplugin two is in service")
		w.until(t, "versionplugin_read ended: two")

		a.versionplugin(t, "three", map[string]string{"version": "three", "fault": "exit"})
		a.write(t, "weather/source", "cp -f ../three program")
		if shown := w.until(t, "waiting for a change; versionplugin two stays in service"); !strings.Contains(shown, "version three is broken") || strings.Contains(shown, "level=") {
			t.Errorf("it shows\n%s\nwant what the plugin says, and no log of a server", shown)
		}
		a.says(t, "toolhost call --addr "+addr+" versionplugin_read '{}'", "two")
		w.end(t)
		if left, err := os.ReadDir(a.temp(t)); err != nil || len(left) > 0 {
			t.Errorf("it leaves %v, %v", left, err)
		}
	})
	t.Run("a debugger has a process to attach to", func(t *testing.T) {
		t.Parallel()
		w := newAuthor(t).develops(t, "--wait", "--call", "versionplugin_read")
		w.until(t, "runs with process id")
		w.until(t, "dlv attach")
	})
	t.Run("what is left of one that was killed goes with the next", func(t *testing.T) {
		t.Parallel()
		a := newAuthor(t)
		w := a.develops(t)
		w.until(t, "is in service")
		if err := w.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = w.cmd.Wait() // Wait reports the signal
		next := a.develops(t)
		next.until(t, "is in service")
		next.end(t)
		if left, err := filepath.Glob(filepath.Join(a.temp(t), "toolhost-scratch-*")); err != nil || len(left) > 0 {
			t.Errorf("it leaves %v, %v", left, err)
		}
	})
}
