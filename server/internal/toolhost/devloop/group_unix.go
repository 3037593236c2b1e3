//go:build unix

package devloop

import (
	"os/exec"
	"syscall"
	"time"
)

// endWithGroup runs the command in a new process group and kills the whole group when the command's
// context ends. If only make were killed, its compilers would continue.
func endWithGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // processes that left the group may keep the output open
}
