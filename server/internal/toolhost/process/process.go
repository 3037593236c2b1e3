package process

import (
	"cmp"
	"errors"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"github.com/toolhost/toolhost/tool"
)

// Process is one plugin process that has answered. All methods are safe for concurrent use.
//
// The goroutine that calls Launch makes the process and talks to it until it has answered. Another
// one, own, waits for its end and releases everything, also while the first one still waits for an
// answer. What the first one learns reaches the others as facts: that the process exists, and how
// the launch ended.
type Process struct {
	cfg    Config
	folder string // its own folder, below RunDir
	mark   string
	survey bool // whether its descendants are looked for at its end

	streams   *streams
	link      *link
	client    *goplugin.Client
	channels  channels
	resources resources
	names     watchedNames

	// Only the launching goroutine uses these:
	socket     string // where the plugin listens, by its handshake
	unfinished string // a first line without a line end

	spawned  fact[spawned]  // there is a process
	launched fact[launched] // the launch has succeeded or failed; the process may have ended before
	over     chan struct{}  // closed when the process has ended and all its output is read
	done     chan struct{}  // closed when everything is released

	mu       sync.Mutex
	stopping bool
	reason   string // why the process was ended; the first reason counts
	oom      string // the reason, if memory ran out
}

// spawned is a process that exists, and how it is confined.
type spawned struct {
	child       *child
	confinement *confinement
}

// launched is how a launch ended.
type launched struct {
	session Session          // conn, or what Config.Pipes opened; nil if the launch failed
	conn    *pluginwire.Conn // nil if the process uses pipes
	err     error            // why the launch failed; nil: it has not
}

// fact is a future that is set once. One goroutine sets its value. Others wait for the value, or
// ask whether it is set.
type fact[T any] struct {
	known chan struct{} // closed when value is set
	value T             // read by get alone
}

func newFact[T any]() fact[T] { return fact[T]{known: make(chan struct{})} }

// set may be called once.
func (f *fact[T]) set(value T) {
	f.value = value
	close(f.known)
}

// get returns the zero value and false as long as the fact is not known.
func (f *fact[T]) get() (value T, known bool) {
	select {
	case <-f.known:
		return f.value, true
	default:
		return value, false
	}
}

// child returns the process of the system; nil: there is none yet.
func (p *Process) child() *child {
	s, _ := p.spawned.get()
	return s.child
}

// PID returns the process id, which is also that of its process group. After Done is closed, it may
// belong to another process.
func (p *Process) PID() int { return p.child().id.PID }

// StartTime returns the time of the process's start.
func (p *Process) StartTime() time.Time { return p.child().started }

// Conn returns the connection to the plugin; nil if the process uses pipes. The process owns the
// connection and closes it at the end of the process. If the connection is lost, the process is
// stopped.
func (p *Process) Conn() *pluginwire.Conn {
	l, _ := p.launched.get()
	return l.conn
}

// Done is closed when the process is gone and its pid, pipes, connection, folder and group are
// released.
func (p *Process) Done() <-chan struct{} { return p.done }

// StderrTail returns the last lines of standard error, the oldest first: at most 50 lines of at
// most 8 KiB each.
func (p *Process) StderrTail() []string { return p.streams.out.lastLines() }

// Limits returns each limit of the process with the mechanism that enforces it. A PID namespace is
// listed only if it was requested and needed.
func (p *Process) Limits() []tool.EffectiveLimit {
	held := p.resources.holder.Effective()
	s, known := p.spawned.get()
	if !known || s.confinement.needless {
		return held
	}
	return append(held, s.confinement.namespaceLimit(s.child.namespace != nil))
}

// Sandbox returns what the process may access, and the layers that confine it.
func (p *Process) Sandbox() tool.Sandbox {
	s, known := p.spawned.get()
	if !known {
		return tool.Sandbox{}
	}
	return s.confinement.sandbox
}

// Alive reports whether the process runs now, without blocking. On Linux it asks the kernel,
// because a killed process is dead before its connection breaks. That costs one system call. On
// other systems, it returns true until the process is known to have ended.
func (p *Process) Alive() bool { return p.child().alive() }

// RSS returns the process's resident memory in bytes, or 0 if it is unknown.
func (p *Process) RSS() (uint64, error) {
	size, err := proc.ResidentBytes(p.PID())
	if errors.Is(err, proc.ErrUnknown) || p.child().hasExited() {
		return 0, nil
	}
	return size, err
}

// Memory returns the resident memory in bytes of the process and all its descendants, or 0 if it is
// unknown. Memory that several of them share counts for each of them.
func (p *Process) Memory() (sum uint64) {
	if p.child().hasExited() {
		return 0
	}
	roots := []int{p.PID()}
	if namespace := p.child().namespace; namespace != nil {
		roots = append(roots, namespace.PID())
	}
	for _, pid := range proc.Tree(roots...) {
		if size, err := proc.ResidentBytes(pid); err == nil { // otherwise it has just ended
			sum += size
		}
	}
	return sum
}

// CPU returns the processor time that the process has used, or 0 if it is unknown. The value is
// that of the kernel: after the exit it includes the children that the process has waited for.
func (p *Process) CPU() time.Duration {
	if child := p.child(); child != nil && child.hasExited() {
		if state := child.state; state != nil {
			return state.UserTime() + state.SystemTime()
		}
		return 0
	}
	return proc.ProcessorTime(p.PID())
}

// Withdrawn returns the reason why toolhost ended the process: another file got a name that its
// sandbox protects, or Withdraw was called. It returns "" if toolhost did not withdraw the process.
func (p *Process) Withdrawn() string { return p.names.withdrawn() }

// goCrash is the exit code of a program that Go's runtime ends.
const goCrash = 2

// Exit returns how the process ended. The value is complete after Done is closed. Before, Code and
// Signal are unknown.
func (p *Process) Exit() tool.Exit {
	exit := tool.Exit{LastStderr: p.StderrTail()}
	p.mu.Lock()
	exit.Reason = p.reason
	oom := p.oom
	p.mu.Unlock()
	child := p.child()
	if child == nil || !child.hasExited() || child.state == nil {
		return exit
	}
	if exit.Code = child.state.ExitCode(); exit.Code == goCrash {
		exit.LastStderr = p.streams.out.lastWords()
	}
	if status, ok := child.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal = unix.SignalName(status.Signal())
		if oom != "" && status.Signal() == syscall.SIGKILL {
			exit.OutOfMemory = true
			exit.Reason = cmp.Or(exit.Reason, oom)
		}
	}
	return exit
}

// tmpIn returns the temporary folder in a process's own folder.
func tmpIn(folder string) string { return filepath.Join(folder, "tmp") }
