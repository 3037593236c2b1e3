//go:build !linux

package agentd

import "syscall"

// processAttributes returns attributes for a private toolhost. Ctrl-C in the terminal does not
// reach it, because it must outlive the calls that the run then cancels.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
