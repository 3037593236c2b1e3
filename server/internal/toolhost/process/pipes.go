package process

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/toolhost/toolhost/tool"
)

// PipesFunc opens a session with a process that has just started. The launch succeeds when it
// returns a session. It must return soon after ctx ends or Out ends. ctx is that of the launch: the
// session does not depend on it.
type PipesFunc func(ctx context.Context, pipes Pipes) (Session, error)

// UnusableError says that a process lives and answers, and why a session with it cannot begin. A
// PipesFunc returns it, so that the end of the process, which follows from it, is not taken for the
// reason.
type UnusableError struct{ Err error }

func (e *UnusableError) Error() string { return e.Err.Error() }
func (e *UnusableError) Unwrap() error { return e.Err }

// Pipes are the ends of a process's standard input and output. The session owns In and Out.
type Pipes struct {
	// In is the process's standard input. A write blocks while the process does not read.
	In io.WriteCloser
	// Out is the process's standard output. The session should read it to its end, so that the
	// process does not block when it prints. Out ends soon after the process has ended.
	Out io.ReadCloser
	// Stray logs what the process prints on standard output and what is no part of the session, and
	// Log what the session has to say. Both split text into lines, bound and redact them, and never
	// block. They are safe for concurrent use.
	Stray, Log io.Writer
}

// Session is the communication with a process. All methods are safe for concurrent use.
type Session interface {
	// Done is closed when the session is lost or closed. The process is stopped then.
	Done() <-chan struct{}
	// Close closes the process's standard input, which asks it to end. It does not wait for the
	// process, and may be called more than once.
	Close() error
}

// connectPipes starts the process and opens a session over its pipes.
func (p *Process) connectPipes(ctx context.Context) (Session, error) {
	dir, err := os.MkdirTemp(p.folder, "plugin-dir")
	if err != nil {
		return nil, fmt.Errorf("making a folder for it: %w", err)
	}
	if err := p.start(ctx, nil, dir); err != nil {
		return nil, err
	}
	p.cfg.Report(tool.InstanceWarming)
	return p.cfg.Pipes(ctx, Pipes{
		In: p.streams.stdin, Out: p.streams.stdout, Stray: p.streams.servedStdout, Log: p.streams.servedStderr,
	})
}
