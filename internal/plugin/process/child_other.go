//go:build unix && !linux

package process

import "syscall"

// ownGroup puts a child into a group of its own. That it dies with toolhost is the reaper's work alone here.
func ownGroup(int, bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitEnd reports that it cannot wait for a process without reaping it.
func awaitEnd(int) bool { return false }
