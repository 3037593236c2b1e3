package proc

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"
)

// MarkName is the environment variable that marks processes of a toolhost. Its value, the mark, is
// the toolhost's token, a slash and the name of the instance.
const MarkName = "TOOLHOST_INSTANCE"

// ErrUnknown says that this operating system does not provide the information.
var ErrUnknown = errors.New("not known on this operating system")

// ID identifies one process until the machine restarts.
type ID struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // as StartTime returns it; 0: unknown, and only the pid counts
}

// Identify returns the ID of the process that has the pid now. Start is 0 where it is unknown.
func Identify(pid int) ID {
	start, err := StartTime(pid)
	if err != nil {
		start = 0
	}
	return ID{PID: pid, Start: start}
}

// KillGroup sends SIGKILL to the process group that leader leads or led. It does nothing if the pid
// now belongs to another process; the kernel reuses a pid only when its group is empty. An empty
// group is no error.
func KillGroup(leader ID) error {
	if now, err := StartTime(leader.PID); err == nil && leader.Start != 0 && now != leader.Start {
		return nil
	}
	return SignalGroup(leader.PID, syscall.SIGKILL)
}

// SignalGroup sends a signal to a process group. An empty group is no error. It refuses the numbers
// that the kernel takes for the caller's own group or for all processes.
func SignalGroup(group int, signal syscall.Signal) error {
	if group <= 1 {
		return fmt.Errorf("sending %v to process group %d: no plugin leads that", signal, group)
	}
	if err := syscall.Kill(-group, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("sending %v to process group %d: %w", signal, group, err)
	}
	return nil
}

// KillMarked sends SIGKILL to every process of this user whose mark begins with prefix, and repeats
// that until none is left, because the killed processes may have started others. It returns the
// number of processes that it found, and an error if some are left after patience. Without an
// error, the processes have released their files and locks. KillMarked never kills the calling
// process.
func KillMarked(prefix string, patience time.Duration) (int, error) {
	const pause = 2 * time.Millisecond // about the time that the kernel needs to remove a process
	if prefix == "" {
		return 0, errors.New("killing marked processes: no mark is given")
	}
	seen := map[ID]bool{}
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		left := marked(prefix)
		for _, id := range left {
			seen[id] = true
			kill(id, prefix)
		}
		if len(left) == 0 {
			// The kernel removes a process's environment, and with it the mark, some steps before
			// its files and the process itself.
			left = slices.DeleteFunc(slices.Collect(maps.Keys(seen)), func(id ID) bool { return !runs(id) })
		}
		if len(left) == 0 {
			return len(seen), nil
		}
		if time.Now().After(deadline) {
			return len(seen), fmt.Errorf("%d processes marked %s=%s are still there, the first is %d", len(left), MarkName, prefix, left[0].PID)
		}
	}
}

// runs reports whether the pid still belongs to that process, and whether it is alive.
func runs(id ID) bool {
	now, err := StartTime(id.PID)
	return err == nil && (id.Start == 0 || now == id.Start) && Alive(id.PID)
}

// kill checks the mark while it holds a handle of the process, so that no other process can be hit.
// The process may end at any step.
func kill(id ID, prefix string) {
	handle, err := os.FindProcess(id.PID)
	if err != nil {
		return
	}
	defer func() { _ = handle.Release() }()
	if hasMark(id.PID, prefix) {
		_ = handle.Kill()
	}
}
