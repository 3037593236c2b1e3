package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// StartTime returns the time of a process's start, in a unit of the operating system.
func StartTime(pid int) (uint64, error) {
	s, err := readStat(pid)
	return s.start, err
}

// Alive reports whether the process runs or can run again. It reports false for a zombie.
func Alive(pid int) bool {
	s, err := readStat(pid)
	return err == nil && s.state != 'Z' && s.state != 'X'
}

// ResidentBytes returns a process's resident memory, in bytes, or ErrUnknown.
func ResidentBytes(pid int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of process %d: %w", pid, err)
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, fmt.Errorf("reading the memory of process %d: %q has no second field", pid, text)
	}
	pages, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the memory of process %d: %w", pid, err)
	}
	return pages * uint64(os.Getpagesize()), nil
}

// ticksPerSecond is the unit of times in /proc. The kernel uses this value on all architectures
// that Go supports.
const ticksPerSecond = 100

// ProcessorTime returns the processor time that a process and the children that it has waited for
// have used; 0 if it is unknown.
func ProcessorTime(pid int) time.Duration {
	s, err := readStat(pid)
	if err != nil {
		return 0
	}
	return time.Duration(s.ticks) * (time.Second / ticksPerSecond)
}

// Belongs reports whether pid is leader, is in leader's process group, or descends from leader.
func Belongs(pid, leader int) (bool, error) {
	const deepest = 64 // more generations than any plugin has; bounds a walk through a changing tree
	for range deepest {
		if pid == leader {
			return true, nil
		}
		s, err := readStat(pid)
		if err != nil {
			return false, err
		}
		if s.group == leader {
			return true, nil
		}
		if s.parent <= 1 {
			return false, nil
		}
		pid = s.parent
	}
	return false, nil
}

// SealDescriptors sets close-on-exec for every descriptor of this process above standard error. Go
// opens its own descriptors that way. SealDescriptors covers those that the process inherited from
// a shell or a service manager.
func SealDescriptors() {
	if unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	// Before Linux 5.11.
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

type stat struct {
	state         byte
	parent, group int
	start         uint64
	ticks         uint64 // of processor time, with the children that were waited for
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	s, err := parseStat(text)
	if err != nil {
		return stat{}, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	return s, nil
}

// parseStat parses /proc/PID/stat. The second field is a name in parentheses that may contain
// spaces and parentheses, so that the other fields are counted after the last parenthesis.
func parseStat(text []byte) (stat, error) {
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 || len(fields[0]) != 1 {
		return stat{}, fmt.Errorf("unexpected status %q", text)
	}
	s := stat{state: fields[0][0]}
	var err error
	if s.parent, err = strconv.Atoi(string(fields[1])); err != nil {
		return stat{}, fmt.Errorf("unexpected parent: %w", err)
	}
	if s.group, err = strconv.Atoi(string(fields[2])); err != nil {
		return stat{}, fmt.Errorf("unexpected group: %w", err)
	}
	if s.start, err = strconv.ParseUint(string(fields[19]), 10, 64); err != nil {
		return stat{}, fmt.Errorf("unexpected start time: %w", err)
	}
	for _, field := range fields[11:15] { // in user mode and in the kernel, its own and its children's
		ticks, err := strconv.ParseUint(string(field), 10, 64)
		if err != nil {
			return stat{}, fmt.Errorf("unexpected processor time: %w", err)
		}
		s.ticks += ticks
	}
	return s, nil
}

func marked(prefix string) []ID {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []ID
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() || !hasMark(pid, prefix) {
			continue
		}
		found = append(found, Identify(pid))
	}
	return found
}

// environOf returns the environment with which a process was started. While a process executes a
// program, its environment is empty for a moment; environOf waits for the end of that moment.
func environOf(pid int) ([]byte, error) {
	const tries, pause = 4, time.Millisecond
	for try := 1; ; try++ {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || len(environ) > 0 || try == tries || !mayExecute(pid) {
			return environ, err
		}
		time.Sleep(pause)
	}
}

// mayExecute reports whether a process may execute a program: it is neither one of the kernel's,
// nor ending.
func mayExecute(pid int) bool {
	const exiting, ofKernel = 0x4, 0x200000 // PF_EXITING and PF_KTHREAD of the kernel's include/linux/sched.h
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 7 || bytes.ContainsAny(fields[0], "ZX") {
		return false
	}
	flags, err := strconv.ParseUint(string(fields[6]), 10, 64)
	return err == nil && flags&(exiting|ofKernel) == 0
}

// hasMark reads the environment with which the process was started. That of a zombie is empty, and
// that of another user's process cannot be read.
func hasMark(pid int, prefix string) bool {
	environ, err := environOf(pid)
	if err != nil {
		return false
	}
	mark := []byte(MarkName + "=" + prefix)
	return bytes.HasPrefix(environ, mark) || bytes.Contains(environ, append([]byte{0}, mark...))
}
