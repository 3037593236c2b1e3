package subreaper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

const (
	// lifelineFD is the descriptor from which the inner subreaper and the served program read until
	// the member above ends.
	lifelineFD = 3
	// reportFD is the descriptor on which the inner subreaper tells the outer one the served
	// program's process id.
	reportFD = 4
)

// Supported reports whether the system has subreapers.
func Supported() bool { return true }

// ancestor is one of the two subreapers above the served program.
type ancestor struct {
	cfg      Config
	inner    bool
	child    int                     // the member below
	lifeline *os.File                // the end of the child's lifeline that this process holds
	served   atomic.Pointer[proc.ID] // the served program; nil until it is known

	mu    sync.Mutex
	ended bool // the child is reaped, and its process id may belong to another process
}

// Run starts the member below this one in the chain and returns the served program's exit code
// after the program and all its descendants have ended. When ctx ends, Run asks the program to end,
// with SIGTERM. Call Run once, before the process has other children.
func Run(ctx context.Context, cfg Config) (code int, err error) {
	runtime.LockOSThread() // await reaps the children of every thread, but only this thread starts some
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("becoming the subreaper of the processes that plugins start: %w", err)
	}
	a := &ancestor{cfg: cfg, inner: Inner(os.Getenv)}
	if err := a.start(); err != nil {
		return 0, fmt.Errorf("starting the process below the subreaper: %w", err)
	}
	defer a.lifeline.Close()
	var handing sync.WaitGroup
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	handing.Go(func() { a.handDown(ctx, watching) }) // ends with watching
	if a.inner {
		go a.outlive(os.NewFile(lifelineFD, "lifeline")) // ends with the outer subreaper, or with this process
	}
	status, err := a.await()
	stop()
	handing.Wait()
	a.clear()
	if err != nil {
		return 0, fmt.Errorf("waiting for the process below the subreaper: %w", err)
	}
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// start starts the child. The inner subreaper gets a process group of its own, so that a signal
// from a terminal arrives once.
func (a *ancestor) start() (err error) {
	proc.SealDescriptors()
	environ := a.cfg.Environ
	if environ == nil {
		environ = os.Environ()
	}
	lifeline, held, err := os.Pipe()
	if err != nil {
		return err
	}
	defer lifeline.Close()
	a.lifeline = held
	files := []*os.File{a.cfg.Stdin, a.cfg.Stdout, a.cfg.Stderr, lifeline}
	role, sys := roleServed, &syscall.SysProcAttr{}
	if !a.inner {
		reports, report, err := os.Pipe()
		if err != nil {
			return errors.Join(err, held.Close())
		}
		defer report.Close()
		go a.readReport(reports) // ends when the inner subreaper does
		role, sys, files = roleInner, &syscall.SysProcAttr{Setpgid: true}, append(files, report)
	}
	child, err := os.StartProcess(a.cfg.Command[0], a.cfg.Command, &os.ProcAttr{Env: withRole(environ, role), Files: files, Sys: sys})
	if err != nil {
		return errors.Join(err, held.Close())
	}
	a.child = child.Pid
	_ = child.Release() // await waits for it together with adopted orphans
	if a.inner {
		id := proc.Identify(a.child)
		a.served.Store(&id)
		report := os.NewFile(reportFD, "report")
		_, _ = fmt.Fprintln(report, a.child) // it fails after the outer subreaper's end, which outlive notices
		_ = report.Close()
	}
	return nil
}

// readReport learns which process is the served program.
func (a *ancestor) readReport(reports *os.File) {
	defer reports.Close()
	var pid int
	if _, err := fmt.Fscanln(bufio.NewReader(reports), &pid); err == nil && pid > 1 {
		id := proc.Identify(pid)
		a.served.Store(&id)
	}
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

// handDown passes the requests and signals that this process gets on to the child, until watching
// ends.
func (a *ancestor) handDown(ctx, watching context.Context) {
	others := make(chan os.Signal, 8)
	signal.Notify(others, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(others)
	asked := ctx.Done()
	for {
		select {
		case <-asked:
			a.signal(syscall.SIGTERM)
			asked = nil
		case s := <-others:
			a.signal(s.(syscall.Signal))
		case <-watching.Done():
			return
		}
	}
}

// signal sends the child a signal, unless it has ended.
func (a *ancestor) signal(s syscall.Signal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended && a.child > 1 {
		_ = syscall.Kill(a.child, s) // it may be a zombie
	}
}

// outlive kills all that descends from the inner subreaper after the outer one has ended: the
// served program last.
func (a *ancestor) outlive(lifeline *os.File) {
	_, _ = io.Copy(io.Discard, lifeline)
	_ = a.lifeline.Close() // the served program kills its descendants, too, and ends
	others := func(pid int) bool { return pid != a.child && a.kills(pid) }
	newHunt(others, others).run()
	a.signal(syscall.SIGKILL)
}

// await reaps every process that ends until the child does, and returns the child's exit status.
func (a *ancestor) await() (syscall.WaitStatus, error) {
	for {
		// The process is reaped only with mu held. Otherwise signal could hit a process that got
		// the id next.
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return 0, err
		}
		a.mu.Lock()
		for pid, status := reap(0); pid > 0; pid, status = reap(0) {
			if pid == a.child {
				a.ended = true
				a.mu.Unlock()
				return status, nil
			}
		}
		a.mu.Unlock()
	}
}

// clear kills all descendants of this subreaper after its child has ended. If the child was the
// inner subreaper, the served program is one of them. It kills its own descendants meanwhile, so
// clear kills it last.
func (a *ancestor) clear() {
	reapAll := func() {
		for pid, _ := reap(0); pid > 0; pid, _ = reap(0) {
		}
	}
	served := a.served.Load()
	others := func(pid int) bool { return a.kills(pid) && (served == nil || proc.Identify(pid) != *served) }
	for _, h := range []*hunt{
		newHunt(others, others),
		newHunt(a.kills, func(int) bool { return true }),
	} {
		h.reap = reapAll
		h.run()
	}
}

func (a *ancestor) kills(pid int) bool { return a.cfg.Spares == nil || !a.cfg.Spares(pid) }
