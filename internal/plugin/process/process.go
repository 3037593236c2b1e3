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
	// lossGrace is how long a process may live on without its connection: a process that dies loses it first, and its
	// exit status, which is worth more than a kill, comes within milliseconds.
	lossGrace = time.Second
	// drainGrace is how long the pipes of a dead process are read on for a survivor that nothing could find.
	drainGrace = 250 * time.Millisecond
	// strayPatience bounds the hunt for marked processes that start others as fast as they die.
	strayPatience = 5 * time.Second

	// goCrash is the exit code of a program that Go's runtime ends.
	goCrash = 2
)

// Process is one plugin process that answered. Its methods may be called from any goroutine.
type Process struct {
	cfg    Config
	folder string // its own, below RunDir
	mark   string
	survey bool // what it leaves is looked for at its end
	out    *output
	link   *link
	client *goplugin.Client
	holder *limits.Holder
	boost  boost
	gate   *gate // nil: it does not wait for anybody
	// What the plugin prints once it serves comes by go-plugin, not by the pipes.
	servedStdout, servedStderr *lines

	// Set while launching, by one goroutine, before the channel named.
	child       *child           // spawned
	noNamespace string           // spawned: why there is no PID namespace
	unsandboxed bool             // spawned: no PID namespace was asked for, or is needed
	sandbox     tool.Sandbox     // spawned
	pipes       []*os.File       // spawned: the ends that are read
	pumps       sync.WaitGroup   // spawned: who reads them
	watchers    sync.WaitGroup   // launched: who watches the limits
	socket      string           // launched
	unfinished  string           // launched: a first line without an end
	conn        *pluginwire.Conn // launched
	err         error            // launched: why it failed

	firstLine chan firstLine // of standard output; closed without any at its end
	spawned   chan struct{}  // closed when there is a child
	launched  chan struct{}  // closed when the launch has succeeded or failed
	over      chan struct{}  // closed when the process has ended and said its last
	done      chan struct{}  // closed when all is released

	mu       sync.Mutex
	channels []*grpc.ClientConn // what go-plugin opened
	stopping bool
	reason   string // why it was ended; the first counts
	oom      string // why, if that was for want of memory
	oomKills uint64 // see there; before the process began

	withdrawn string // why toolhost itself ended it; see withdraw
	unwatch   func() // ends the watch of names; nil: there is none
	unwatched error  // why names are not watched
}

// PID returns the process id, which is its process group's too. After Done it may be another's.
func (p *Process) PID() int { return p.child.id.PID }

// StartTime returns when the process was started.
func (p *Process) StartTime() time.Time { return p.child.started }

// Conn returns the open connection. The process owns it: it is closed at the end, and ends the process if it is lost.
func (p *Process) Conn() *pluginwire.Conn { return p.conn }

// Done is closed when the process is gone and its pid, pipes, connection, folder and group are released.
func (p *Process) Done() <-chan struct{} { return p.done }

// StderrTail returns the last lines of standard error, the oldest first: at most 50, each of at most 8 KiB.
func (p *Process) StderrTail() []string { return p.out.lastLines() }

// Limits returns what holds the process and all that it started, limit by limit. A PID namespace that was not asked for,
// or that was not needed, is not among them.
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

// Sandbox returns what the process may touch, and which layers keep it from the rest.
func (p *Process) Sandbox() tool.Sandbox { return p.sandbox }

// RSS returns how much of the process's memory is in RAM, in bytes; 0 where it is not known.
func (p *Process) RSS() (uint64, error) {
	size, err := proc.ResidentBytes(p.PID())
	if errors.Is(err, proc.ErrUnknown) || p.child.hasExited() {
		return 0, nil
	}
	return size, err
}

// Exit returns how the process ended. It is complete once Done is closed; before, Code and Signal are not known.
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

// own watches the process from its launch to its end and releases what it had.
func (p *Process) own(aborted <-chan struct{}) {
	defer close(p.done)
	select {
	case <-p.spawned:
	case <-p.launched:
	}
	select {
	case <-p.spawned: // also if the launch has failed since: select takes any case that is ready
		p.watch(aborted)
		<-p.child.exited
	default: // launched without a process
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
		case <-p.launched: // abortion came too late
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

// endLaunch ends a process whose launch failed. If that is because it ended by itself, its exit says more than a kill
// would, and is about to come.
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

// kill ends the group at once and cuts the connection, so that nothing waits for an answer. It does not block.
func (p *Process) kill(reason string) {
	p.because(reason)
	p.child.signalGroup(syscall.SIGKILL) // first: a process that loses its connection may go on for a moment
	p.link.close()
}

// because notes why the process is being ended, unless it ended already or there is another reason.
func (p *Process) because(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == "" && !p.child.hasExited() {
		p.reason = reason
	}
}

// release gives everything back. The process is gone, or never was.
func (p *Process) release() {
	p.drainConn()
	p.boost.end() // where the process did not live to be launched
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
	<-p.launched // soon, for nothing answers any more
	if p.conn != nil {
		_ = p.conn.Close()
	}
	p.client.Kill() // waits only for go-plugin's goroutines
	p.closeChannels()
	p.servedStdout.Flush()
	p.servedStderr.Flush()
	if err := rmtree.Remove(p.folder); err != nil {
		p.cfg.Logger.Warn("removing the plugin's folder", "error", err)
	}
	p.out.close()
}

// drainConn lets what the process sent before its end arrive: a result that is on its way is still one.
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

// dir is where the process starts.
func (p *Process) dir() string { return cmp.Or(p.cfg.Dir, p.tmp()) }

func (p *Process) tmp() string { return filepath.Join(p.folder, "tmp") }
