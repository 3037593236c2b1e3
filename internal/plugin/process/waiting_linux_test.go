//go:build linux && (amd64 || arm64)

package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/eventually"
	"github.com/toolhost/toolhost/internal/plugin/limits"
	"github.com/toolhost/toolhost/internal/plugin/process"
	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
	"github.com/toolhost/toolhost/internal/plugin/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// waiting prestarts a process and returns it with its process id, once it waits at the gate. It is
// closed at the test's end.
func waiting(t *testing.T, cfg process.Config) (w *process.Waiting, pid int) {
	t.Helper()
	w, err := process.Wait(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	eventually.Holds(t, "it waits", func() bool {
		pid = atGate(cfg.RunDir)
		return pid != 0
	})
	return w, pid
}

// atGate returns the process of a test that waits at the gate, or 0 if there is none.
func atGate(dir string) int {
	for _, found := range processesWith("TEST_RUN=" + dir) {
		pid, _ := strconv.Atoi(found)
		program, _ := os.Readlink(filepath.Join("/proc", found, "exe"))
		call, _ := os.ReadFile(filepath.Join("/proc", found, "syscall")) // "45 0x3 …": recvfrom of the status
		if number, _, _ := strings.Cut(string(call), " "); strings.Contains(program, "toolhost-entry") && number == strconv.Itoa(syscall.SYS_RECVFROM) {
			return pid
		}
	}
	return 0
}

// launchWaiting launches the prestarted process and kills what is still there at the test's end.
func launchWaiting(t *testing.T, w *process.Waiting, cfg process.Config) *process.Process {
	t.Helper()
	if !w.Fits(cfg) {
		t.Error("it does not fit")
	}
	p, err := w.Launch(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		wait(t, p)
	})
	return p
}

func TestProcessThatWaitedIsAsAnyOther(t *testing.T) {
	for _, namespace := range []process.NamespaceMode{process.NamespaceOff, process.NamespaceAuto} {
		t.Run(string(namespace), func(t *testing.T) {
			cfg, log := setup(t)
			cfg.Sandbox.Mode, cfg.PIDNamespace = sandbox.ModeOn, namespace
			cfg.Limits = limits.Config{OpenFiles: 77}
			w, pid := waiting(t, cfg)
			var states []tool.InstanceState
			cfg.Instance, cfg.Report = "fault-2", func(s tool.InstanceState) { states = append(states, s) }
			before := time.Now()
			p := launchWaiting(t, w, cfg)
			if p.PID() != pid {
				t.Errorf("process %d waited, and %d was launched", pid, p.PID())
			}
			if got := do(t, p, arguments{"do": "echo", "text": "hello"}); got != "hello" {
				t.Errorf("the call says %q", got)
			}
			if p.StartTime().Before(before) {
				t.Error("it was started before anybody wanted it")
			}
			if want := []tool.InstanceState{tool.InstanceHandshaking, tool.InstanceWarming}; fmt.Sprint(states) != fmt.Sprint(want) {
				t.Errorf("it told %v, want %v", states, want)
			}
			if s := p.Sandbox(); s.Mode != "on" || len(s.Layers) != 7 {
				t.Errorf("its sandbox is %+v", s)
			}
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
			if err != nil || !strings.Contains(string(text), "Max open files            77 ") {
				t.Errorf("its limits are not those of the Config: %s, %v", text, err)
			}
			do(t, p, arguments{"do": "print", "text": "words"})
			log.await(t, "words", "instance=fault-2")
			if err := p.Stop(t.Context(), 0); err != nil || p.Exit().Code != 0 {
				t.Errorf("it ended with %v: %+v", err, p.Exit())
			}
		})
	}
}

func TestProcessThatWaitsIsEnded(t *testing.T) {
	cfg := setupSandboxed(t) // it checks that nothing is left
	w, pid := waiting(t, cfg)
	w.Close()
	if proc.Alive(pid) {
		t.Errorf("process %d is alive", pid)
	}
	w.Close() // again
	if early, err := process.Wait(cfg); err != nil {
		t.Error(err)
	} else {
		early.Close() // in any state
	}
}

func TestAnotherProcessTakesThePlaceOfOneThatCannotBeUsed(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(t *testing.T, granted string, pid int)
	}{
		{"it would get other layers by now", func(t *testing.T, granted string, _ int) {
			if err := os.WriteFile(granted+".new", []byte("new"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(granted+".new", granted); err != nil {
				t.Fatal(err)
			}
		}},
		{"it was killed", func(t *testing.T, _ string, pid int) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			// A process that dies while it is launched must not be launched a second time: its
			// plugin may have begun.
			eventually.Holds(t, "it is dead", func() bool { return !proc.Alive(pid) })
		}},
		{"it was stopped", func(t *testing.T, _ string, pid int) {
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := setupSandboxed(t)
			cfg.StartTimeout = 10 * time.Second // a part of which a stopped process costs
			granted := filepath.Join(t.TempDir(), "granted")
			if err := os.WriteFile(granted, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg.Sandbox.Read = []string{granted}
			w, pid := waiting(t, cfg)
			test.spoil(t, granted, pid)
			p := launchWaiting(t, w, cfg)
			if p.PID() == pid || proc.Alive(pid) {
				t.Errorf("process %d waited, and %d is used", pid, p.PID())
			}
			if got := do(t, p, arguments{"do": "echo", "text": "hello"}); got != "hello" {
				t.Errorf("the call says %q", got)
			}
		})
	}
}

func TestPluginThatFailsIsNotLaunchedTwice(t *testing.T) {
	cfg, log := setup(t, "-stderr=begun", "-exit=3")
	cfg.Sandbox.Mode = sandbox.ModeOn
	w, pid := waiting(t, cfg)
	_, err := w.Launch(t.Context(), cfg)
	if exit := exitOf(t, err); exit.Code != 3 {
		t.Errorf("exit %+v, want code 3", exit)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if len(log.lines) != 1 || !strings.Contains(log.lines[0], fmt.Sprint("pid=", pid)) {
		t.Errorf("logged: %q, want a line of process %d", log.lines, pid)
	}
}

func TestLaunchOfWhatWaitedIsBounded(t *testing.T) {
	cfg := setupSandboxed(t, "-hang")
	t.Run("by its time", func(t *testing.T) {
		w, _ := waiting(t, cfg)
		cfg := cfg
		cfg.StartTimeout = 50 * time.Millisecond
		if _, err := w.Launch(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "did not answer") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("by its caller", func(t *testing.T) {
		w, _ := waiting(t, cfg)
		ctx, cancel := context.WithCancelCause(t.Context())
		left := errors.New("the caller left")
		cfg := cfg
		cfg.Report = func(tool.InstanceState) { cancel(left) }
		if _, err := w.Launch(ctx, cfg); !errors.Is(err, left) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("by a caller who has left", func(t *testing.T) {
		w, pid := waiting(t, cfg)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.Launch(ctx, cfg); !errors.Is(err, context.Canceled) || proc.Alive(pid) {
			t.Errorf("error %v", err)
		}
	})
}

func TestOnlyTheSameConfigFits(t *testing.T) {
	cfg := setupSandboxed(t)
	w, _ := waiting(t, cfg)
	for name, change := range map[string]func(c *process.Config){
		"path":      func(c *process.Config) { c.Path = "/bin/true" },
		"arguments": func(c *process.Config) { c.Args = append([]string{"-x"}, c.Args...) },
		"variable":  func(c *process.Config) { c.Env = append([]string{"A=1"}, c.Env...) },
		"limit":     func(c *process.Config) { c.Limits.OpenFiles = 7 },
		"grant":     func(c *process.Config) { c.Sandbox.Network = true },
		"namespace": func(c *process.Config) { c.PIDNamespace = process.NamespaceOff },
		"nonsense":  func(c *process.Config) { c.Path = "" },
	} {
		other := cfg
		if change(&other); w.Fits(other) {
			t.Errorf("it fits with another %s", name)
		}
	}
}

func TestNoPrestartWithoutSandbox(t *testing.T) {
	cfg, _ := setup(t)
	if w, err := process.Wait(cfg); !errors.Is(err, process.ErrNotSandboxed) {
		t.Errorf("Wait = %v, %v", w, err)
	}
}
