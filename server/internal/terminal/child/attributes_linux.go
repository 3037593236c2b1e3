package child

import "syscall"

// attributes returns the attributes of a child. Ctrl-C in the terminal does not reach it, because
// it must outlive the calls that the command then cancels. The kernel ends it when this process
// dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
