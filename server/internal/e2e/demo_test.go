package e2e_test

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
)

// TestDemo runs the script of `make demo` with built programs.
func TestDemo(t *testing.T) {
	home := newHome(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "../../../scripts/demo.sh")
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home, "BIN=" + bin}
	// the script then stops its toolhost
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	r := run(t, cmd)
	r.exits(t, 0)
	r.says(t, "a random number is in note.txt", "so the tools really ran")
}
