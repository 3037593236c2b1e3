package tool

import (
	"cmp"
	"fmt"
)

// Exit describes the end of a process.
type Exit struct {
	Code        int    `json:"code"`             // -1 if a signal ended it, NoProcess if there was none
	Signal      string `json:"signal,omitempty"` // such as SIGKILL
	OutOfMemory bool   `json:"out_of_memory,omitempty"`
	Reason      string `json:"reason,omitempty"`
	// LastStderr has the last lines of its standard error, the oldest first. The lines that say why
	// the process ended come before them; a line such as "[90 lines are left out]" replaces the
	// lines between.
	LastStderr []string `json:"last_stderr,omitempty"`
}

// NoProcess is the Code of an instance without a process, such as a session with a server at a URL.
const NoProcess = -2

// String returns a short description, such as "exit code 2" or "killed by SIGSEGV".
func (e Exit) String() string {
	if e.Code == NoProcess {
		return cmp.Or(e.Reason, "the session ended")
	}
	s := fmt.Sprintf("exit code %d", e.Code)
	if e.Signal != "" {
		s = "killed by " + e.Signal
	}
	if e.OutOfMemory {
		s += ", out of memory"
	}
	if e.Reason != "" {
		s += " (" + e.Reason + ")"
	}
	return s
}
