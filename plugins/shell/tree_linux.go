package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptsOrphans says whether this system makes a process the parent of whatever below it loses its own, so that nothing
// that a command starts can leave its supervisor's descent.
const adoptsOrphans = true

func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming the parent of orphans: %w", err)
	}
	return nil
}

// self is this program, also where the sandbox hides its file or an upgrade has replaced it.
func self() (string, error) { return "/proc/self/exe", nil }

// relative is a process and when it started, by which another one that got its number later is told apart.
type relative struct {
	pid, parent int
	start       uint64
	ended       bool // and its parent has not asked how
}

// descendants returns the processes that descend from root, parents before their children.
func descendants(root int) []relative {
	children := map[int][]relative{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if r, ok := look(pid); ok {
			children[r.parent] = append(children[r.parent], r)
		}
	}
	var found []relative
	for next := []int{root}; len(next) > 0; next = next[1:] {
		for _, r := range children[next[0]] {
			found = append(found, r)
			next = append(next, r.pid)
		}
		delete(children, next[0]) // what is read while it changes may hold a circle
	}
	return found
}

// look returns what a process is now. It is false if there is none.
func look(pid int) (relative, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return relative{}, false
	}
	// The name, in parentheses, may hold anything.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const state, parent, start = 0, 1, 19
	if len(fields) <= start {
		return relative{}, false
	}
	r := relative{pid: pid, ended: fields[state][0] == 'Z' || fields[state][0] == 'X'}
	var errs [2]error
	r.parent, errs[0] = strconv.Atoi(string(fields[parent]))
	r.start, errs[1] = strconv.ParseUint(string(fields[start]), 10, 64)
	return r, errs[0] == nil && errs[1] == nil
}

// signal sends a signal to a process if it is still the one that was seen. It holds a handle while it looks again, so that
// no other can be hit.
func (r relative) signal(s syscall.Signal) {
	handle, err := os.FindProcess(r.pid)
	if err != nil {
		return
	}
	defer func() { _ = handle.Release() }()
	if now, ok := look(r.pid); ok && now.start == r.start {
		_ = handle.Signal(s) // it may have ended, which is what is wanted
	}
}

// signalAll sends a signal to all that the supervisor's command has started, and returns to how many.
func signalAll(_ int, s syscall.Signal) int { return signalEach(descendants(os.Getpid()), s) }

// signalEach sends a signal to those that have not ended, and returns to how many.
func signalEach(those []relative, s syscall.Signal) int {
	count := 0
	for _, r := range those {
		if !r.ended {
			r.signal(s)
			count++
		}
	}
	return count
}
