package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// faultPlugin returns the path of the fault plugin.
func faultPlugin() string { return filepath.Join(bin, "faultplugin") }

// copyPlugin installs a plugin under another name. Appended bytes change only its digest.
func copyPlugin(t *testing.T, source, target, appended string) {
	t.Helper()
	if err := errors.Join(copyWith(source, target+".new", appended), os.Rename(target+".new", target)); err != nil {
		t.Fatal(err)
	}
}

// copyWith copies a program and appends bytes. The kernel copies the data, because programs are
// large and many.
func copyWith(source, target, appended string) (err error) {
	from, err := os.Open(source)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(target, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	_, err = to.WriteString(appended)
	return err
}

// Restarting the processes of one plugin does not affect others, and each instance costs toolhost
// little.
func TestTwoHundredInstances(t *testing.T) {
	t.Parallel()
	const plugins, sessions = 10, 20
	h := prepare(t)
	fault := faultPlugin()
	for i := range plugins {
		name := fmt.Sprintf("chaos-%d", i) // the fault plugin uses such a file name as its own name
		copyPlugin(t, fault, filepath.Join(h.plugins, name), name)
	}
	write(t, filepath.Join(h.home, "toolhost.yaml"), "defaults: {isolation: session, max_instances: 200}\n", 0o600)
	h.serve(t)
	c := h.dial(t)
	before := h.memory(t)
	var wg sync.WaitGroup
	for i := range plugins {
		for j := range sessions {
			wg.Go(func() { h.echo(t, c, fmt.Sprintf("chaos-%d", i), fmt.Sprintf("session-%d", j)) })
		}
	}
	wg.Wait()
	pids := h.pids(t, c)
	if len(pids) != plugins*sessions {
		t.Fatalf("%d instances live, want %d", len(pids), plugins*sessions)
	}
	each := (h.memory(t) - before) / (plugins * sessions)
	t.Logf("toolhost grew by %d KiB for each of %d instances", each>>10, plugins*sessions)
	if each >= 2<<20 {
		t.Errorf("toolhost grew by %d bytes for each instance, want less than 2 MiB", each)
	}
	if _, err := c.Admin().Restart(t.Context(), "chaos-3", false); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "the old processes of the restarted plugin are gone", func() bool {
		for id, pid := range pids {
			if strings.HasPrefix(id, "chaos-3-") && running(pid) {
				return false
			}
		}
		return true
	})
	now := h.pids(t, c)
	for id, pid := range pids {
		if !strings.HasPrefix(id, "chaos-3-") && now[id] != pid {
			t.Errorf("%s was process %d, and is %d after another plugin's restart", id, pid, now[id])
		}
	}
	h.echo(t, c, "chaos-3", "session-0")
	h.echo(t, c, "chaos-4", "session-0")
}

func (h *toolhost) echo(t *testing.T, c *client.Client, plugin, session string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	outcome, err := c.Call(ctx, tool.Call{Tool: plugin, Session: session, Arguments: json.RawMessage(`{"do":"echo","text":"x"}`), Timeout: patience})
	if err != nil || outcome.Result.Text() != "x" {
		t.Errorf("a call of %s in %s ended with %q, %v", plugin, session, outcome.Result.Text(), err)
	}
}

// pids returns the process id of each instance.
func (h *toolhost) pids(t *testing.T, c *client.Client) map[string]int {
	t.Helper()
	instances, err := c.Admin().Instances(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	for _, in := range instances {
		pids[in.ID] = in.PID
	}
	return pids
}

// memory returns toolhost's resident memory in bytes.
func (h *toolhost) memory(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", h.server(t)))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// In locked mode toolhost refuses a changed executable, with both digests and the command that
// allows it.
func TestLocked(t *testing.T) {
	t.Parallel()
	h := start(t)
	lock := filepath.Join(h.home, "toolhost.lock")
	h.do(t, "lock").says(t, "toolhost.lock allows 2 plugins")
	h.stop(t)
	if err := os.Remove(filepath.Join(h.plugins, "calculator")); err != nil {
		t.Fatal(err)
	}
	copyPlugin(t, filepath.Join(bin, "plugins", "calculator"), filepath.Join(h.plugins, "calculator"), "changed")
	h.state += "-2" // without a copy of the old executable
	h.serve(t, "--locked", "--lock-file", lock)
	h.do(t, "call", "calculator", `{"expression":"1"}`).exits(t, 3)
	out, r := h.callJSON(t, "list_dir", `{}`)
	if r.exits(t, 0); out.IsError {
		t.Errorf("the plugin that did not change cannot be used: %s", r.stdout)
	}
	listed := h.do(t, "plugins", "-o", "json")
	if strings.Count(listed.stdout, "sha256:") < 3 {
		t.Errorf("the refusal does not name both digests: %s", listed.stdout)
	}
	listed.says(t, "run `toolhost lock calculator`")
	// The command in the refusal works.
	h.do(t, "lock", "calculator").says(t, "allows 2 plugins")
	h.do(t, "call", "calculator", `{"expression":"1"}`).exits(t, 0)
}

// toolhost notices a replaced file, and no call fails during the upgrade.
func TestUpgradeByReplacingTheFile(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	fault := faultPlugin()
	path := filepath.Join(h.plugins, "chaos-0")
	copyPlugin(t, fault, path, "one")
	h.serve(t)
	c := h.dial(t)
	h.echo(t, c, "chaos-0", "")
	stop, failed := make(chan struct{}), sync.WaitGroup{}
	for range 4 {
		failed.Go(func() {
			tick := time.NewTicker(pace)
			defer tick.Stop()
			for {
				select {
				case <-stop:
					return
				case <-tick.C:
					h.echo(t, c, "chaos-0", "")
				}
			}
		})
	}
	copyPlugin(t, fault, path, "two")
	eventually.Holds(t, "the new executable has taken over", func() bool {
		instances, err := c.Admin().Instances(t.Context(), "chaos-0")
		return err == nil && len(instances) == 1 && instances[0].ID == "chaos-0-2" && instances[0].State == tool.InstanceReady
	})
	write(t, path+".new", "#!/bin/sh\nexit 7\n", 0o755)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "the broken executable is reported", func() bool { return h.tells(t, "exit code 7") })
	h.do(t, "why", "chaos-0").says(t, "exit code 7")
	h.do(t, "rollback", "chaos-0").exits(t, 0)
	close(stop)
	failed.Wait()
	h.echo(t, c, "chaos-0", "")
}

// A grandchild that left its session and cleared its environment dies with toolhost.
func TestKilledToolhostTakesWhatHides(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	copyPlugin(t, faultPlugin(), filepath.Join(h.plugins, "fault"), "")
	h.serve(t)
	out, r := h.callJSON(t, "fault", `{"do":"spawn","text":"bare"}`)
	if r.exits(t, 0); out.Text == "" {
		t.Fatalf("nothing was spawned: %s", r.stdout)
	}
	family := descendants(t, h.cmd.Process.Pid)
	if len(family) < 3 {
		t.Fatalf("toolhost has %d descendants, want its reaper, the plugin and what that started", len(family))
	}
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-h.exited
	for _, pid := range family {
		eventually.Holds(t, fmt.Sprintf("process %d is gone", pid), func() bool { return !running(pid) })
	}
}
