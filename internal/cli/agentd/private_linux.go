package agentd

import "syscall"

// processAttributes keeps a terminal's Ctrl-C from a toolhost of our own, which has to outlive the calls that the run
// then cancels, and ends it when this process dies without stopping it.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
