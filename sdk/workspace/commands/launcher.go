package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/sdk/workspace"
)

const (
	// yield is how long a supervisor may take to end its command. It is a little longer than the
	// time that the supervisor gives the command. Then the launcher kills the supervisor.
	yield = grace + 600*time.Millisecond
	// drain is how long the launcher reads the rest of the output when no process should be left
	// that could write it.
	drain = time.Second
	// sweepTime is the limit of a sweep. On a busy machine, a killed process takes more than a second
	// to end. A plugin that gives up too early ends the calls of others.
	sweepTime = 5 * time.Second
	// EndTime is the longest time from the end of the context of Run to its return, if the machine is
	// not overloaded.
	EndTime = yield + drain
)

// Launcher starts each command below its own supervisor process. It records which children of this
// process are supervisors. This process adopts orphans, so any other child belonged to a supervisor
// that was killed. A process has at most one Launcher, and starts no other processes. All methods
// are safe for concurrent use.
type Launcher struct {
	self     string
	selfErr  error
	linger   time.Duration // how long processes that a command left may continue
	patience time.Duration // limit of a sweep
	// ends this process, after which toolhost kills everything that it started
	abandon func()

	mu      sync.Mutex
	running map[int]*exec.Cmd
}

// New makes this process the parent of orphans if the system supports it. Its main function must
// have called Supervise. An error of the system is the error of each Run.
func New() *Launcher {
	l := &Launcher{linger: linger, patience: sweepTime, abandon: abandon, running: map[int]*exec.Cmd{}}
	l.self, l.selfErr = self()
	if err := adoptOrphans(); err != nil {
		l.selfErr = errors.Join(l.selfErr, err)
	}
	return l
}

// abandon ends this process. toolhost then kills its control group and its namespace in one step.
// That works even if processes are started faster than this process could find and kill them.
func abandon() {
	fmt.Fprintln(os.Stderr, "a command starts processes faster than they can be ended; this process ends, so that toolhost ends them with it. "+
		"The limit `processes` of the plugin in toolhost.yaml keeps them few.")
	os.Exit(1)
}

// job is one command.
type job struct {
	command []string // program and arguments
	folder  *os.File // the working directory
	env     []string
	stdin   *os.File  // nil means no input
	stdout  io.Writer // written by separate goroutines, for which run waits
	stderr  io.Writer
}

// errLost means that the supervisor was killed or could not report.
var errLost = &workspace.Error{
	Message: "the process that watches over the command was killed or got stuck, or the command left no room for a process, so that the exit code is not known; " +
		"all that was found of the command has been ended",
	Err: workspace.ErrUnknownOutcome,
}

// run runs a command until the command or ctx ends. It returns when no process that the command
// started is left. errLost means that the command ran nevertheless.
func (l *Launcher) run(ctx context.Context, j job) (report, error) {
	if l.selfErr != nil {
		return report{}, l.selfErr
	}
	p, err := openPipes()
	if err != nil {
		return report{}, err
	}
	defer p.close()
	cmd := &exec.Cmd{
		Path: l.self, Args: []string{"toolhost-command", superviseArgument}, Env: j.env,
		Stdout:     p.stdout.w,
		ExtraFiles: []*os.File{p.orders.r, p.report.w, j.folder, p.stderr.w},
		// The supervisor is in its own session, so that a signal to the plugin's process group does
		// not end it.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if j.stdin != nil {
		cmd.Stdin = j.stdin
	}
	if err := l.start(cmd); err != nil {
		return report{}, fmt.Errorf("starting the process that watches over the command: %w", err)
	}
	p.closeChild()
	var copying sync.WaitGroup
	over := make(chan struct{})
	// end soon after the deadline below
	copying.Go(func() { copyOutput(j.stdout, p.stdout.r, over) })
	copying.Go(func() { copyOutput(j.stderr, p.stderr.r, over) })
	l.await(ctx, cmd, p, j.command)
	r, err := p.readReport()
	if err != nil && !l.sweep() {
		l.abandon()
	}
	close(over)
	deadline := time.Now().Add(drain)
	_ = p.stdout.r.SetReadDeadline(deadline) // pipes support deadlines
	_ = p.stderr.r.SetReadDeadline(deadline)
	copying.Wait()
	return r, err
}

// copyOutput copies what a command writes. When over is closed, no process should be left that
// could write, and the pipe has at most its capacity. A slow reader of the output then gets the
// rest too.
func copyOutput(to io.Writer, from *os.File, over <-chan struct{}) {
	buffer := make([]byte, 32<<10)
	for rest := 1 << 20; rest > 0; { // the largest pipe that an ordinary user may have
		n, err := from.Read(buffer)
		_, _ = to.Write(buffer[:n]) // a writer that fails does not make the command fail
		if err != nil {
			return
		}
		select {
		case <-over:
			rest -= n
			_ = from.SetReadDeadline(time.Now().Add(drain))
		default:
		}
	}
}

// start holds the lock during the fork, which does not block. A sweep thus never sees the new
// process before it is registered.
func (l *Launcher) start(cmd *exec.Cmd) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	l.running[cmd.Process.Pid] = cmd
	return nil
}

// await sends a supervisor its order and waits for its end. When ctx ends, it asks the supervisor
// to end, and kills it if it does not.
func (l *Launcher) await(ctx context.Context, cmd *exec.Cmd, p *pipes, command []string) {
	exited := make(chan struct{})
	go func() { // ends with the process, which is killed below at the latest
		defer close(exited)
		_ = cmd.Wait() // the report says how it ended
	}()
	stop := context.AfterFunc(ctx, func() { _ = p.orders.w.SetWriteDeadline(time.Now()) })
	err := json.NewEncoder(p.orders.w).Encode(order{Command: command, Linger: l.linger})
	stop()
	if err == nil {
		select {
		case <-exited:
		case <-ctx.Done():
			_ = p.orders.w.SetWriteDeadline(time.Now().Add(yield))
			_, _ = p.orders.w.Write([]byte{'\n'}) // if this fails, the supervisor is killed below
			select {
			case <-exited:
			case <-time.After(yield):
			}
		}
	}
	_ = cmd.Process.Kill() // necessary only if it is stopped or stuck, or has no order
	<-exited
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[cmd.Process.Pid] == cmd { // another process may have the pid by now
		delete(l.running, cmd.Process.Pid)
	}
}

// sweep kills the processes that lost their supervisor, and all their descendants. It reports
// whether none is left.
func (l *Launcher) sweep() bool {
	for deadline := time.Now().Add(l.patience); ; time.Sleep(pause) {
		strays := l.strays()
		switch {
		case len(strays) == 0:
			return true
		case !time.Now().Before(deadline):
			return false
		}
		signalEach(strays, syscall.SIGSTOP) // stopped first: killing one makes room for a new one
		for _, r := range l.strays() {
			if r.ended && r.parent == os.Getpid() {
				_, _ = syscall.Wait4(r.pid, nil, syscall.WNOHANG, nil)
			} else if !r.ended {
				r.signal(syscall.SIGKILL)
			}
		}
	}
}

// strays returns the descendants of this process that are neither a supervisor nor below one.
func (l *Launcher) strays() []relative {
	l.mu.Lock()
	defer l.mu.Unlock()
	watched := map[int]bool{}
	var strays []relative
	for _, r := range descendants(os.Getpid()) { // parents precede their children
		if l.running[r.pid] != nil || watched[r.parent] {
			watched[r.pid] = true
			continue
		}
		strays = append(strays, r)
	}
	return strays
}
