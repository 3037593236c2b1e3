package load

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clockTick is the unit of times in /proc. Linux fixes it for programs: see USER_HZ in proc(5).
const clockTick = 10 * time.Millisecond

// Processes are the processes that take part in a contender's calls, except this one: the given
// processes and all their descendants. Linux only.
type Processes []int

// CPU returns the processor time that the processes, this process, and their ended children have
// used.
func (p Processes) CPU() (time.Duration, error) {
	total, err := own()
	if err != nil {
		return 0, err
	}
	family, err := p.family()
	if err != nil {
		return 0, err
	}
	for _, stat := range family {
		total += stat.cpu + stat.ended
	}
	return total, nil
}

// Apart returns the processor time that the given processes have used themselves, and that of their
// descendants, also of the ended ones. This process does not count.
func (p Processes) Apart() (own, descendants time.Duration, err error) {
	family, err := p.family()
	if err != nil {
		return 0, 0, err
	}
	for _, stat := range family {
		descendants += stat.ended
		if slices.Contains(p, stat.pid) {
			own += stat.cpu
		} else {
			descendants += stat.cpu
		}
	}
	return own, descendants, nil
}

// Memory returns the resident memory of each process, in bytes.
func (p Processes) Memory() (map[string]int64, error) {
	family, err := p.family()
	if err != nil {
		return nil, err
	}
	memory := map[string]int64{}
	for _, stat := range family {
		memory[stat.name] += stat.resident
	}
	return memory, nil
}

func own() (time.Duration, error) {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			return 0, fmt.Errorf("asking for this process's time: %w", err)
		}
		total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return total, nil
}

type stat struct {
	pid, parent int
	name        string
	cpu         time.Duration // of the process itself
	ended       time.Duration // of its children that have ended
	resident    int64
}

// family returns the processes and all their descendants.
func (p Processes) family() ([]stat, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	all := map[int]stat{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if s, err := read(pid); err == nil { // otherwise the process has ended
				all[pid] = s
			}
		}
	}
	var family []stat
	for _, s := range all {
		if p.above(all, s) {
			family = append(family, s)
		}
	}
	return family, nil
}

func (p Processes) above(all map[int]stat, s stat) bool {
	for range all {
		for _, root := range p {
			if s.pid == root {
				return true
			}
		}
		parent, ok := all[s.parent]
		if !ok {
			return false
		}
		s = parent
	}
	return false
}

func read(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	line := string(text)
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return stat{}, errors.New("no name")
	}
	fields := strings.Fields(line[end+1:])
	if len(fields) < 22 {
		return stat{}, errors.New("too few fields")
	}
	number := func(i int) int64 { // i counts as in proc(5), where field 3 follows the name
		n, _ := strconv.ParseInt(fields[i-3], 10, 64)
		return n
	}
	return stat{pid: pid, parent: int(number(4)), name: line[open+1 : end],
		cpu: time.Duration(number(14)+number(15)) * clockTick, ended: time.Duration(number(16)+number(17)) * clockTick,
		resident: number(24) * int64(os.Getpagesize())}, nil
}

// ForgetPeak lets Peak count from now on.
func (p Processes) ForgetPeak() error {
	for _, pid := range p {
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
			return err
		}
	}
	return nil
}

// Peak returns the largest peak of resident memory among the given processes, in bytes. It ignores
// their descendants.
func (p Processes) Peak() (most int64, err error) {
	for _, pid := range p {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return 0, err
		}
		for line := range strings.Lines(string(data)) {
			var kib int64
			if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
				most = max(most, kib<<10)
			}
		}
	}
	return most, nil
}
