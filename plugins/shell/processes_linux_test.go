package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
	"github.com/toolhost/toolhost/sdk/workspace/commands"
)

// hideaways are the ways in which a process can hide from the process that started it. Each writes
// its pid to a file and then runs forever.
var hideaways = map[string]string{
	"in the group":              `sh -c 'echo $$ >%[1]s; exec sleep 1000' &`,
	"in a session of its own":   `setsid sh -c 'echo $$ >%[1]s; exec sleep 1000' &`,
	"an orphan":                 `(sh -c 'echo $$ >%[1]s; exec sleep 1000' &)`,
	"an orphan in a session":    `(setsid setsid sh -c 'echo $$ >%[1]s; exec sleep 1000' & exit 0)`,
	"without an environment":    `(env -i setsid /bin/sh -c 'echo $$ >%[1]s; exec /bin/sleep 1000' &)`,
	"heeds no signal":           `setsid sh -c 'trap "" TERM HUP INT; echo $$ >%[1]s; while :; do sleep 1; done' &`,
	"stopped":                   `setsid sh -c 'echo $$ >%[1]s; kill -STOP $$; sleep 1000' &`,
	"has closed its outputs":    `setsid sh -c 'echo $$ >%[1]s; exec sleep 1000' >/dev/null 2>&1 </dev/null &`,
	"starts others when ending": `setsid sh -c 'trap "setsid sleep 1000 & setsid sleep 1000 & exit" TERM; echo $$ >%[1]s; while :; do sleep 0.05; done' &`,
}

// Everything that a command started ends with the command: when its shell exits, and when the call
// is canceled. The launcher handles a timeout like a cancellation.
func TestNothingIsLeft(t *testing.T) {
	for name, hide := range hideaways {
		t.Run(name, func(t *testing.T) {
			const known = `while [ ! -s pid ]; do sleep 0.01; done; `
			start := fmt.Sprintf(hide, "pid") + "\n" + known
			t.Run("exit", func(t *testing.T) {
				workspace := t.TempDir()
				got, _, _ := call(t, map[string]any{"command": start + "echo done"}, sdktest.WithWorkspace(workspace))
				if got.ExitCode != 0 || got.StdoutBytes != 5 || got.EndedProcesses == 0 {
					t.Errorf("got %+v", got)
				}
				gone(t, workspace)
			})
			t.Run("cancel", func(t *testing.T) {
				workspace := t.TempDir()
				s := sdktest.New(t, plugin(commands.New())).Stream("shell", sdktest.WithWorkspace(workspace))
				s.Complete(map[string]any{"command": start + "echo ready; sleep 1000"})
				s.WaitStatus(func(status sdk.Status) bool { return status.Message == "ready" })
				s.Cancel()
				if got := s.Wait(); got.Err == nil || got.Err.Kind != "cancelled" {
					t.Errorf("got %+v", got)
				}
				gone(t, workspace)
			})
		})
	}
}

// running reports whether a process exists that has not ended.
func running(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// gone fails the test if the process whose pid is in the workspace, or any other process of the
// test, still runs.
func gone(t *testing.T, workspace string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(workspace, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		t.Fatalf("the number %q, %v", text, err)
	}
	if running(pid) {
		t.Errorf("process %d is left", pid)
	}
	if left := children(); left != "" {
		t.Errorf("left: %s", left)
	}
}

// A command runs in its own session and so has no terminal, wherever toolhost was started.
func TestSession(t *testing.T) {
	got, blocks, _ := call(t, map[string]any{"command": `read -r _ _ _ _ group session _ <"/proc/$$/stat"; echo $(($$ - group)) $(($$ - session))`})
	if got.ExitCode != 0 || len(blocks) != 2 || blocks[1].Text != "0 0\n" {
		t.Errorf("got %+v, %q", got, texts(blocks))
	}
}

// A command may end or stop its own supervisor. The plugin then ends what the command started.
func TestSupervisorIsLost(t *testing.T) {
	const hide = "(setsid setsid sh -c 'echo $$ >pid; exec sleep 1000' &)\nwhile [ ! -s pid ]; do sleep 0.01; done; "
	for name, test := range map[string]struct {
		command  string
		seconds  float64
		timedOut bool
	}{
		"killed":  {hide + "echo said; kill -KILL $PPID; sleep 1000", 60, false},
		"stopped": {hide + "echo said; kill -STOP $PPID; sleep 1000", 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			workspace := t.TempDir()
			got, blocks, result := call(t, map[string]any{"command": test.command, "timeout_seconds": test.seconds}, sdktest.WithWorkspace(workspace))
			if got.ExitCode != -1 || got.TimedOut != test.timedOut || !result.IsError || blocks[1].Text != "said\n" {
				t.Errorf("got %+v, %q", got, texts(blocks))
			}
			if !strings.Contains(result.Text(), "exit code is not known") {
				t.Errorf("got %q", result.Text())
			}
			gone(t, workspace)
		})
	}
}

// Ending a supervisor with SIGTERM ends its command.
func TestSupervisorGetsTheSignalToEnd(t *testing.T) {
	got, _, _ := call(t, map[string]any{"command": "kill -TERM $PPID; sleep 1000"})
	if got.ExitCode == 0 || got.TimedOut {
		t.Errorf("got %+v", got)
	}
}

// Concurrent calls do not end each other's processes, even if one loses its supervisor.
func TestCallsBesideEachOther(t *testing.T) {
	h := sdktest.New(t, plugin(commands.New()))
	workspace := t.TempDir()
	steady := h.Stream("shell", sdktest.WithWorkspace(workspace))
	steady.Complete(`{"command":"(setsid setsid sh -c 'echo $$ >pid; while [ ! -e go ]; do sleep 0.01; done; echo went' &)\nwhile [ ! -s pid ]; do sleep 0.01; done; echo ready; while [ ! -e go ]; do sleep 0.01; done; sleep 0.1"}`)
	steady.WaitStatus(func(status sdk.Status) bool { return status.Message == "ready" })
	for range 3 {
		lost := h.Call("shell", `{"command":"setsid sleep 1000 & kill -KILL $PPID; sleep 1000"}`, sdktest.WithWorkspace(t.TempDir()))
		if o, _, _ := read(t, lost); o.ExitCode != -1 {
			t.Errorf("got %+v", lost)
		}
	}
	if err := os.WriteFile(filepath.Join(workspace, "go"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if got := steady.Wait(); got.IsError || !strings.Contains(got.Text(), "went") {
		t.Errorf("got %q, %v", got.Text(), got.Err)
	}
	gone(t, workspace)
}

// A command that is canceled before its start does not start.
func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	workspace := t.TempDir()
	got := sdktest.New(t, plugin(commands.New())).Stream("shell", sdktest.WithWorkspace(workspace), sdktest.WithContext(ctx)).Wait()
	if got.Err == nil || got.Err.Kind != "cancelled" {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(filepath.Join(workspace, "pid")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// The result says what happened to a supervisor. The trace of Go's runtime is not part of the
// command's output.
func TestNoTraceOfASupervisorThatCrashes(t *testing.T) {
	_, result, _ := call(t, map[string]any{"command": "echo said; echo complained >&2; kill -QUIT $PPID; sleep 1000"})
	text := fmt.Sprint(result)
	for _, part := range []string{"goroutine", "SIGQUIT: quit", "runtime."} {
		if strings.Contains(text, part) {
			t.Errorf("%q is in the result: %s", part, text)
		}
	}
	for _, part := range []string{"said", "complained", "exit code is not known"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in the result: %s", part, text)
		}
	}
}

// A supervisor has all the threads that it needs before its command can use up the limit.
func TestASupervisorNeedsNoMoreThreads(t *testing.T) {
	got, _, _ := call(t, map[string]any{"command": `threads() { ls /proc/$PPID/task | wc -l; }
before=$(threads)
for i in 1 2 3 4 5 6 7 8; do setsid sleep 1000 & done
sleep 0.2
[ "$before" -ge 8 ] && [ "$(threads)" -le "$before" ]`})
	if got.ExitCode != 0 {
		t.Errorf("it started threads while its command ran: %+v", got)
	}
}
