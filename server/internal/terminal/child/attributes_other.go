//go:build !linux

package child

import "syscall"

// attributes returns the attributes of a child. Ctrl-C in the terminal does not reach it, because
// it must outlive the calls that the command then cancels.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
