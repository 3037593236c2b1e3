package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// endsClean stops toolhost and checks that nothing is left of what it started: no process, socket,
// runtime dir or temporary file.
func (h *toolhost) endsClean(t *testing.T) {
	t.Helper()
	family := descendants(t, h.cmd.Process.Pid)
	h.stop(t)
	if code := h.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("toolhost's exit code is %d", code)
	}
	if left := slices.DeleteFunc(family, func(pid int) bool { return !running(pid) }); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if left := append(sockets(t, h.home), runFolders(t, h.home)...); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	entries, err := os.ReadDir(h.home) // it is also the folder for temporary files
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !slices.Contains([]string{"workspace", "plugins", "state", "toolhost.yaml", ".local"}, entry.Name()) {
			t.Errorf("left is %s", entry.Name())
		}
	}
}

// waiting is a call of the fault plugin that lasts until end is called.
type waiting struct {
	file    string
	outcome chan tool.Outcome
	err     error // valid after outcome is closed
}

// startWaiting returns when the call executes.
func (h *toolhost) startWaiting(t *testing.T, c *client.Client) *waiting {
	t.Helper()
	w := &waiting{file: filepath.Join(h.workspace, "come"), outcome: make(chan tool.Outcome, 1)}
	arguments, err := json.Marshal(map[string]string{"do": "wait", "text": w.file})
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{}, 1)
	go func() { // ends with the call
		defer close(w.outcome)
		outcome, err := c.Follow(t.Context(), tool.Call{Tool: "fault", Arguments: arguments, Timeout: patience}, func(e tool.Event) {
			if e.Log != nil {
				begun <- struct{}{}
			}
		})
		w.err = err
		if err == nil {
			w.outcome <- outcome
		}
	}()
	select {
	case <-begun:
	case <-w.outcome:
		t.Fatalf("the call ended before it began: %v", w.err)
	}
	return w
}

// end ends the call and returns the instance that executed it.
func (w *waiting) end(t *testing.T) (instance string) {
	t.Helper()
	write(t, w.file, "", 0o600)
	outcome, ok := <-w.outcome
	if !ok || outcome.Result.Text() != "it came" {
		t.Errorf("the call ended with %q, %v", outcome.Result.Text(), w.err)
	}
	return outcome.Instance
}

// toolhost runs copies. Whatever happens to the file, a call in progress ends normally, and the
// newest working executable executes the next call.
func TestExecutableReplacedUnderACall(t *testing.T) {
	const broken = "#!/bin/sh\necho a broken build >&2\nexit 7\n"
	overwrite := func(content func(old string) string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			old, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, content(string(old)), 0o755)
		}
	}
	rename := func(content func(old string) string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			fresh := filepath.Join(filepath.Dir(path), "..", "fresh")
			old, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, fresh, content(string(old)), 0o755)
			if err := os.Rename(fresh, path); err != nil {
				t.Fatal(err)
			}
		}
	}
	works := func(old string) string { return old + "another build" }
	fails := func(string) string { return broken }
	for name, tc := range map[string]struct {
		replace func(t *testing.T, path string)
		upgrade bool
	}{
		"by a rename":                           {rename(works), true},
		"by a rename, with one that fails":      {rename(fails), false},
		"in place":                              {overwrite(works), true},
		"in place, with one that fails":         {overwrite(fails), false},
		"in place, with nothing":                {overwrite(func(string) string { return "" }), false},
		"in place, with the half of it":         {overwrite(func(old string) string { return old[:len(old)/2] }), false},
		"in place, by garbage of the same size": {overwrite(func(old string) string { return strings.Repeat("x", len(old)) }), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := prepare(t)
			path := filepath.Join(h.plugins, "fault")
			install(t, h, "fault", "faultplugin", "")
			h.serve(t)
			old := info(t, h, "fault").Digest
			c := h.dial(t)
			call := h.startWaiting(t, c)
			tc.replace(t, path)
			eventually.Holds(t, "toolhost has noticed", func() bool {
				now := info(t, h, "fault")
				return tc.upgrade && now.Digest != old || !tc.upgrade && now.Refusal != nil
			})
			if got := call.end(t); got != "fault-1" {
				t.Errorf("the call was executed by %s", got)
			}
			h.echo(t, c, "fault", "")
			if now := info(t, h, "fault"); (now.Digest != old) != tc.upgrade {
				t.Errorf("in service is %s, before it was %s", now.Digest, old)
			}
			h.endsClean(t)
		})
	}
}

// toolhost discards a result at its limit, and holds no more than the limit in memory.
func TestHundredMiBResult(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	install(t, h, "fault", "faultplugin", "")
	write(t, filepath.Join(h.home, "toolhost.yaml"), "calls: {max_result_bytes: 8MiB}\n", 0o600)
	h.serve(t)
	c := h.dial(t)
	h.echo(t, c, "fault", "")
	before := h.peakMemory(t)
	out, r := h.callJSON(t, "fault", `{"do":"large","text":"text","number":104857600}`)
	if out.Error == nil || !strings.Contains(out.Error.Message, "larger than the 8388608 bytes that are allowed") {
		t.Errorf("the call ended with %s", r.stdout)
	}
	if grown := h.peakMemory(t) - before; grown > 64<<20 {
		t.Errorf("toolhost grew by %d MiB for a result of at most 8", grown>>20)
	} else {
		t.Logf("toolhost grew by %d MiB at most", grown>>20)
	}
	h.echo(t, c, "fault", "")
	h.endsClean(t)
}

// peakMemory returns the peak of toolhost's resident memory, in bytes.
func (h *toolhost) peakMemory(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.server(t)))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		t.Fatalf("there is no peak in %s", status)
	}
	kilobytes, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
