//go:build !linux

package commands

import (
	"os"
	"syscall"
)

// adoptsOrphans is false here: a process that leaves the command's process group cannot be found.
const adoptsOrphans = false

func adoptOrphans() error { return nil }

func self() (string, error) { return os.Executable() }

type relative struct {
	pid, parent int
	ended       bool
}

func descendants(int) []relative { return nil }

func (relative) signal(syscall.Signal) {}

// signalAll sends a signal to the process group of the command, and returns 1 if the group exists.
func signalAll(leader int, s syscall.Signal) int {
	if leader <= 1 || syscall.Kill(-leader, s) != nil {
		return 0
	}
	return 1
}

func signalEach([]relative, syscall.Signal) int { return 0 }
