package limits

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// machine counts the reads of the files of a machine with groups of version 1.
type machine struct {
	mu    sync.Mutex
	kills map[string]uint64 // by folder
	reads map[string]int    // by file
	err   error             // of the count of the machine
}

func (m *machine) read(dir, file, name string) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads[file]++
	switch {
	case name != "oom_kill":
		return 0, errors.New("no such line")
	case file == "vmstat":
		return m.kills["machine"], m.err
	case file == "memory.oom_control" && strings.HasPrefix(dir, "memory/"):
		return m.kills[dir], nil
	}
	m.reads["files that do not exist"]++
	return 0, errors.New("no such file")
}

func (m *machine) took() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	took := m.reads
	m.reads = map[string]int{}
	return took
}

func (m *machine) kill(dirs ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, dir := range dirs {
		m.kills[dir]++
	}
}

// instances watches instances whose memory groups of version 1 bound, and returns the reasons for
// which they are killed.
func instances(t *testing.T, m *machine, names ...string) (reasons chan string) {
	t.Helper()
	m.kills, m.reads = map[string]uint64{}, map[string]int{}
	all := &killWatch{read: m.read}
	reasons = make(chan string, len(names))
	ctx, cancel := context.WithCancel(t.Context())
	var watches sync.WaitGroup
	for _, name := range names {
		h := &Holder{cfg: Config{MemoryBytes: 64 << 20}, kills: all, effective: []tool.EffectiveLimit{{Name: Memory, Mechanism: Cgroup1}}}
		for _, controller := range controllers {
			h.groups = append(h.groups, group{hierarchy{version: 1, controllers: []string{controller}}, controller + "/" + name})
		}
		watches.Go(func() { h.Watch(ctx, []int{1}, func(reason string) { reasons <- name + ": " + reason }) })
	}
	t.Cleanup(func() {
		cancel()
		watches.Wait()
		if all.stop != nil || len(all.followers) > 0 {
			t.Error("the reader is there after the last instance")
		}
	})
	synctest.Wait()
	return reasons
}

// However many instances there are, one file is read while no process is killed. Files that do not
// exist are never read.
func TestOneReaderForAllInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		names := make([]string, 100)
		for i := range names {
			names[i] = string(rune('A' + i))
		}
		reasons := instances(t, m, names...)
		time.Sleep(3 * watchInterval) // the first looks
		synctest.Wait()
		if took := m.took(); took["files that do not exist"] > 0 || took["memory.oom_control"] > 3*len(names) {
			t.Errorf("at the beginning, the files were read so often: %v", took)
		}
		time.Sleep(120 * watchInterval)
		synctest.Wait()
		if took := m.took(); len(took) != 1 || took["vmstat"] != 120 {
			t.Errorf("in 120 intervals, the files were read so often: %v", took)
		}
		m.kill("machine") // somewhere else
		time.Sleep(10 * watchInterval)
		synctest.Wait()
		if took := m.took(); took["vmstat"] != 10 || took["memory.oom_control"] != 2*len(names) || len(took) != 2 {
			t.Errorf("after a kill elsewhere, the files were read so often: %v", took)
		}
		if len(reasons) > 0 {
			t.Errorf("an instance was killed: %s", <-reasons)
		}
	})
}

// An instance of which the kernel has killed a process is killed, also if the kernel counts the
// kill for the group after the one for the machine, if the kill precedes the watch, and if the
// machine has no count.
func TestKillsAreSeen(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		kill func(m *machine)
	}{
		"at once": {nil, func(m *machine) { m.kill("machine", "memory/b") }},
		"the group is counted late": {nil, func(m *machine) {
			m.kill("machine")
			time.Sleep(watchInterval)
			synctest.Wait()
			m.kill("memory/b")
		}},
		"two kills, one after the other": {nil, func(m *machine) {
			m.kill("machine")
			time.Sleep(5 * watchInterval)
			synctest.Wait()
			m.kill("machine", "memory/b")
		}},
		"no count": {errors.New("no such file"), func(m *machine) { m.kill("memory/b") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &machine{err: test.err}
				reasons := instances(t, m, "a", "b", "c")
				time.Sleep(5 * watchInterval)
				synctest.Wait()
				test.kill(m)
				time.Sleep(2 * watchInterval)
				synctest.Wait()
				if len(reasons) != 1 {
					t.Fatalf("%d instances were killed", len(reasons))
				}
				if got, want := <-reasons, "b: it used more than its memory limit of 64 MiB (cgroup1)"; got != want {
					t.Errorf("%s, want %s", got, want)
				}
			})
		})
	}
	t.Run("before the watch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := &machine{kills: map[string]uint64{"memory/a": 1}, reads: map[string]int{}}
			h := &Holder{kills: &killWatch{read: m.read}, effective: []tool.EffectiveLimit{{Name: Memory, Mechanism: Cgroup1}},
				groups: []group{{hierarchy{version: 1, controllers: []string{"memory"}}, "memory/a"}}}
			killed := 0
			h.Watch(t.Context(), []int{1}, func(string) { killed++ })
			if killed != 1 {
				t.Errorf("killed %d times", killed)
			}
		})
	})
}

// The kernel has the count of the machine in the file that is read.
func TestTheMachineCountsKills(t *testing.T) {
	if _, err := (&killWatch{}).counter("/proc", "vmstat"); err != nil {
		t.Errorf("the kernel does not count: %v", err)
	}
}
