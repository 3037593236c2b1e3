package process

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"

	"github.com/toolhost/toolhost/internal/plugin/limits"
	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
	"github.com/toolhost/toolhost/internal/plugin/rmtree"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

const (
	// lossGrace is the time for which a process may run without its connection. A dying process
	// loses its connection first, and its exit status, which says more than a kill, follows within
	// milliseconds.
	lossGrace = time.Second
	// drainGrace is the time for which the pipes of a dead process are read if an unknown survivor
	// holds them open.
	drainGrace = 250 * time.Millisecond
	// strayPatience bounds the repeated kill of marked processes that start others as fast as they
	// die.
	strayPatience = 5 * time.Second

	// goCrash is the exit code of a program that Go's runtime ends.
	goCrash = 2
)

// Process is one plugin process that has answered. All methods are safe for concurrent use.
type Process struct {
	cfg    Config
	folder string // its own folder, below RunDir
	mark   string
	survey bool // whether its descendants are looked for at its end
	out    *output
	link   *link
	client *goplugin.Client
	holder *limits.Holder
	boost  boost
	gate   *gate // nil: it is not prestarted
	// What the plugin prints while it serves arrives through go-plugin, not through the pipes.
	servedStdout, servedStderr *lines

	// The launching goroutine sets these before it closes the channel that is named here.
	child       *child           // spawned
	noNamespace string           // spawned: why there is no PID namespace
	unsandboxed bool             // spawned: a PID namespace was not requested or not needed
	sandbox     tool.Sandbox     // spawned
	pipes       []*os.File       // spawned: the reading ends
	pumps       sync.WaitGroup   // spawned: the goroutines that read pipes
	watchers    sync.WaitGroup   // launched: the goroutines that watch limits
	socket      string           // launched
	unfinished  string           // launched: a first line without a line end
	conn        *pluginwire.Conn // launched
	err         error            // launched: why the launch failed

	firstLine chan firstLine // the first line of standard output; closed without one when the output ends
	spawned   chan struct{}  // closed when child is set
	launched  chan struct{}  // closed when the launch has succeeded or failed
	over      chan struct{}  // closed when the process has ended and all its output is read
	done      chan struct{}  // closed when everything is released

	mu       sync.Mutex
	channels []*grpc.ClientConn // the channels that go-plugin opened
	stopping bool
	reason   string // why the process was ended; the first reason counts
	oom      string // the reason, if memory ran out
	oomKills uint64 // oomKills before the process began

	withdrawn string // why toolhost ended the process by itself; see Withdrawn
	unwatch   func() // ends the watch of names; nil: names are not watched
	unwatched error  // why names are not watched
}

// PID returns the process id, which is also that of its process group. After Done is closed, it may
// belong to another process.
func (p *Process) PID() int { return p.child.id.PID }

// StartTime returns the time of the process's start.
func (p *Process) StartTime() time.Time { return p.child.started }

// Conn returns the open connection, which the process owns: it closes the connection at its end,
// and ends when the connection is lost.
func (p *Process) Conn() *pluginwire.Conn { return p.conn }

// Done is closed when the process is gone and its pid, pipes, connection, folder and group are
// released.
func (p *Process) Done() <-chan struct{} { return p.done }

// StderrTail returns the last lines of standard error, the oldest first: at most 50 lines of at
// most 8 KiB each.
func (p *Process) StderrTail() []string { return p.out.lastLines() }

// Limits returns each limit of the process with the mechanism that enforces it. A PID namespace is
// listed only if it was requested and needed.
func (p *Process) Limits() []tool.EffectiveLimit {
	held := p.holder.Effective()
	if p.unsandboxed {
		return held
	}
	namespace := tool.EffectiveLimit{
		Name: "pid_namespace", Value: string(p.cfg.PIDNamespace), Mechanism: "namespace", Note: p.noNamespace,
	}
	if p.child.namespace == nil {
		namespace.Mechanism = limits.None
	}
	return append(held, namespace)
}

// Sandbox returns what the process may access, and the layers that confine it.
func (p *Process) Sandbox() tool.Sandbox { return p.sandbox }

// RSS returns the process's resident memory in bytes, or 0 if it is unknown.
func (p *Process) RSS() (uint64, error) {
	size, err := proc.ResidentBytes(p.PID())
	if errors.Is(err, proc.ErrUnknown) || p.child.hasExited() {
		return 0, nil
	}
	return size, err
}

// Exit returns how the process ended. The value is complete after Done is closed. Before, Code and
// Signal are unknown.
func (p *Process) Exit() tool.Exit {
	exit := tool.Exit{LastStderr: p.StderrTail()}
	p.mu.Lock()
	exit.Reason = p.reason
	oom := p.oom
	p.mu.Unlock()
	if p.child == nil || !p.child.hasExited() || p.child.state == nil {
		return exit
	}
	if exit.Code = p.child.state.ExitCode(); exit.Code == goCrash {
		exit.LastStderr = p.out.lastWords()
	}
	if status, ok := p.child.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal = unix.SignalName(status.Signal())
		if oom != "" && status.Signal() == syscall.SIGKILL {
			exit.OutOfMemory = true
			exit.Reason = cmp.Or(exit.Reason, oom)
		}
	}
	return exit
}

// own watches the process from its launch to its end, and releases its resources.
func (p *Process) own(aborted <-chan struct{}) {
	defer close(p.done)
	select {
	case <-p.spawned:
	case <-p.launched:
	}
	select {
	case <-p.spawned: // also if the launch has failed meanwhile: select picks any ready case
		p.watch(aborted)
		<-p.child.exited
	default: // launched without a child
	}
	p.release()
}

// watch returns when the process has ended or has been killed.
func (p *Process) watch(aborted <-chan struct{}) {
	select {
	case <-p.child.exited:
		return
	case <-p.launched:
	case <-aborted:
		select {
		case <-p.launched: // the end of ctx came too late
		default:
			p.kill("the launch was abandoned")
			return
		}
	}
	if p.err != nil {
		p.endLaunch(aborted)
		return
	}
	select {
	case <-p.child.exited:
	case <-p.link.lost:
	case <-p.conn.Done():
	}
	p.mu.Lock()
	stopping := p.stopping
	p.mu.Unlock()
	if !stopping && !p.exitsWithin(lossGrace) {
		p.kill("it lost its connection to toolhost")
	}
}

// endLaunch ends a process whose launch failed. If the process ended by itself, its exit says more
// than a kill would, and arrives soon.
func (p *Process) endLaunch(aborted <-chan struct{}) {
	select {
	case <-aborted:
		p.kill("the launch was abandoned")
		return
	default:
	}
	if isRefusal(p.err) || !p.exitsWithin(lossGrace) {
		p.kill("its launch failed")
	}
}

func (p *Process) exitsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.child.exited:
		return true
	case <-timer.C:
		return false
	}
}

// kill kills the group and cuts the connection, so that no goroutine waits for an answer. It does
// not block.
func (p *Process) kill(reason string) {
	p.because(reason)
	p.child.signalGroup(syscall.SIGKILL) // first: a process that loses its connection may run on for a moment
	p.link.close()
}

// because notes the reason for ending the process, unless there is one already or the process has
// ended.
func (p *Process) because(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == "" && !p.child.hasExited() {
		p.reason = reason
	}
}

// release releases all resources. The process is gone, or was never started.
func (p *Process) release() {
	p.drainConn()
	p.boost.end() // if the launch did not get so far
	p.link.close()
	if p.child != nil {
		p.watchers.Wait()
		oom, killed := p.holder.OutOfMemory()
		if !killed && len(p.holder.Groups()) == 0 && oomKills() > p.oomKills {
			oom, killed = "the machine, or the control group that toolhost is in, ran out of memory while it ran", true
		}
		if killed {
			p.mu.Lock()
			p.oom = oom
			p.mu.Unlock()
		}
		if _, err := proc.KillMarked(p.mark, strayPatience); err != nil {
			p.cfg.Logger.Warn("ending what the plugin started", "error", err)
		}
		for _, pipe := range p.pipes {
			_ = pipe.SetReadDeadline(time.Now().Add(drainGrace))
		}
		p.pumps.Wait()
		if p.cfg.Reaper != nil {
			p.cfg.Reaper.Remove(p.child.id)
		}
	}
	if err := p.holder.Close(); err != nil {
		p.cfg.Logger.Warn("ending what the plugin started", "error", err)
	}
	p.stopWatching()
	close(p.over)
	<-p.launched // soon: the process is gone, and nothing answers
	if p.conn != nil {
		_ = p.conn.Close()
	}
	p.client.Kill() // waits only for goroutines of go-plugin
	p.closeChannels()
	p.servedStdout.Flush()
	p.servedStderr.Flush()
	if err := rmtree.Remove(p.folder); err != nil {
		p.cfg.Logger.Warn("removing the plugin's folder", "error", err)
	}
	p.out.close()
}

// drainConn waits until what the process sent before its end is read: a result that is in transit
// still counts.
func (p *Process) drainConn() {
	select {
	case <-p.launched:
	default:
		return
	}
	if p.conn == nil {
		return
	}
	timer := time.NewTimer(drainGrace)
	defer timer.Stop()
	select {
	case <-p.conn.Done():
	case <-timer.C:
	}
}

// dir returns the process's working folder.
func (p *Process) dir() string { return cmp.Or(p.cfg.Dir, p.tmp()) }

func (p *Process) tmp() string { return filepath.Join(p.folder, "tmp") }
