package pidns

import (
	"os"
	"syscall"
)

func isMain() bool { return syscall.Gettid() == os.Getpid() }
