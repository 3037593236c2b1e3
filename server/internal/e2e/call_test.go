package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

func TestCallPrintsExactlyWhatIsPromised(t *testing.T) {
	h := start(t)
	out, r := h.callJSON(t, "calculator", `{"expression":"13!"}`, "--call-id", "thirteen")
	r.exits(t, 0)
	if out.CallID != "thirteen" || out.Tool != "calculator" || out.Plugin != "calculator" ||
		out.Instance != "calculator-1" || out.IsError || out.Error != nil || out.DurationMS == nil || len(out.Content) == 0 {
		t.Errorf("the output lacks something: %s", r.stdout)
	}
	if !strings.Contains(out.Text, "6227020800") {
		t.Errorf("13! is said to be %q", out.Text)
	}
	h.do(t, "call", "calculator", `{"expression":"13!"}`).says(t, "6227020800")
	h.do(t, "tools").says(t, "calculator", "read_file", "write_file", "list_dir")
	h.do(t, "plugins").says(t, "calculator", "fs", "enabled")
	h.do(t, "ps").says(t, "calculator-1", "ready")
}

// Each bad input gets a clear message that says what to do, and toolhost continues.
func TestBadInput(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	write(t, filepath.Join(h.plugins, "noplugin"), "#!/bin/sh\necho hello from a script\n", 0o755)
	h.serve(t)
	for name, tc := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"an unknown tool":      {[]string{"call", "nosuch", "{}"}, 3, []string{"nosuch", "calculator, edit_file, glob, grep, list_dir, read_file, write_file"}},
		"malformed JSON":       {[]string{"call", "calculator", `{"expression":`}, 1, []string{"not valid JSON", "ends too early"}},
		"a missing argument":   {[]string{"call", "calculator", `{}`}, 1, []string{`missing "expression"`}},
		"an unknown argument":  {[]string{"call", "calculator", `{"expression":"1","colour":"red"}`}, 1, []string{`unknown "colour"`}},
		"a bad flag":           {[]string{"call", "calculator", "--colour"}, 2, []string{"--colour", "--help"}},
		"a bad output format":  {[]string{"tools", "-o", "xml"}, 2, []string{"xml", "json"}},
		"no tool named":        {[]string{"call"}, 2, []string{"TOOL"}},
		"an unknown plugin":    {[]string{"restart", "nosuch"}, 3, []string{"nosuch", "calculator"}},
		"a bad call id":        {[]string{"call", "calculator", "{}", "--call-id", "a b"}, 2, []string{"without spaces"}},
		"nobody there":         {[]string{"tools", "--addr", "unix:///nowhere/t.sock"}, 4, []string{"/nowhere/t.sock", "toolhost serve"}},
		"an address of a host": {[]string{"tools", "--addr", "example.com"}, 2, []string{"example.com", "HOST:PORT"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := h.do(t, tc.args...)
			r.exits(t, tc.code)
			r.says(t, tc.says...)
		})
	}
	t.Run("a busy address", func(t *testing.T) {
		r := h.do(t, "serve", "--plugins", h.plugins, "--listen", h.addr, "--state", h.state+"2")
		if r.code == 0 {
			t.Error("a second toolhost at the same address ended well")
		}
		r.says(t, h.addr, "--listen")
	})
	t.Run("a plugin folder that is not there", func(t *testing.T) {
		r := h.do(t, "serve", "--plugins", h.home+"/nosuch", "--listen", h.addr+"2", "--state", h.state+"2")
		if r.code == 0 {
			t.Error("it ended well")
		}
		r.says(t, h.home+"/nosuch")
	})
	h.do(t, "plugins").says(t, "noplugin", "unusable", "not a toolhost plugin")
	h.do(t, "why", "noplugin").says(t, "not a toolhost plugin", "hello from a script", "sdk")
	out, _ := h.callJSON(t, "calculator", `{"expression":"1+1"}`)
	if out.Text != "2" {
		t.Errorf("after all that, 1+1 is %q", out.Text)
	}
}

func TestAThousandFirstCallsStartOneProcess(t *testing.T) {
	h := start(t)
	c := h.dial(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	const callers = 1000
	var wg sync.WaitGroup
	var right atomic.Int64
	for range callers {
		wg.Go(func() {
			outcome, err := c.Call(ctx, tool.Call{Tool: "calculator", Arguments: json.RawMessage(`{"expression":"13!"}`)})
			if err != nil {
				t.Error(err)
			} else if strings.Contains(outcome.Result.Text(), "6227020800") {
				right.Add(1)
			}
		})
	}
	wg.Wait()
	if right.Load() != callers {
		t.Errorf("%d of %d calls had the right answer", right.Load(), callers)
	}
	instances, err := c.Admin().Instances(ctx, "calculator")
	if err != nil {
		t.Fatal(err)
	}
	if len(instances) != 1 || instances[0].ID != "calculator-1" || instances[0].TotalCalls != callers {
		t.Errorf("instances: %+v; want one that took all calls", instances)
	}
	plugins, err := c.Admin().Plugins(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plugins {
		if p.Name == "calculator" && p.Launches != 1 {
			t.Errorf("%d launches, want 1", p.Launches)
		}
	}
}

// After a plugin is killed, the next call works in a new process. Calls of other plugins never
// fail.
func TestKilledPlugin(t *testing.T) {
	t.Parallel()
	h := start(t)
	c := h.dial(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	write(t, filepath.Join(h.workspace, "note.txt"), "still here", 0o600)

	stopReading := readMeanwhile(ctx, t, c)
	calculate := func() string {
		outcome, err := c.Call(ctx, tool.Call{Tool: "calculator", Arguments: json.RawMessage(`{"expression":"6*7"}`)})
		if err != nil || outcome.Result.Text() != "42" {
			t.Fatalf("6*7 is %q, %v", outcome.Result.Text(), err)
		}
		return outcome.Instance
	}
	seen := map[string]bool{calculate(): true}
	const kills = 4 // five crashes in ten minutes cause a quarantine
	for range kills {
		instances, err := c.Admin().Instances(ctx, "calculator")
		if err != nil {
			t.Fatal(err)
		}
		instances = slices.DeleteFunc(instances, func(in tool.InstanceInfo) bool { return in.State != tool.InstanceReady })
		if len(instances) != 1 {
			t.Fatalf("ready instances: %+v, want one", instances)
		}
		pid := instances[0].PID
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually.Holds(t, "the killed process is gone or a zombie", func() bool { return !running(pid) })
		seen[calculate()] = true
	}
	reads := stopReading()
	if len(seen) != kills+1 {
		t.Errorf("%d instances answered, want %d: one after each kill", len(seen), kills+1)
	}
	if reads == 0 {
		t.Error("the other plugin got no call")
	}
}

// readMeanwhile calls another plugin again and again. The returned function stops the calls and
// returns their number.
func readMeanwhile(ctx context.Context, t *testing.T, c *client.Client) (stopReading func() int64) {
	stop := make(chan struct{})
	var readers sync.WaitGroup
	var reads atomic.Int64
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				outcome, err := c.Call(ctx, tool.Call{Tool: "read_file", Arguments: json.RawMessage(`{"path":"note.txt"}`)})
				if err != nil || outcome.Result.IsError {
					t.Errorf("a call of another plugin failed: %v %s", err, outcome.Result.Text())
					return
				}
				reads.Add(1)
			}
		})
	}
	return func() int64 {
		close(stop)
		readers.Wait()
		return reads.Load()
	}
}

// kill -9 of toolhost leaves no process, socket or runtime dir.
func TestKilledToolhost(t *testing.T) {
	h := start(t)
	h.callJSON(t, "calculator", `{"expression":"1"}`)
	h.callJSON(t, "list_dir", `{}`)
	family := descendants(t, h.cmd.Process.Pid)
	if len(family) < 2 {
		t.Fatalf("toolhost has %d descendants, want its plugins at least", len(family))
	}
	if len(runFolders(t, h.home)) != 1 {
		t.Fatalf("run folders: %v, want one", runFolders(t, h.home))
	}
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-h.exited
	eventually.Holds(t, "all processes that toolhost started are gone", func() bool {
		for _, pid := range family {
			if running(pid) {
				return false
			}
		}
		return true
	})
	eventually.Holds(t, "no socket is left", func() bool { return len(sockets(t, h.home)) == 0 })
	eventually.Holds(t, "no run folder is left", func() bool { return len(runFolders(t, h.home)) == 0 })
}

// SIGTERM ends toolhost and everything that it started, with exit code 0.
func TestTermEndsEverything(t *testing.T) {
	h := start(t)
	h.callJSON(t, "calculator", `{"expression":"1"}`)
	family := descendants(t, h.cmd.Process.Pid)
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-h.exited
	if code := h.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	for _, pid := range family {
		if running(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
	if left := sockets(t, h.home); len(left) != 0 {
		t.Errorf("sockets left: %v", left)
	}
}

// At shutdown, toolhost ends a call that takes too long. Its caller receives the reason and does
// not lose the connection without one.
func TestTermTellsHowCallsEnded(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	install(t, h, "fault", "faultplugin", "")
	h.serve(t)
	w := h.startWaiting(t, h.dial(t))
	h.stop(t)
	for outcome := range w.outcome {
		t.Fatalf("the call ended with %q", outcome.Result.Text())
	}
	if e := tool.AsError(w.err); e.Instance != "fault-1" || !strings.Contains(e.Message, "toolhost is stopping") {
		t.Errorf("the call ended with %s: %v", e.Kind, e)
	}
	if code := h.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// One command replaces a plugin's process and no other.
func TestRestart(t *testing.T) {
	h := start(t)
	h.callJSON(t, "calculator", `{"expression":"1"}`)
	h.callJSON(t, "list_dir", `{}`)
	h.do(t, "restart", "calculator").says(t, "calculator-2")
	out, _ := h.callJSON(t, "calculator", `{"expression":"2"}`)
	if out.Instance != "calculator-2" {
		t.Errorf("the call after the restart ran in %s", out.Instance)
	}
	out, _ = h.callJSON(t, "list_dir", `{}`)
	if out.Instance != "fs-1" {
		t.Errorf("the neighbour's call ran in %s", out.Instance)
	}
}

// fs refuses every way out of the workspace, in a call through toolhost.
func TestWorkspaceIsTheLimit(t *testing.T) {
	t.Parallel()
	h := start(t)
	const secret = "a secret outside"
	write(t, filepath.Join(h.home, "secret.txt"), secret, 0o600)
	sibling := h.workspace + "-secret"
	if err := os.Mkdir(sibling, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(sibling, "s.txt"), secret, 0o600)
	for link, target := range map[string]string{"out": h.home, "file": filepath.Join(h.home, "secret.txt"), "rel": "../secret.txt"} {
		if err := os.Symlink(target, filepath.Join(h.workspace, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"../secret.txt", "a/../../secret.txt", filepath.Join(h.home, "secret.txt"), "/etc/passwd",
		"out/secret.txt", "file", "rel", "../workspace-secret/s.txt", filepath.Join(sibling, "s.txt"),
	} {
		arguments, _ := json.Marshal(map[string]string{"path": path})
		out, r := h.callJSON(t, "read_file", string(arguments))
		r.exits(t, 1)
		if !out.IsError || strings.Contains(r.stdout, secret) {
			t.Errorf("reading %q was not refused: %s", path, r.stdout)
		}
		arguments, _ = json.Marshal(map[string]string{"path": path, "content": "overwritten"})
		_, r = h.callJSON(t, "write_file", string(arguments))
		r.exits(t, 1)
	}
	for _, path := range []string{filepath.Join(h.home, "secret.txt"), filepath.Join(sibling, "s.txt")} {
		if data, err := os.ReadFile(path); err != nil || string(data) != secret {
			t.Errorf("%s holds %q, %v", path, data, err)
		}
	}
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}
