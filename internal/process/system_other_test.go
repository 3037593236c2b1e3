//go:build unix && !linux

package process_test

import (
	"os/exec"
	"strconv"
	"strings"
)

// stopped reports whether SIGSTOP has stopped the process.
func stopped(pid int) bool {
	state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.HasPrefix(string(state), "T")
}
