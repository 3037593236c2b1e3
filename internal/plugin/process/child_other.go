//go:build unix && !linux

package process

import "syscall"

// ownGroup gives a child its own process group. Only the reaper ends the child with toolhost here.
func ownGroup(int, bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitEnd reports that it cannot wait for a process without reaping it.
func awaitEnd(int) bool { return false }
