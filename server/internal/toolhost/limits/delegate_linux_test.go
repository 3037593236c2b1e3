package limits

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/tool"
)

// fakeGroup makes a folder that looks like a group of version 2: files by name and content. New
// folders in it stay empty, and writes have no effect.
func fakeGroup(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// fakeControl makes a file of a group that records all writes to it, in order.
func fakeControl(t *testing.T, path string) (written func() string) {
	t.Helper()
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // so that no writer waits for a reader
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	return func() string {
		if _, err := pipe.WriteString("."); err != nil { // so that there is something to read, and an end
			t.Fatal(err)
		}
		text := make([]byte, 4096)
		n, err := pipe.Read(text)
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
		return strings.TrimSuffix(string(text[:n]), ".")
	}
}

func TestDelegation(t *testing.T) {
	pid := strconv.Itoa(os.Getpid())
	tests := []struct {
		name        string
		home        string // below the folder that is to be delegated
		controllers string
		procs       string
		refused     bool // the kernel enables no controllers for groups below, because it has processes
		want        []string
		asideIn     string // what is written to the supervisor's cgroup.procs
	}{
		{name: "all that is needed, and nothing else", controllers: "cpuset cpu io memory hugetlb pids rdma\n", procs: pid + "\n",
			want: []string{"cpu", "memory", "pids"}},
		{name: "some", controllers: "memory pids\n", procs: pid + "\n", want: []string{"memory", "pids"}},
		{name: "none", controllers: "\n", procs: pid + "\n"},
		{name: "in the group that systemd made for it", home: supervisor, controllers: "cpu memory pids\n", want: []string{"cpu", "memory", "pids"}},
		{name: "alone in a group that gives nothing", controllers: "memory\n", procs: pid + "\n", refused: true, asideIn: pid},
		{name: "not alone in a group that gives nothing", controllers: "memory\n", procs: pid + "\n1\n", refused: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			fakeGroup(t, dir, map[string]string{"cgroup.controllers": test.controllers, "cgroup.procs": test.procs})
			aside := filepath.Join(dir, supervisor)
			fakeGroup(t, aside, map[string]string{"cgroup.procs": ""})
			written := func() string { return "" }
			if !test.refused {
				written = fakeControl(t, filepath.Join(dir, "cgroup.subtree_control"))
			}
			missing := map[string]string{}
			home, got := delegate(filepath.Join(dir, test.home), missing)
			if diff := cmp.Diff(test.want, got); home != dir || diff != "" {
				t.Errorf("delegated is %s, want %s; controllers (-want +got):\n%s", home, dir, diff)
			}
			asked := ""
			for _, name := range test.want {
				asked += "+" + name
			}
			if got := written(); got != asked {
				t.Errorf("asked for is %q, want %q", got, asked)
			}
			if text, err := os.ReadFile(filepath.Join(aside, "cgroup.procs")); err != nil || string(text) != test.asideIn {
				t.Errorf("written to the supervisor's group is %q, %v; want %q", text, err, test.asideIn)
			}
			if refused := strings.Contains(missing["memory"], "Delegate=yes"); refused != test.refused {
				t.Errorf("of memory it says %q", missing["memory"])
			}
		})
	}
}

// The tree of control groups can be written, but the kernel enables no controllers below. Then the
// groups still find and kill all processes, the watchdog enforces limits, and notes say why.
func TestGroupsThatGetNoController(t *testing.T) {
	for _, controllers := range []string{"cpu memory pids\n", ""} {
		home := t.TempDir()
		fakeGroup(t, home, map[string]string{"cgroup.controllers": controllers, "cgroup.procs": "1\n"})
		c := &Cgroups{missing: map[string]string{}}
		c.open([]mount{{version: 2, home: home}})
		if !c.FindsAll() || len(c.Dirs()) != 1 || filepath.Dir(c.Dirs()[0]) != home {
			t.Errorf("groups %v, finds all: %v", c.Dirs(), c.FindsAll())
		}
		h, err := Hold(Config{MemoryBytes: 64 << 20, CPUs: 1, Processes: 20}, c, "fs-1")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range h.Effective() {
			got = append(got, l.Name+" "+l.Mechanism)
			if l.Note == "" {
				t.Errorf("nothing is said of %s", l.Name)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"cpu none", "memory watchdog", "processes watchdog"}, got); diff != "" {
			t.Error(diff)
		}
		if len(h.Groups()) != 1 {
			t.Errorf("groups of the instance: %v", h.Groups())
		}
		if _, err := Hold(Config{CPUs: 1, Enforcement: Required}, c, "fs-2"); err == nil {
			t.Error("a required limit was waived")
		}
		for range 2 {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		if left, err := filepath.Glob(filepath.Join(home, ownPrefix+"*")); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
	}
}

// A tree of control groups that cannot be written is not used, and each controller says so.
func TestTreeThatCannotBeWritten(t *testing.T) {
	home := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(home, nil, 0o600); err != nil { // root cannot make a folder in it either
		t.Fatal(err)
	}
	c := &Cgroups{missing: map[string]string{}}
	c.open([]mount{{version: 2, home: home}})
	for _, name := range controllers {
		if why := c.why(name); !strings.Contains(why, "cannot be written") {
			t.Errorf("of %s it says %q", name, why)
		}
	}
	if c.FindsAll() || len(c.Dirs()) > 0 {
		t.Errorf("groups %v, finds all: %v", c.Dirs(), c.FindsAll())
	}
}

// If the kernel cannot start a process in a group, the process is started without one, unless a
// limit is required.
func TestKernelThatCannotStartInAGroup(t *testing.T) {
	holder := func() *Holder {
		cfg := Config{MemoryBytes: 64 << 20}
		return &Holder{cfg: cfg, effective: []tool.EffectiveLimit{{Name: Memory, Mechanism: Cgroup2}}, groups: []group{{
			hierarchy{version: 2, controllers: []string{"memory"}}, t.TempDir(),
		}}}
	}
	for _, cannot := range []error{unix.ENOSYS, unix.EOPNOTSUPP, unix.EINVAL} {
		h, started := holder(), []bool{}
		stuck, err := h.Start(func(cgroup int) error {
			started = append(started, cgroup >= 0)
			if cgroup >= 0 {
				return cannot
			}
			return nil
		})
		if stuck || err != nil || !slices.Equal(started, []bool{true, false}) {
			t.Errorf("%v: Start = %v, %v; in a group or not: %v", cannot, stuck, err, started)
		}
		if l := h.Effective()[0]; l.Mechanism != Watchdog || !strings.Contains(l.Note, cannot.Error()) {
			t.Errorf("%v: effective is %+v", cannot, l)
		}
	}
	h := holder()
	if _, err := h.Start(func(int) error { return unix.ENOENT }); err != unix.ENOENT || h.Effective()[0].Mechanism != Cgroup2 {
		t.Errorf("a program that is not there: %v, effective is %+v", err, h.Effective())
	}
}

// killGroup kills a control group with one write if the kernel supports that. Otherwise it kills
// the processes one by one, but never the calling process.
func TestGroupIsKilledAtOnce(t *testing.T) {
	dir := t.TempDir()
	fakeGroup(t, dir, map[string]string{"cgroup.kill": "", "cgroup.procs": "0\n" + strconv.Itoa(os.Getpid()) + "\n"})
	if err := killGroup(dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "cgroup.kill")); err != nil || string(text) != "1" {
		t.Errorf("written to cgroup.kill is %q, %v", text, err)
	}
	if err := os.Remove(filepath.Join(dir, "cgroup.kill")); err != nil {
		t.Fatal(err)
	}
	if err := killGroup(dir); err != nil { // this test survives
		t.Error(err)
	}
}
