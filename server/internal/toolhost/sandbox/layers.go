package sandbox

import (
	"fmt"
	"syscall"

	"github.com/toolhost/toolhost/tool"
)

// The layers of a sandbox, in the order in which they are shown.
const (
	Files      = "files"      // a separate file system, by a mount namespace
	Landlock   = "landlock"   // the same paths again, by the kernel's security module
	Network    = "network"    // no network, unless it was granted
	PID        = "pid"        // other processes are invisible and cannot be signalled
	IPC        = "ipc"        // no shared memory, semaphores and queues of other processes
	Privileges = "privileges" // no privileges, and no way to gain any
	Syscalls   = "syscalls"   // no system calls that attackers need and plugins do not
)

// namespaces is the key of user namespaces in Situation.Without. Without them, the process can have
// none of the other namespaces.
const namespaces = "namespaces"

// LayerError says that a layer cannot be set up. A Plan without it may succeed.
type LayerError struct {
	Layer string
	Err   error
}

func (e *LayerError) Error() string {
	return fmt.Sprintf("putting up the layer %q: %v", e.Layer, e.Err)
}
func (e *LayerError) Unwrap() error { return e.Err }

// EndedError says that a signal ended a process while it put up its sandbox.
type EndedError struct {
	Signal syscall.Signal
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("a signal ended it while it put up its sandbox: %v", e.Signal)
}

// RefusedError says that a process was not started because a required layer cannot be set up.
type RefusedError struct {
	Layer tool.SandboxLayer
	Had   bool // another process of this toolhost has the layer
}

func (e *RefusedError) Error() string {
	if e.Had {
		return fmt.Sprintf("this machine does not give its sandbox the layer %q now, which other plugins have: %s; "+
			"with mode: on it would start without", e.Layer.Name, e.Layer.Note)
	}
	return fmt.Sprintf("its sandbox is required and this machine does not give the layer %q: %s; "+
		"with mode: on it would start with the others", e.Layer.Name, e.Layer.Note)
}
