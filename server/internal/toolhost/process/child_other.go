//go:build unix && !linux

package process

import "syscall"

// ownGroup gives a child its own process group. Only the reaper ends the child with toolhost here.
func ownGroup(int, bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitEnd reports that it cannot wait for a process without reaping it.
func awaitEnd(int) bool { return false }

// alive reports whether the process is not known to have ended.
func (c *child) alive() bool { return !c.hasExited() }

// lookForSurvivors returns nothing: the system does not list processes.
func (c *child) lookForSurvivors(string) []string { return nil }
