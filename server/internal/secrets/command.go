package secrets

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	// commandTimeout bounds a command. Clients of vaults answer in less, or hang.
	commandTimeout = 10 * time.Second
	// defaultRefresh is how long a printed value is used. It is shorter than the leases that vaults
	// give by default.
	defaultRefresh = 5 * time.Minute
	// failureRefresh is how long a failure is answered without running the command again, so that
	// many calls do not start many processes.
	failureRefresh = 2 * time.Second
)

// commandVariables are the variables of toolhost's environment that a command gets: how programs
// are found, where the client of a vault keeps its own credential, and how text and times are
// shown.
var commandVariables = []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"}

// commands runs the commands that print secrets, and keeps what they printed for a while. All
// methods are safe for concurrent use.
//
// A command is a program with arguments and no shell, so that no text of a call can become part of
// a command line. The calls that need the same value at the same time wait for one process.
type commands struct {
	now func() time.Time

	mu      sync.Mutex
	printed map[string]*printed // by secret and place
}

// printed is what a command printed last.
type printed struct {
	mu    sync.Mutex // held while the command runs
	text  string
	err   error
	until time.Time // when the command runs again
}

// output returns what the command of a place prints. key identifies the place.
func (c *commands) output(key string, place Place, getenv func(string) string) (string, error) {
	c.mu.Lock()
	p := c.printed[key]
	if p == nil {
		if c.printed == nil {
			c.printed = map[string]*printed{}
		}
		p = &printed{}
		c.printed[key] = p
	}
	c.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.now().Before(p.until) {
		return p.text, p.err
	}
	p.text, p.err = run(place.Command, getenv)
	lasts := cmp.Or(place.Refresh, defaultRefresh)
	if p.err != nil {
		lasts = failureRefresh
	}
	p.until = c.now().Add(lasts)
	return p.text, p.err
}

// run runs a command and returns its output. The error does not contain output, which may have
// parts of a secret.
func run(command []string, getenv func(string) string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), commandTimeout, errSlow)
	defer cancel()
	out := &boundedBuffer{most: largest + 3}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Dir, cmd.Env = out, "/", []string{}
	for _, name := range commandVariables {
		if value := getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with its children
	cmd.WaitDelay = time.Second                                                          // a child may hold the pipe
	err := cmd.Run()
	switch exit, failed := errors.AsType[*exec.ExitError](err); {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case out.full:
		return "", errors.New("it prints more than a secret may have")
	case failed:
		return "", errors.New(exit.ProcessState.String())
	case err != nil:
		return "", reasonOfStart(err)
	}
	return out.text.String(), nil
}

var errSlow = errors.New("it did not end within " + commandTimeout.String())

// reasonOfStart returns why a program did not start, without its path.
func reasonOfStart(err error) error {
	if inner, ok := errors.AsType[*exec.Error](err); ok {
		return inner.Err
	}
	return reason(err)
}

// boundedBuffer keeps the first bytes that are written to it. A write beyond the bound fails. It
// does not embed the buffer, whose ReadFrom has no bound.
type boundedBuffer struct {
	text bytes.Buffer
	most int
	full bool
}

// Write implements io.Writer.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > b.most {
		b.full = true
		return 0, errors.New("too much output")
	}
	return b.text.Write(p)
}
