package e2e_test

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
)

// TestDemo runs what `make demo` runs once all is built.
func TestDemo(t *testing.T) {
	home := newHome(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "../../scripts/demo.sh")
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home, "BIN=" + bin}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it stops its toolhost then
	cmd.WaitDelay = patience
	r := run(t, cmd)
	r.exits(t, 0)
	r.says(t, "a random number is in note.txt", "so the tools really ran")
}
