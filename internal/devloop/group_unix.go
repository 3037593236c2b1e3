//go:build unix

package devloop

import (
	"os/exec"
	"syscall"
	"time"
)

// endWithGroup lets a command end together with all that it starts: a make that is killed leaves its compilers.
func endWithGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // for what left the group and keeps the output open
}
