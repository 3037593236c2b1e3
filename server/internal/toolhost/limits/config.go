package limits

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/toolhost/toolhost/tool"
)

// Names of limits, as in tool.EffectiveLimit.
const (
	Memory    = "memory"
	CPU       = "cpu"
	Processes = "processes"
	OpenFiles = "open_files"
	FileSize  = "file_size"
)

// Mechanisms of limits, as in tool.EffectiveLimit.
const (
	Cgroup2  = "cgroup2"
	Cgroup1  = "cgroup1"
	Rlimit   = "rlimit"
	Watchdog = "watchdog"
	None     = "none"
)

// Enforcement says what happens if this machine cannot enforce a limit.
type Enforcement int

// The kinds of enforcement.
const (
	BestEffort Enforcement = iota // the process runs, and the limit is shown as not enforced
	Required                      // the process is not started
)

// Config bounds what one process and its descendants may use together, unless a field says
// otherwise. Zero means no limit.
type Config struct {
	MemoryBytes uint64  // of RAM; a process that wants more is killed with all that it started
	CPUs        float64 // processors, such as 0.5, at least 0.01; a process that wants more is slowed down
	Processes   int     // simultaneous processes and threads; starting one more fails. A Go program alone has about ten
	OpenFiles   int     // descriptors of each process; opening one more fails
	FileBytes   uint64  // size of each written file; writing more fails, or ends the process by SIGXFSZ
	Enforcement Enforcement
}

// smallest is less than any program needs: a lower value shows a mistaken unit.
const (
	smallestMemory = 1 << 20
	smallestCPUs   = 0.01
	smallestFiles  = 16
)

// Check returns the fault of the config, if there is one.
func (c Config) Check() error {
	switch {
	case c.MemoryBytes != 0 && c.MemoryBytes < smallestMemory:
		return fmt.Errorf("the memory limit is %d bytes, the least is %d", c.MemoryBytes, smallestMemory)
	case c.CPUs != 0 && !(c.CPUs >= smallestCPUs && c.CPUs <= 1<<20):
		return fmt.Errorf("the CPU limit is %v cores, the least is %v", c.CPUs, smallestCPUs)
	case c.Processes < 0:
		return fmt.Errorf("the limit of processes is %d", c.Processes)
	case c.OpenFiles != 0 && c.OpenFiles < smallestFiles:
		return fmt.Errorf("the limit of open files is %d, the least is %d", c.OpenFiles, smallestFiles)
	case c.Enforcement != BestEffort && c.Enforcement != Required:
		return errors.New("the enforcement of limits is neither best effort nor required")
	}
	return nil
}

// wanted lists the limits that are set, without mechanisms.
func (c Config) wanted() []tool.EffectiveLimit {
	var all []tool.EffectiveLimit
	add := func(set bool, name, value string) {
		if set {
			all = append(all, tool.EffectiveLimit{Name: name, Value: value, Mechanism: None})
		}
	}
	add(c.MemoryBytes != 0, Memory, strconv.FormatUint(c.MemoryBytes, 10))
	add(c.CPUs != 0, CPU, strconv.FormatFloat(c.CPUs, 'g', -1, 64))
	add(c.Processes != 0, Processes, strconv.Itoa(c.Processes))
	add(c.OpenFiles != 0, OpenFiles, strconv.Itoa(c.OpenFiles))
	add(c.FileBytes != 0, FileSize, strconv.FormatUint(c.FileBytes, 10))
	return all
}

// RefusedError says that a required limit cannot be enforced on this machine.
type RefusedError struct{ Limit tool.EffectiveLimit }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the limit %s=%s is required and cannot be held here: %s", e.Limit.Name, e.Limit.Value, e.Limit.Note)
}

// mebibytes formats a size for people.
func mebibytes(n uint64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
