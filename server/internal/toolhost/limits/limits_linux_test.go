package limits_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/store/claimed"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

// open opens the groups of this machine. The machine decides which of them a test covers.
func open(t *testing.T) *limits.Cgroups {
	t.Helper()
	groups := limits.OpenCgroups()
	t.Cleanup(func() {
		if err := groups.Close(); err != nil {
			t.Error(err)
		}
		for _, dir := range groups.Dirs() {
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s is there", dir)
			}
		}
	})
	return groups
}

// start starts a sleeper inside; it is reaped at the test's end.
func start(t *testing.T, h *limits.Holder) *exec.Cmd {
	t.Helper()
	return begin(t, h, "/bin/sleep", "600")
}

// begin starts a program inside; it is reaped at the test's end.
func begin(t *testing.T, h *limits.Holder, program string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program, args...)
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		stuck, err := h.Start(func(cgroup int) error {
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if cgroup >= 0 {
				cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, cgroup
			}
			return cmd.Start()
		})
		if !stuck {
			runtime.UnlockOSThread()
		} else {
			err = errors.Join(err, errors.New("the thread is stuck"))
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func TestOnlyTheProcessIsInItsGroups(t *testing.T) {
	before := ownGroups(t)
	h, err := limits.Hold(limits.Config{MemoryBytes: 64 << 20, CPUs: 0.5, Processes: 20}, open(t), "fs-1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	cmd := start(t, h)
	for _, dir := range h.Groups() {
		text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil || strings.TrimSpace(string(text)) != strconv.Itoa(cmd.Process.Pid) {
			t.Errorf("in %s are %q, %v; want %d alone", dir, text, err, cmd.Process.Pid)
		}
	}
	if after := ownGroups(t); after != before {
		t.Errorf("toolhost's own threads are in %q, they were in %q", after, before)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if len(h.Groups()) > 0 && proc.Alive(cmd.Process.Pid) {
		t.Error("the process survived its group")
	}
	for _, dir := range h.Groups() {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is there", dir)
		}
	}
}

// ownGroups returns the groups of all threads, each once.
func ownGroups(t *testing.T) string {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, task := range tasks {
		if text, err := os.ReadFile(task); err == nil && !slices.Contains(all, string(text)) {
			all = append(all, string(text))
		}
	}
	return strings.Join(all, "and ")
}

func TestEffectiveLimitsAreReported(t *testing.T) {
	all := limits.Config{MemoryBytes: 64 << 20, CPUs: 0.5, Processes: 20, OpenFiles: 100, FileBytes: 1 << 20}
	h, err := limits.Hold(all, nil, "fs-1")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]string{
		"memory": {"67108864", "watchdog"}, "cpu": {"0.5", "none"}, "processes": {"20", "watchdog"},
		"open_files": {"100", "rlimit"}, "file_size": {"1048576", "rlimit"},
	}
	for _, l := range h.Effective() {
		if got := [2]string{l.Value, l.Mechanism}; got != want[l.Name] || l.Note == "" {
			t.Errorf("%+v, want %q and a note", l, want[l.Name])
		}
		delete(want, l.Name)
	}
	if len(want) > 0 {
		t.Errorf("not told: %v", want)
	}
	if h, err = limits.Hold(limits.Config{}, nil, "fs-1"); err != nil || len(h.Effective()) > 0 {
		t.Errorf("without limits there is %v, %v", h.Effective(), err)
	}
}

func TestRequiredLimitThatCannotBeHeldIsRefused(t *testing.T) {
	_, err := limits.Hold(limits.Config{CPUs: 1, Enforcement: limits.Required}, nil, "fs-1")
	refused, ok := errors.AsType[*limits.RefusedError](err)
	if !ok || refused.Limit.Name != "cpu" || !strings.Contains(err.Error(), "cannot be held here: only control groups can") {
		t.Errorf("error %v", err)
	}
	if _, err := limits.Hold(limits.Config{Processes: 5, OpenFiles: 64, Enforcement: limits.Required}, nil, "fs-1"); err != nil {
		t.Errorf("what can be held is refused: %v", err)
	}
}

func TestRlimits(t *testing.T) {
	h, err := limits.Hold(limits.Config{OpenFiles: 100, FileBytes: 4096}, nil, "fs-1")
	if err != nil {
		t.Fatal(err)
	}
	cmd := start(t, h)
	if err := h.Started(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/limits")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Max open files 100 100", "Max file size 4096 4096", "Max core file size 1 1"} {
		if got := strings.Join(strings.Fields(string(text)), " "); !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	for _, cfg := range []limits.Config{
		{MemoryBytes: 512}, {CPUs: 0.001}, {CPUs: -1}, {Processes: -1}, {OpenFiles: 3}, {OpenFiles: -1}, {Enforcement: 7},
	} {
		if _, err := limits.Hold(cfg, nil, "fs-1"); err == nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
}

func TestSweepRemovesUnclaimedGroups(t *testing.T) {
	parent := t.TempDir()
	dead, claim, err := claimed.Make(parent, "toolhost-")
	if err != nil {
		t.Fatal(err)
	}
	if err := claim.Close(); err != nil {
		t.Fatal(err)
	}
	living, claim, err := claimed.Make(parent, "toolhost-")
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Close()
	for dir, want := range map[string]bool{dead: true, living: false, filepath.Join(parent, "gone"): false} {
		if got, err := claimed.RemoveUnclaimed(dir, os.Remove); err != nil || got != want {
			t.Errorf("RemoveUnclaimed(%s) = %v, %v; want %v", filepath.Base(dir), got, err, want)
		}
	}
	if _, err := os.Stat(living); err != nil {
		t.Error("the folder of a living toolhost was taken")
	}
}

func TestGroupsAreEmptiedBeforeRemoval(t *testing.T) {
	groups := open(t)
	if len(groups.Dirs()) == 0 {
		return // no group can be left
	}
	h, err := limits.Hold(limits.Config{Processes: 20}, groups, "fs-1")
	if err != nil {
		t.Fatal(err)
	}
	cmd := start(t, h)
	if n, err := limits.SweepGroups(); err != nil || n != 0 {
		t.Errorf("SweepGroups = %d, %v while its toolhost lives", n, err)
	}
	if err := limits.RemoveGroups(groups.Dirs()); err != nil {
		t.Fatal(err)
	}
	if proc.Alive(cmd.Process.Pid) {
		t.Error("the process is alive")
	}
	if err := limits.RemoveGroups(groups.Dirs()); err != nil {
		t.Errorf("removing what is gone: %v", err)
	}
}

// A kernel with version 1 of control groups kills only the process that needs too much memory. The
// rest of the instance is killed, too, as it is without control groups. The process keeps its
// memory, because the watchdog looks once in an interval.
func TestTheRestOfAnInstanceIsKilled(t *testing.T) {
	h, err := limits.Hold(limits.Config{MemoryBytes: 64 << 20}, open(t), "fs-1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	cmd := begin(t, h, "/bin/sh", "-c", "(head -c 300000000 /dev/zero; exec sleep 600) | tail -c 300000000 >/dev/null; exec sleep 600")
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	var reason string
	h.Watch(t.Context(), []int{cmd.Process.Pid}, func(r string) { reason = r })
	if want := fmt.Sprintf("it used more than its memory limit of 64 MiB (%s)", h.Effective()[0].Mechanism); reason != want {
		t.Errorf("reason %q, want %q", reason, want)
	}
}

func TestWatchdogSeesMemoryOfTheWholeTree(t *testing.T) {
	h, err := limits.Hold(limits.Config{MemoryBytes: 1 << 20}, nil, "fs-1")
	if err != nil {
		t.Fatal(err)
	}
	reasons := make(chan string, 2)
	h.Watch(t.Context(), []int{os.Getpid()}, func(reason string) { reasons <- reason })
	if got, want := <-reasons, "it used more than its memory limit of 1 MiB (watchdog)"; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
	if reason, killed := h.OutOfMemory(); !killed || reason == "" {
		t.Errorf("OutOfMemory = %q, %v", reason, killed)
	}
}

func TestWatchdogCountsProcesses(t *testing.T) {
	h, err := limits.Hold(limits.Config{Processes: 1}, nil, "fs-1")
	if err != nil {
		t.Fatal(err)
	}
	var reason string
	h.Watch(t.Context(), []int{os.Getpid()}, func(r string) { reason = r })
	if !strings.Contains(reason, "its limit is 1 (watchdog)") {
		t.Errorf("reason %q", reason)
	}
}
