package tool

import "fmt"

// Exit describes the end of a process.
type Exit struct {
	Code        int    `json:"code"`             // -1 if a signal ended it
	Signal      string `json:"signal,omitempty"` // such as SIGKILL
	OutOfMemory bool   `json:"out_of_memory,omitempty"`
	Reason      string `json:"reason,omitempty"`
	// LastStderr has the last lines of its standard error, the oldest first. The lines that say why
	// the process ended come before them; a line such as "[90 lines are left out]" replaces the
	// lines between.
	LastStderr []string `json:"last_stderr,omitempty"`
}

// String returns a short description, such as "exit code 2" or "killed by SIGSEGV".
func (e Exit) String() string {
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
