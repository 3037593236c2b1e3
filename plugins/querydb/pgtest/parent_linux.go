package pgtest

import "syscall"

// endWithParent lets the kernel stop the server, at once and with all its processes, when the thread that started it ends.
func endWithParent(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGQUIT }
