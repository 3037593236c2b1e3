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

// MarkName is the environment variable that marks what toolhost started. Its value is the toolhost's token, a slash
// and what names the instance.
const MarkName = "TOOLHOST_INSTANCE"

// ErrUnknown says that this operating system does not tell.
var ErrUnknown = errors.New("not known on this operating system")

// ID names one process for as long as the machine runs.
type ID struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // as StartTime gives it; 0: unknown, and only the pid counts
}

// Identify returns the ID of the process that has the pid now. Start is 0 where it cannot be had.
func Identify(pid int) ID {
	start, err := StartTime(pid)
	if err != nil {
		start = 0
	}
	return ID{PID: pid, Start: start}
}

// KillGroup sends SIGKILL to the process group that leader leads or led. It does nothing if the pid belongs to another
// process by now: a pid is not given away while its group has members, so that the group is empty then. A group
// without members is no error.
func KillGroup(leader ID) error {
	if now, err := StartTime(leader.PID); err == nil && leader.Start != 0 && now != leader.Start {
		return nil
	}
	return SignalGroup(leader.PID, syscall.SIGKILL)
}

// SignalGroup sends a signal to a process group. A group without members is no error. It refuses the numbers by which
// the kernel means the caller's own group and everybody.
func SignalGroup(group int, signal syscall.Signal) error {
	if group <= 1 {
		return fmt.Errorf("sending %v to process group %d: no plugin leads that", signal, group)
	}
	if err := syscall.Kill(-group, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("sending %v to process group %d: %w", signal, group, err)
	}
	return nil
}

// KillMarked sends SIGKILL to every process of this user whose mark begins with prefix, and again until none is
// left, since what is being killed may still start others. It returns how many it found, and an error if some were
// left when patience ran out: what it found has let go of its files and locks when it returns without one. It never
// kills the calling process.
func KillMarked(prefix string, patience time.Duration) (int, error) {
	const pause = 2 * time.Millisecond // about what the kernel needs to take a process apart
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
			// A process loses its environment, and with it its mark, some steps before its files and its life.
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

// runs reports whether the pid is still that process, and alive.
func runs(id ID) bool {
	now, err := StartTime(id.PID)
	return err == nil && (id.Start == 0 || now == id.Start) && Alive(id.PID)
}

// kill holds a handle of the process while it looks whether it is still the one, so that no other can be hit. The
// process may be gone at any step, which is what is wanted.
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
