package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// Command returns a target that starts a program for each message. The program reads the JSON of
// the message from its input, and has accepted the message if it ends with 0. environment is all
// that it gets of agentd's.
func Command(argv, environment []string) Target { return &command{argv, environment} }

type command struct{ argv, environment []string }

// Send implements Target. After sendTime it kills the process group of the program.
func (t *command) Send(ctx context.Context, c *Content) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	said := &firstBytes{}
	cmd := exec.CommandContext(ctx, t.argv[0], t.argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.environment, "/", bytes.NewReader(append(c.JSON(), '\n')), said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel, cmd.WaitDelay = kill, time.Second
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) { // the program has ended, and one that it started has its output
		_ = kill() // there may be none any more
		err = nil
	}
	switch {
	case ctx.Err() != nil && err != nil:
		return fmt.Errorf("the command was killed, because it did not end within %s", sendTime)
	case err != nil && said.Len() > 0:
		return fmt.Errorf("the command failed: %w: %s", err, clean(said.String(), maxArguments))
	case err != nil:
		return fmt.Errorf("the command failed: %w", err)
	}
	return nil
}

// firstBytes keeps the first bytes that are written, and drops the others.
type firstBytes struct{ bytes.Buffer }

// Write implements io.Writer.
func (b *firstBytes) Write(data []byte) (int, error) {
	_, _ = b.Buffer.Write(data[:min(len(data), max(0, 4<<10-b.Len()))]) // a Buffer does not fail
	return len(data), nil
}
