package fault

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
)

// spawn starts a process that sleeps and keeps the pipes open, and returns its pid.
func spawn(how string, stdout, stderr *os.File) (int, error) {
	cmd := exec.Command("/bin/sleep", "3600")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	switch how {
	case "group":
	case "session":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case "bare":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Env = []string{}
	default:
		return 0, fmt.Errorf("spawning: %q is not group, session or bare", how)
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pid := cmd.Process.Pid // Release clears it
	return pid, cmd.Process.Release()
}

// launch starts this program again, in another group and with the same pipes, and returns an exit
// code.
func launch(self []string, args ...string) int {
	cmd := exec.Command(self[0], slices.Concat(self[1:], args)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = cmd.Process.Release()
	return 0
}

// floodWith writes about n bytes of short lines.
func floodWith(w io.Writer, n int) {
	const line = "the quick brown fox jumps over the lazy dog and writes it down, again and again\n"
	block := make([]byte, 0, 64<<10)
	for len(block)+len(line) <= cap(block) {
		block = append(block, line...)
	}
	for n > 0 {
		if _, err := w.Write(block); err != nil {
			return
		}
		n -= len(block)
	}
}
