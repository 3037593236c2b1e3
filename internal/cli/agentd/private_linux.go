package agentd

import "syscall"

// processAttributes returns attributes for a private toolhost. Ctrl-C in the terminal does not
// reach it, because it must outlive the calls that the run then cancels. The kernel ends it when
// this process dies.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
