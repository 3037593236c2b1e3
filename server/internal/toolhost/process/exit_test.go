package process_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/tool"
)

func TestExitBySignalIsKnownAfterACrashedCall(t *testing.T) {
	cfg, _ := setup(t)
	p := launch(t, cfg)
	if _, err := outcome(t.Context(), start(t, p, arguments{"do": "kill", "number": int(syscall.SIGKILL)})); !errors.Is(err, pluginwire.ErrConnLost) {
		t.Errorf("the call ends with %v", err)
	}
	if exit := wait(t, p); exit.Code != -1 || exit.Signal != "SIGKILL" || exit.Reason != "" {
		t.Errorf("exit %+v, want the signal and no reason of toolhost's", exit)
	}
}

// A result that the plugin sent before its end reaches the caller.
func TestResultBeforeTheEndArrives(t *testing.T) {
	cfg, _ := setup(t)
	p := launch(t, cfg)
	call := start(t, p, arguments{"do": "echo", "text": "my last words"})
	text, err := outcome(t.Context(), call)
	if err != nil || text != "my last words" {
		t.Errorf("the call says %q, %v", text, err)
	}
	p.Kill()
	if exit := wait(t, p); exit.Signal != "SIGKILL" || exit.Reason != "toolhost killed it" {
		t.Errorf("exit %+v", exit)
	}
}

// A call that does not end, with or without regard for its cancellation, affects its caller only.
func TestCallThatDoesNotEnd(t *testing.T) {
	cfg, _ := setup(t)
	p := launch(t, cfg)
	hung, deaf := start(t, p, arguments{"do": "hang"}), start(t, p, arguments{"do": "ignore"})
	checkEcho(t, p)
	hung.Cancel("enough")
	if _, err := outcome(t.Context(), hung); tool.KindOf(err) != tool.KindCancelled {
		t.Errorf("the cancelled call ends with %v", err)
	}
	deaf.Cancel("enough")
	deaf.Close()
	if _, err := outcome(t.Context(), deaf); tool.KindOf(err) != tool.KindCancelled {
		t.Errorf("the closed call ends with %v", err)
	}
	checkEcho(t, p)
}

func TestLostConnectionEndsTheProcess(t *testing.T) {
	cfg, _ := setup(t)
	p := launch(t, cfg)
	start(t, p, arguments{"do": "disconnect"})
	if exit := wait(t, p); exit.Signal != "SIGKILL" || exit.Reason != "it lost its connection to toolhost" {
		t.Errorf("exit %+v", exit)
	}
}

// A descendant that keeps the pipes open does not delay the end of the plugin, and dies with it.
func TestGrandchildrenDieWithThePlugin(t *testing.T) {
	ends := map[string]func(t *testing.T, p *process.Process){
		"it crashes": func(t *testing.T, p *process.Process) { start(t, p, arguments{"do": "exit", "number": 1}) },
		"it is stopped": func(t *testing.T, p *process.Process) {
			if err := p.Stop(t.Context(), 0); err != nil {
				t.Error(err)
			}
		},
		"it is killed": func(_ *testing.T, p *process.Process) { p.Kill() },
	}
	for _, kind := range []string{"group", "session"} {
		for name, end := range ends {
			t.Run(kind+", and "+name, func(t *testing.T) {
				cfg, _ := setup(t)
				p := launch(t, cfg)
				pid := parsePID(t, do(t, p, arguments{"do": "spawn", "text": kind}))
				end(t, p)
				wait(t, p)
				if proc.Alive(pid) {
					t.Errorf("the grandchild %d is alive", pid)
				}
			})
		}
	}
}

// A process that left its session and cleared its environment cannot be found, but cannot delay
// anything either.
func TestHiddenGrandchildHoldsNothingUp(t *testing.T) {
	for _, when := range []string{"before the handshake", "in a call"} {
		t.Run(when, func(t *testing.T) {
			cfg, _ := setup(t)
			if when == "in a call" {
				p := launch(t, cfg)
				killLater(t, do(t, p, arguments{"do": "spawn", "text": "bare"}))
				p.Kill()
				wait(t, p)
				return
			}
			cfg.Args = append(cfg.Args, "-spawn=bare", "-exit=4")
			err := refused(t, cfg)
			exit := exitOf(t, err)
			if exit.Code != 4 {
				t.Errorf("exit %+v", exit)
			}
			killLater(t, strings.TrimPrefix(strings.Join(exit.LastStderr, ""), "spawned "))
		})
	}
}

// parsePID refuses numbers that stand for a group or for all processes.
func parsePID(t *testing.T, text string) int {
	t.Helper()
	pid, err := strconv.Atoi(text)
	if err != nil || pid <= 1 {
		t.Fatalf("%q is no process id", text)
	}
	return pid
}

// killLater kills a process that the fault plugin hid, which must still exist.
func killLater(t *testing.T, text string) {
	t.Helper()
	pid := parsePID(t, text)
	t.Cleanup(func() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("killing the hidden process: %v", err)
		}
	})
}

func TestStop(t *testing.T) {
	tests := []struct {
		name   string
		flags  []string
		signal string
	}{
		{"a plugin that ends when asked", nil, ""},
		{"one that ignores the shutdown", []string{"-ignore-shutdown"}, "SIGTERM"},
		{"one that ignores that and SIGTERM", []string{"-ignore-shutdown", "-ignore-term"}, "SIGKILL"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg, _ := setup(t, test.flags...)
			if test.signal == "SIGKILL" {
				cfg.StopTimeout = 100 * time.Millisecond
			}
			p := launch(t, cfg)
			grace := time.Minute
			if test.signal != "" {
				grace = 100 * time.Millisecond
			}
			if err := p.Stop(t.Context(), grace); err != nil {
				t.Fatal(err)
			}
			if exit := wait(t, p); exit.Signal != test.signal || exit.Reason != "toolhost stopped it" {
				t.Errorf("exit %+v, want signal %q", exit, test.signal)
			}
		})
	}
}

// No part of go-plugin waits for a stopped plugin, and so this package does not either.
func TestStopOfAStoppedPlugin(t *testing.T) {
	cfg, _ := setup(t, "-ignore-term")
	cfg.StopTimeout = 100 * time.Millisecond
	p := launch(t, cfg)
	stop := start(t, p, arguments{"do": "stop"})
	eventually.Holds(t, "it is stopped", func() bool { return stopped(p.PID()) })
	if err := p.Stop(t.Context(), 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if _, err := outcome(t.Context(), stop); !errors.Is(err, pluginwire.ErrConnLost) {
		t.Errorf("the call ends with %v", err)
	}
	wait(t, p)
}

func TestStopIsHurriedByItsContext(t *testing.T) {
	cfg, _ := setup(t, "-ignore-shutdown", "-ignore-term")
	p := launch(t, cfg) // its timeouts are longer than the test may last
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Stop(ctx, time.Hour); err != nil {
		t.Fatal(err)
	}
	if exit := wait(t, p); exit.Signal != "SIGKILL" {
		t.Errorf("exit %+v", exit)
	}
}

func TestStopAndKillMayMeet(t *testing.T) {
	cfg, _ := setup(t)
	p := launch(t, cfg)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if i%4 == 3 {
				p.Kill()
			}
			if err := p.Stop(t.Context(), 0); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	p.Kill()
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Errorf("stopping what is gone: %v", err)
	}
}

func TestInstancesDoNotDisturbEachOther(t *testing.T) {
	cfg, _ := setup(t)
	one, two := launch(t, cfg), launch(t, cfg)
	start(t, one, arguments{"do": "spawn", "text": "session"})
	one.Kill()
	wait(t, one)
	if got := do(t, two, arguments{"do": "echo", "text": "alive"}); got != "alive" {
		t.Errorf("the call says %q", got)
	}
}

func TestAlive(t *testing.T) {
	cfg, _ := setup(t)
	p := launch(t, cfg)
	start(t, p, arguments{"do": "stop"})
	eventually.Holds(t, "it is stopped", func() bool { return stopped(p.PID()) })
	if !p.Alive() {
		t.Error("a stopped process counts as dead")
	}
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "it is known to be dead", func() bool { return !p.Alive() })
	if exit := wait(t, p); exit.Signal != "SIGKILL" || exit.Reason != "" || p.Alive() {
		t.Errorf("exit %+v, alive %v", exit, p.Alive())
	}
}
