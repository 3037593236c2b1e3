package limits

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/tool"
)

func TestParseMounts(t *testing.T) {
	type want struct {
		version     int
		home        string
		controllers []string
	}
	tests := []struct {
		name, mounts, groups string
		want                 []want
	}{
		{
			name:   "version 2 alone, in a unit of systemd",
			mounts: "26 23 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
			groups: "0::/system.slice/toolhost.service\n",
			want:   []want{{2, "/sys/fs/cgroup/system.slice/toolhost.service", nil}},
		},
		{
			name: "version 1 beside version 2",
			mounts: "30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
				"31 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
				"32 25 0:28 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n" +
				"33 25 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n" +
				"34 25 0:30 / /proc rw - proc proc rw\n",
			groups: "5:memory:/a\n4:cpu,cpuacct:/\n1:name=systemd:/b\n0::/\n",
			want: []want{
				{1, "/sys/fs/cgroup/cpu,cpuacct", []string{"cpu", "cpuacct"}},
				{1, "/sys/fs/cgroup/memory/a", []string{"memory"}},
				{1, "/sys/fs/cgroup/systemd/b", []string{"name=systemd"}},
				{2, "/sys/fs/cgroup/unified", nil},
			},
		},
		{
			name:   "a container that sees its own part",
			mounts: "31 25 0:27 /docker/1f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			groups: "5:memory:/docker/1f/x\n",
			want:   []want{{1, "/sys/fs/cgroup/memory/x", []string{"memory"}}},
		},
		{
			name:   "a process outside of what is mounted",
			mounts: "31 25 0:27 /docker/1f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			groups: "5:memory:/docker/1fe\n0::/../other\n",
		},
		{
			name:   "a folder with a space",
			mounts: `26 23 0:22 / /my\040groups rw - cgroup2 cgroup2 rw` + "\n",
			groups: "0::/\n",
			want:   []want{{2, "/my groups", nil}},
		},
		{name: "garbage", mounts: "a b c\n - \n- cgroup\n", groups: "x\n:\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []want
			for _, m := range parseMounts(test.mounts, test.groups) {
				got = append(got, want(m))
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSweepEmptiesTheGroupsOfTheDead(t *testing.T) {
	groups := OpenCgroups()
	t.Cleanup(func() { _ = groups.Close() })
	h, err := Hold(Config{Processes: 100, MemoryBytes: 1 << 30}, groups, "fs-1")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for _, dir := range h.Groups() {
		if err := write(dir, "cgroup.procs", strconv.Itoa(cmd.Process.Pid)); err != nil {
			t.Fatal(err)
		}
	}
	for _, claim := range groups.claims { // as the kernel does for a killed process
		if err := claim.Close(); err != nil {
			t.Fatal(err)
		}
	}
	groups.claims = nil
	if n, err := SweepGroups(); err != nil || n < len(groups.Dirs()) {
		t.Errorf("SweepGroups = %d, %v; want at least %d", n, err, len(groups.Dirs()))
	}
	for _, dir := range groups.Dirs() {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is there", dir)
		}
	}
	if len(h.Groups()) > 0 {
		if err := cmd.Wait(); err == nil {
			t.Error("the process was not killed")
		}
	}
}

// Version 2 is simulated with plain files if this machine has it without controllers.
func TestLimitsOfVersion2(t *testing.T) {
	dir := t.TempDir()
	files := []string{"memory.max", "memory.swap.max", "memory.oom.group", "cpu.max", "pids.max"}
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := &Holder{cfg: Config{MemoryBytes: 64 << 20, CPUs: 1.5, Processes: 20}}
	g := group{hierarchy{version: 2, controllers: controllers[:]}, dir}
	for _, controller := range controllers {
		if err := h.setGroup(g, controller); err != nil {
			t.Error(err)
		}
	}
	var got []string
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, name+"="+string(text))
	}
	want := "memory.max=67108864 memory.swap.max=0 memory.oom.group=1 cpu.max=150000 100000 pids.max=20"
	if strings.Join(got, " ") != want {
		t.Errorf("written is %s, want %s", strings.Join(got, " "), want)
	}
	if err := os.WriteFile(filepath.Join(dir, "memory.events"), []byte("low 0\noom 2\noom_kill 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.groups = []group{g}
	if reason, killed := h.OutOfMemory(); !killed || reason != "it used more than its memory limit of 64 MiB (cgroup2)" {
		t.Errorf("OutOfMemory = %q, %v", reason, killed)
	}
	h.cfg.MemoryBytes = 0
	if reason, killed := h.OutOfMemory(); !killed || !strings.Contains(reason, "the machine") {
		t.Errorf("without a limit, OutOfMemory = %q, %v", reason, killed)
	}
}

// If a group cannot be entered, the watchdog enforces its limits as far as possible, and the
// process is started.
func TestBrokenGroupIsReported(t *testing.T) {
	for _, version := range []int{1, 2} {
		cfg := Config{MemoryBytes: 64 << 20, CPUs: 1}
		h := &Holder{cfg: cfg, effective: cfg.wanted(), groups: []group{{
			hierarchy{version: version, controllers: []string{"memory", "cpu"}}, filepath.Join(t.TempDir(), "gone"),
		}}}
		given := 0
		if stuck, err := h.Start(func(cgroup int) error { given = cgroup; return nil }); stuck || err != nil || given != -1 {
			t.Errorf("version %d: Start = %v, %v with descriptor %d", version, stuck, err, given)
		}
		if got := h.Effective(); got[0].Mechanism != Watchdog || got[1].Mechanism != None || got[1].Note == "" {
			t.Errorf("version %d: effective is %+v", version, got)
		}
		h.cfg.Enforcement = Required
		if _, err := h.Start(func(int) error { t.Error("it was started"); return nil }); err == nil {
			t.Errorf("version %d: a required limit was waived", version)
		}
	}
}

// If a group of version 1 bounds memory but no group bounds processes, the watchdog still counts
// processes.
func TestGroupForMemoryWatchdogForProcesses(t *testing.T) {
	h := &Holder{cfg: Config{MemoryBytes: 1 << 40, Processes: 1}, effective: []tool.EffectiveLimit{
		{Name: Memory, Mechanism: Cgroup1}, {Name: Processes, Mechanism: Watchdog},
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 10*watchInterval)
	defer cancel()
	var reason string
	h.Watch(ctx, []int{os.Getpid()}, func(r string) { reason = r })
	if !strings.Contains(reason, "its limit is 1 (watchdog)") {
		t.Errorf("reason %q", reason)
	}
}
