//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox/entry"
)

// Descriptors that calls open, each the lowest free number.
const (
	firstFD  = entry.StatusFD + 1
	secondFD = firstFD + 1
)

// currentFolder is AT_FDCWD as an argument.
const currentFolder = 1<<64 - 100

// callList is the list of system calls by which a process enters its sandbox. Each layer adds its
// calls to the end of the list. The step at an index describes the call at the same index of the
// program. So all code must add calls by the method call: a call that is added to the program alone
// would shift the descriptions of all later calls.
type callList struct {
	program entry.Program // its Text, Bytes and Words store the data of calls
	steps   []step
}

// step describes what a system call is for.
type step struct {
	layer, what string
	optional    bool // a kernel, or a filter of its calls, may refuse it; all others must succeed
	changing    bool // it fails if a file or folder vanished or became a link since the plan was made
}

// call adds a system call to the list.
func (c *callList) call(s step, number uintptr, arguments ...uint64) {
	c.program.Call(number, arguments...)
	c.steps = append(c.steps, s)
}

// openAt adds the call that opens a path as the lowest free descriptor. The call fails if a link is
// on the way.
func (c *callList) openAt(at step, path string) {
	const size = 24 // struct open_how: flags, mode, resolve
	how := c.program.Words(unix.O_PATH|unix.O_CLOEXEC, 0, unix.RESOLVE_NO_SYMLINKS)
	c.call(at, unix.SYS_OPENAT2, currentFolder, c.program.Text(path), how, size)
}

// systemOwned reports whether only the system's owner can put a link on the way to a path.
func systemOwned(path string) bool {
	return inSystem(path) || within(path, "/etc") || within(path, "/dev") || path == "/proc"
}

// explain returns what the failure of a call means. After the last call of the list, the process
// executes its program: a higher index says that this failed.
func (c *callList) explain(failed *entry.CallError, program string) error {
	if failed.Index >= len(c.steps) {
		return &os.PathError{Op: "fork/exec", Path: program, Err: failed.Err}
	}
	at := c.steps[failed.Index]
	err := fmt.Errorf("%s: %w", at.what, failed.Err)
	if at.optional && refusal(failed.Err) {
		return &LayerError{Layer: at.layer, Err: err}
	}
	if at.changing && (errors.Is(failed.Err, unix.ENOENT) || errors.Is(failed.Err, unix.ELOOP) || errors.Is(failed.Err, unix.ENOTDIR)) {
		return &ChangedError{Err: err}
	}
	return fmt.Errorf("preparing its sandbox: %w", err)
}

// refusal reports whether an error means that the kernel, or a filter of its calls, does not
// support the call. Other errors concern a file.
func refusal(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{
		unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EINVAL, unix.EOPNOTSUPP, unix.ENOSPC, unix.EUSERS, unix.ENODEV,
	}, func(known syscall.Errno) bool { return errors.Is(err, known) })
}

// ChangedError says that a file or folder changed while the process entered its sandbox. A new Plan
// may succeed.
type ChangedError struct{ Err error }

func (e *ChangedError) Error() string { return fmt.Sprintf("preparing its sandbox: %v", e.Err) }
func (e *ChangedError) Unwrap() error { return e.Err }
