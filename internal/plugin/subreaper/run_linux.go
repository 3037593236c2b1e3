package subreaper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
)

// lifelineFD is the descriptor of the inner keeper's pipe, of which the outer one holds the other end.
const lifelineFD = 3

// Supported reports whether there are keepers on this system.
func Supported() bool { return true }

// keeper is one of the two.
type keeper struct {
	cfg   Config
	inner bool
	child int

	mu    sync.Mutex
	ended bool // the child is reaped: its number may be another's
}

// Run keeps the program: it starts what is below this keeper, and returns the program's exit code once it has ended and
// nothing of it is left. The end of ctx asks the program to end, with SIGTERM. It must be called once, before the process
// has other children.
func Run(ctx context.Context, cfg Config) (code int, err error) {
	runtime.LockOSThread() // the kernel sends a child's death signal when the thread that started it ends
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("becoming the keeper of what plugins start: %w", err)
	}
	k := &keeper{cfg: cfg, inner: os.Getenv(roleName) == roleInner}
	var lifeline *os.File
	if k.inner {
		lifeline = os.NewFile(lifelineFD, "lifeline")
		defer lifeline.Close()
	}
	release, err := k.start()
	if err != nil {
		return 0, fmt.Errorf("starting what is kept: %w", err)
	}
	defer release()
	var told sync.WaitGroup
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	told.Go(func() { k.handDown(ctx, watching) }) // ends with watching
	if lifeline != nil {
		go func() { // ends with the outer keeper, or with this process
			_, _ = io.Copy(io.Discard, lifeline)
			k.signal(syscall.SIGKILL)
		}()
	}
	status, err := k.await()
	stop()
	told.Wait()
	k.clear()
	if err != nil {
		return 0, fmt.Errorf("waiting for what is kept: %w", err)
	}
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// start starts what is below this keeper: the inner keeper in a group of its own, so that a terminal's signals come once,
// or the program, which dies with its keeper.
func (k *keeper) start() (release func(), err error) {
	proc.SealDescriptors()
	environ := k.cfg.Environ
	if environ == nil {
		environ = os.Environ()
	}
	role, release := roleInner, func() {}
	files := []*os.File{k.cfg.Stdin, k.cfg.Stdout, k.cfg.Stderr}
	sys := &syscall.SysProcAttr{Setpgid: true}
	if k.inner {
		role, sys = roleKept, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	} else {
		lifeline, held, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer lifeline.Close()
		files, release = append(files, lifeline), func() { _ = held.Close() }
	}
	attr := &os.ProcAttr{Env: withRole(environ, role), Files: files, Sys: sys}
	child, err := os.StartProcess(k.cfg.Command[0], k.cfg.Command, attr)
	if err != nil {
		release()
		return nil, err
	}
	k.child = child.Pid
	_ = child.Release() // it is waited for together with those that are adopted
	return release, nil
}

func withRole(environ []string, role string) []string {
	with := []string{roleName + "=" + role}
	for _, entry := range environ {
		if !strings.HasPrefix(entry, roleName+"=") {
			with = append(with, entry)
		}
	}
	return with
}

// handDown tells the child what this keeper is told, until watching ends.
func (k *keeper) handDown(ctx, watching context.Context) {
	others := make(chan os.Signal, 8)
	signal.Notify(others, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(others)
	asked := ctx.Done()
	for {
		select {
		case <-asked:
			k.signal(syscall.SIGTERM)
			asked = nil
		case s := <-others:
			k.signal(s.(syscall.Signal))
		case <-watching.Done():
			return
		}
	}
}

// signal sends the child a signal, unless it has ended.
func (k *keeper) signal(s syscall.Signal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ended && k.child > 1 {
		_ = syscall.Kill(k.child, s) // it may be a zombie
	}
}

// await reaps whatever ends until the child does, and returns how it did.
func (k *keeper) await() (syscall.WaitStatus, error) {
	for {
		// Reaped only with mu held: no signal must hit who gets the number next.
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return 0, err
		}
		k.mu.Lock()
		for pid, status := reap(); pid > 0; pid, status = reap() {
			if pid == k.child {
				k.ended = true
				k.mu.Unlock()
				return status, nil
			}
		}
		k.mu.Unlock()
	}
}

// reap reaps one child that has ended; it returns 0 if there is none.
func reap() (pid int, status syscall.WaitStatus) {
	for {
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if !errors.Is(err, syscall.EINTR) {
			return max(pid, 0), status
		}
	}
}

// clear kills all that descends from this keeper, and waits until it is gone and what is spared has ended. A number among
// the descendants can hardly be another's by the time of the signal: only their parents reap them, and those are killed.
func (k *keeper) clear() {
	const first, longest = time.Millisecond, 50 * time.Millisecond
	pause := first
	for began := time.Now(); time.Since(began) < patience; pause = min(2*pause, longest) {
		for pid, _ := reap(); pid > 0; pid, _ = reap() {
			pause = first
		}
		descendants := proc.Tree(os.Getpid())[1:]
		if len(descendants) == 0 {
			return
		}
		for _, pid := range descendants {
			if pid > 1 && (k.cfg.Spares == nil || !k.cfg.Spares(pid)) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		time.Sleep(pause)
	}
}
