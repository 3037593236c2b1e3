package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/toolhost/toolhost/tool"
)

// Bare is a process that was started as Launch starts one, behind the same layers and limits, and is left to its caller
// then: nothing is sent to it, what it says is not judged, and it lives until it exits or is killed. It is for whoever
// examines a plugin instead of using it. Its methods may be called from any goroutine.
type Bare struct {
	p    *Process
	dir  string
	kill context.CancelFunc
}

// errBare is what a bare process has instead of a connection.
var errBare = errors.New("it is not spoken to")

// StartBare starts a process. environ returns what is added to its environment, the folder for its socket being dir: what
// go-plugin would say, or anything else. ctx ends the process, too. When it fails, nothing is left; the error says why the
// program could not be started.
func StartBare(ctx context.Context, cfg Config, environ func(dir string) []string) (*Bare, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, fmt.Errorf("starting plugin %q: %w", cfg.Plugin, err)
	}
	p, err := prepare(cfg)
	if err != nil {
		return nil, fmt.Errorf("starting plugin %q: %w", cfg.Plugin, err)
	}
	life, kill := context.WithCancel(ctx)
	b := &Bare{p: p, kill: kill}
	p.client, p.err = goplugin.NewClient(p.clientConfig(life)), errBare
	p.survey = true
	go p.own(life.Done()) // ends with the process
	b.dir, err = os.MkdirTemp(p.folder, "plugin-dir")
	if err == nil {
		err = p.start(life, environ(b.dir), b.dir)
	}
	if err != nil {
		kill()
		if p.child != nil {
			<-p.child.exited
		}
		close(p.launched)
		<-p.done
		return nil, fmt.Errorf("starting plugin %q: %w", cfg.Plugin, err)
	}
	go func() { // ends with the process, which waits for it
		<-p.child.exited
		close(p.launched)
		kill()
	}()
	return b, nil
}

// Dir returns the folder for the process's socket, an absolute path.
func (b *Bare) Dir() string { return b.dir }

// PID returns the process id. After Done it may be another's.
func (b *Bare) PID() int { return b.p.PID() }

// FirstLine returns what the process printed first on standard output, without the line's end, and whether there was one.
// It blocks until there is a line, or standard output has ended, which is io.EOF if nothing was printed, or ctx ends, which is
// its cause. A line is returned once.
func (b *Bare) FirstLine(ctx context.Context) (line string, whole bool, err error) {
	select {
	case first, ok := <-b.p.firstLine:
		if !ok {
			return "", false, io.EOF
		}
		return first.text, first.whole, nil
	case <-ctx.Done():
		return "", false, context.Cause(ctx)
	}
}

// Dial connects to the process's socket, once, and removes the socket's name. It fails if no process of the plugin's
// listens there.
func (b *Bare) Dial(ctx context.Context, socket string) (net.Conn, error) {
	return b.p.link.dial(ctx, b.p.folder, socket, b.PID())
}

// Problem returns what is wrong with the connection, as far as it is known better here than by gRPC: that whoever took it
// is no gRPC server without TLS. Nil: nothing.
func (b *Bare) Problem() error { return b.p.link.problem() }

// Kill ends the process and all that it started at once. It does not block; Done says when it is gone.
func (b *Bare) Kill() {
	b.p.because("toolhost killed it")
	b.kill()
}

// Exited is closed when the process has exited, with what it said then still to come.
func (b *Bare) Exited() <-chan struct{} { return b.p.child.exited }

// Done is closed when the process is gone and all that it had is released.
func (b *Bare) Done() <-chan struct{} { return b.p.done }

// Exit returns how the process ended. It is complete once Done is closed.
func (b *Bare) Exit() tool.Exit { return b.p.Exit() }

// Sandbox returns what the process may touch.
func (b *Bare) Sandbox() tool.Sandbox { return b.p.Sandbox() }

// Survivors returns the names of the processes that this one had started and that were still there when it had ended, for
// which they got a moment. It is complete once Exited is closed.
func (b *Bare) Survivors() []string {
	select {
	case <-b.p.child.exited:
		return b.p.child.survivors
	default:
		return nil
	}
}
