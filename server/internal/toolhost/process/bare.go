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

// Bare is a process that was started like those of Launch, with the same sandbox and limits. The
// caller communicates with it: package process sends nothing to it and does not interpret its
// output. It lives until it exits or Kill is called. Bare serves to examine a plugin instead of
// calling it. All methods are safe for concurrent use.
type Bare struct {
	p    *Process
	dir  string
	kill context.CancelFunc
}

// errBare is the error of Bare's missing connection.
var errBare = errors.New("it is not spoken to")

// StartBare starts a process. environ returns entries for its environment, given the folder for its
// socket: those that go-plugin would set, or any others. The end of ctx kills the process. If
// StartBare fails, nothing of the process is left, and the error says why the program could not be
// started.
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
	p.client = goplugin.NewClient(p.clientConfig(life))
	p.survey = true
	go p.own(life.Done()) // ends with the process
	b.dir, err = os.MkdirTemp(p.folder, "plugin-dir")
	if err == nil {
		err = p.start(life, environ(b.dir), b.dir)
	}
	if err != nil {
		kill()
		if child := p.child(); child != nil {
			<-child.exited
		}
		p.launched.set(launched{err: errBare})
		<-p.done
		return nil, fmt.Errorf("starting plugin %q: %w", cfg.Plugin, err)
	}
	go func() { // ends with the process, which waits for it
		<-p.child().exited
		p.launched.set(launched{err: errBare})
		kill()
	}()
	return b, nil
}

// Dir returns the absolute path of the folder for the process's socket.
func (b *Bare) Dir() string { return b.dir }

// PID returns the process id. After Done is closed, it may belong to another process.
func (b *Bare) PID() int { return b.p.PID() }

// FirstLine returns the first line that the process printed on standard output, without its line
// end, and whether it had one. It blocks until a line is complete, standard output ends, or ctx
// ends. If nothing was printed, the error is io.EOF. If ctx ended, it is ctx's cause. FirstLine
// returns the line once.
func (b *Bare) FirstLine(ctx context.Context) (line string, whole bool, err error) {
	select {
	case first, ok := <-b.p.streams.first:
		if !ok {
			return "", false, io.EOF
		}
		return first.text, first.whole, nil
	case <-ctx.Done():
		return "", false, context.Cause(ctx)
	}
}

// Dial connects to the process's socket, once, and removes the socket's name. It fails if the
// listener is not a process of the plugin.
func (b *Bare) Dial(ctx context.Context, socket string) (net.Conn, error) {
	return b.p.link.dial(ctx, b.p.folder, socket, b.PID())
}

// Problem returns what is wrong with the connection, if this package knows more than gRPC: for
// example that the peer is not a gRPC server without TLS. Nil means that nothing is known.
func (b *Bare) Problem() error { return b.p.link.problem() }

// Kill kills the process and all that it started. It does not block. Done is closed after they are
// gone.
func (b *Bare) Kill() {
	b.p.because(b.p.child(), "toolhost killed it")
	b.kill()
}

// Exited is closed when the process has exited. Its last output may still arrive.
func (b *Bare) Exited() <-chan struct{} { return b.p.child().exited }

// Done is closed when the process is gone and its resources are released.
func (b *Bare) Done() <-chan struct{} { return b.p.done }

// Exit returns how the process ended. The value is complete after Done is closed.
func (b *Bare) Exit() tool.Exit { return b.p.Exit() }

// Sandbox returns what the process may access, and by which layers it is confined.
func (b *Bare) Sandbox() tool.Sandbox { return b.p.Sandbox() }

// Limits returns each limit of the process with the mechanism that enforces it.
func (b *Bare) Limits() []tool.EffectiveLimit { return b.p.Limits() }

// Survivors returns the names of the processes that this one started and that still ran a moment
// after its end. The value is complete after Exited is closed.
func (b *Bare) Survivors() []string {
	select {
	case <-b.p.child().exited:
		return b.p.child().survivors
	default:
		return nil
	}
}
