//go:build !linux

package agentd

import "syscall"

// processAttributes keeps a terminal's Ctrl-C from a toolhost of our own, which has to outlive the calls that the run
// then cancels.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
