package postgrestest

import "syscall"

// endWithParent makes the kernel stop the server and all its processes when the thread that started
// it ends.
func endWithParent(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGQUIT }
