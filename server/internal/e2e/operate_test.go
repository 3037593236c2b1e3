package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/tool"
)

// A plugin crashes until toolhost quarantines it. The operator finds the reason, and one command
// restores the plugin. Callers of other plugins are unaffected. Further incidents follow: a hung
// call, an upgrade, a rollback, a broken executable.
func TestTheOperatorsNight(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	install(t, h, "fault", "faultplugin", "")
	install(t, h, "calculator", "plugins/calculator", "")
	h.serve(t)
	events := h.watch(t, "events", "-f")
	logs := h.watch(t, "logs", "-f")
	neighbours := workBeside(t, h)

	crashUntilQuarantined(t, h)
	mend(t, h)
	freeAHungCall(t, h)
	exchangeExecutables(t, h)

	neighbours.stop(t)
	h.do(t, "stats", "fault").says(t, "outcome_unknown")
	for _, what := range []string{"fault-1", "instance crashed", "plugin quarantined", "an operator cleared it", "upgrade finished"} {
		events.says(t, what)
	}
	events.interrupt(t).exits(t, 0)
	h.cmd.Process.Signal(syscall.SIGTERM)
	gone := logs.wait(t)
	gone.exits(t, 4)
	gone.says(t, "panic: boom at night", "has stopped")
}

// crashUntilQuarantined crashes the plugin until toolhost quarantines it. Each caller receives the
// reason.
func crashUntilQuarantined(t *testing.T, h *toolhost) {
	t.Helper()
	crash := h.do(t, "call", "fault", `{"do":"crash","text":"boom at night"}`)
	crash.exits(t, 3)
	crash.says(t, "exit code 2", "panic: boom at night", "`toolhost why fault` tells more")
	h.do(t, "plugins").says(t, "fault-1 crashed")
	h.do(t, "why", "fault").says(t, "fault 1 is enabled", "fault-1 crashed: exit code 2", "| panic: boom at night", "nothing has to be done")
	h.do(t, "logs", "fault").says(t, "panic: boom at night")
	const crashes = 5 // crashes in ten minutes that cause a quarantine
	// the calls differ, because toolhost refuses a call that crashes the plugin repeatedly, and
	// then the plugin is not quarantined
	for i := range crashes - 1 {
		h.do(t, "call", "fault", fmt.Sprintf(`{"do":"exit","number":3,"text":"%d"}`, i)).exits(t, 3)
	}
	eventually.Holds(t, "the plugin is quarantined", func() bool { return info(t, h, "fault").State == tool.PluginQuarantined })
	h.do(t, "plugins").says(t, "quarantined", "crashed 5 times")
	refused := h.do(t, "call", "fault", `{"do":"echo","text":"x"}`)
	refused.exits(t, 3)
	refused.says(t, "unavailable", "quarantined")
}

// repair runs the command that `why` prints.
func mend(t *testing.T, h *toolhost) {
	t.Helper()
	h.do(t, "why", "fault").says(t, "fault 1 is quarantined", "next try", "exit code 3", "toolhost clear fault")
	var why struct {
		Remedies []struct{ Command string }
	}
	if err := json.Unmarshal([]byte(h.do(t, "why", "fault", "-o", "json").stdout), &why); err != nil || len(why.Remedies) == 0 {
		t.Fatalf("what to do: %+v, %v", why, err)
	}
	command := strings.Fields(why.Remedies[0].Command)
	h.do(t, command[1:]...).exits(t, 0)
	ok := h.do(t, "call", "fault", `{"do":"echo","text":"all is well"}`)
	ok.exits(t, 0)
	ok.says(t, "all is well")
}

// One command ends a call that ignores its cancellation.
func freeAHungCall(t *testing.T, h *toolhost) {
	t.Helper()
	hung := h.watch(t, "call", "fault", `{"do":"ignore"}`)
	eventually.Holds(t, "the call hangs", func() bool {
		instances, err := h.looks.Admin().Instances(t.Context(), "fault")
		return err == nil && len(instances) == 1 && instances[0].Calls == 1
	})
	h.do(t, "restart", "fault", "--force").exits(t, 0)
	r := hung.wait(t)
	r.exits(t, 3)
	r.says(t, "outcome_unknown", "an operator restarted")
	h.do(t, "pause", "fault").exits(t, 0)
	h.do(t, "call", "fault", `{"do":"echo","text":"x"}`).says(t, "unavailable", "paused")
	h.do(t, "why", "fault").says(t, "toolhost resume fault")
	h.do(t, "drain", "fault").exits(t, 0)
	h.do(t, "resume", "fault").exits(t, 0)
	h.do(t, "call", "fault", `{"do":"echo","text":"x"}`).exits(t, 0)
}

// exchangeExecutables upgrades, rolls back, and tries a broken executable.
func exchangeExecutables(t *testing.T, h *toolhost) {
	t.Helper()
	old := info(t, h, "calculator").Digest
	install(t, h, "calculator", "plugins/calculator", "another build")
	h.do(t, "reload").exits(t, 0)
	eventually.Holds(t, "the new executable is in service", func() bool { return info(t, h, "calculator").Digest != old })
	next := info(t, h, "calculator")
	if next.PreviousDigest != old {
		t.Errorf("the digest before is %s, want %s", next.PreviousDigest, old)
	}
	h.do(t, "rollback", "calculator", "--reason", "too slow").says(t, "rolled calculator back")
	h.do(t, "revisions", "calculator").says(t, `rollback: "too slow"`, "kept")
	h.do(t, "audit", "search", "--kind", "administration").says(t, `the caller's reason: "too slow"`)
	h.do(t, "rollback", "calculator", "1").says(t, "calculator runs that executable already")
	h.do(t, "rollback", "calculator", "99").says(t, "toolhost revisions calculator")
	if back := info(t, h, "calculator").Digest; back != old {
		t.Errorf("after the rollback %s is in service, want %s", back, old)
	}
	h.do(t, "upgrade", "calculator").says(t, "upgraded calculator")
	broken := filepath.Join(h.home, "broken")
	write(t, broken, "#!/bin/sh\necho a broken build >&2\nexit 7\n", 0o755)
	if err := os.Rename(broken, filepath.Join(h.plugins, "calculator")); err != nil {
		t.Fatal(err)
	}
	h.do(t, "upgrade", "calculator").exits(t, 3)
	h.do(t, "why", "calculator").says(t, "calculator 1.0.0 is enabled", "a broken build", "toolhost upgrade calculator")
	status := h.do(t, "status")
	status.exits(t, 1)
	status.says(t, "not well", "calculator: what is in its folder is not used", "toolhost why calculator")
	if now := info(t, h, "calculator").Digest; now != next.Digest {
		t.Errorf("a broken executable has replaced %s by %s", next.Digest, now)
	}
}

// install copies a binary into the plugin folder atomically. Appended bytes change its digest.
func install(t *testing.T, h *toolhost, name, binary, more string) {
	t.Helper()
	fresh := filepath.Join(h.home, "fresh")
	if err := errors.Join(copyWith(filepath.Join(bin, binary), fresh, more), os.Rename(fresh, filepath.Join(h.plugins, name))); err != nil {
		t.Fatal(err)
	}
}

// list decodes the JSON output of a command.
func (h *toolhost) list(t *testing.T, into any, args ...string) {
	t.Helper()
	r := h.do(t, append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(r.stdout), into); err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, r.stdout, r.stderr)
	}
}

func info(t *testing.T, h *toolhost, name string) tool.PluginInfo {
	t.Helper()
	for _, p := range h.known(t) {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("there is no plugin %s", name)
	return tool.PluginInfo{}
}

// watched is a client command that runs during the test.
type watched struct {
	cmd            *exec.Cmd
	stdout, stderr *syncbuf.Buffer
	exited         chan struct{}
}

func (h *toolhost) watch(t *testing.T, args ...string) *watched {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	w := &watched{
		cmd:    command(ctx, h.home, []string{"TOOLHOST_ADDR=" + h.addr}, "toolhost", args...),
		stdout: &syncbuf.Buffer{}, stderr: &syncbuf.Buffer{}, exited: make(chan struct{}),
	}
	w.cmd.Stdout, w.cmd.Stderr = w.stdout, w.stderr
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process
		defer close(w.exited)
		w.cmd.Wait()
	}()
	t.Cleanup(func() {
		cancel()
		<-w.exited
	})
	return w
}

// wait returns the output and exit code of the command.
func (w *watched) wait(t *testing.T) result {
	t.Helper()
	<-w.exited
	return result{stdout: w.stdout.String(), stderr: w.stderr.String(), code: w.cmd.ProcessState.ExitCode()}
}

// interrupt sends SIGINT, like Ctrl-C.
func (w *watched) interrupt(t *testing.T) result {
	t.Helper()
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	return w.wait(t)
}

// says waits until the command has printed the text.
func (w *watched) says(t *testing.T, text string) {
	t.Helper()
	eventually.Holds(t, "the output says "+text, func() bool { return bytes.Contains([]byte(w.stdout.String()), []byte(text)) })
}

// neighbours call another plugin and must be unaffected.
type neighbours struct {
	ended  chan struct{}
	group  sync.WaitGroup
	calls  atomic.Int64
	failed atomic.Int64
}

func workBeside(t *testing.T, h *toolhost) *neighbours {
	t.Helper()
	n := &neighbours{ended: make(chan struct{})}
	c := h.dial(t)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	for range 2 {
		n.group.Go(func() {
			tick := time.NewTicker(pace)
			defer tick.Stop()
			for {
				select {
				case <-n.ended:
					return
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				outcome, err := c.Call(ctx, tool.Call{Tool: "calculator", Arguments: json.RawMessage(`{"expression":"6*7"}`)})
				if err != nil || outcome.Result.Text() != "42" {
					n.failed.Add(1)
				}
				n.calls.Add(1)
			}
		})
	}
	return n
}

func (n *neighbours) stop(t *testing.T) {
	t.Helper()
	close(n.ended)
	n.group.Wait()
	if n.calls.Load() == 0 || n.failed.Load() > 0 {
		t.Errorf("%d of %d calls of the neighbours failed", n.failed.Load(), n.calls.Load())
	}
}
