package subreaper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// killed is the exit code of a program that SIGKILL ended, as a shell gives it.
const killed = 128 + int(syscall.SIGKILL)

// The served program's main goroutine must run on the main thread: see Serve. Only a lock during
// initialization guarantees it.
func init() {
	if Served(os.Getenv) {
		runtime.LockOSThread()
	}
}

// Serve runs serve as the served program, and returns its error. Until then the process is a
// subreaper, and if the inner subreaper ends first, Serve kills all that descends from this process
// and ends the process. spares is that of Config. Call Serve once, in the main goroutine, and start
// no process in that goroutine. serve runs in another one.
//
// A subreaper has to reap the orphans that it adopts, but must not reap the children that other
// packages started and wait for. The kernel tells the two apart by the thread: it makes the main
// thread the parent of an orphan, while a child belongs to the thread that started it. So the main
// thread is reserved: Serve locks the main goroutine to it, starts nothing there, and reaps the
// children of that thread alone (__WNOTHREAD). A process that is started on the main thread would
// be reaped here, and its starter's Wait would fail.
//
// A process that has the variable of a served program in its environment, but no lifeline, has no
// subreapers above it. Serve only calls serve then.
//
// If serve returns after the inner subreaper has ended, Serve does not return: the process must not
// end before it has killed what descends from it. A kill of those descendants is often the very
// reason why serve returns.
func Serve(spares func(pid int) bool, serve func() error) error {
	lifeline := inheritedLifeline()
	if lifeline == nil || unix.Gettid() != os.Getpid() {
		return serve()
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming the subreaper of the processes that plugins start: %w", err)
	}
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, lifeline)
		locked := make(chan struct{})
		go func() { // ends with a start of a process that is in progress
			syscall.ForkLock.RLock() // package os starts no further process after this
			close(locked)
		}()
		kills := func(pid int) bool { return spares == nil || !spares(pid) }
		h := newHunt(kills, kills)
		h.ready = locked
		h.run()
		os.Exit(killed)
	}()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	done := make(chan error, 1)
	go func() { done <- serve() }() // ends with serve
	for {
		for pid, _ := reap(unix.WNOTHREAD); pid > 0; pid, _ = reap(unix.WNOTHREAD) {
		}
		select {
		case err := <-done:
			if !hasEnded(lifeline) {
				return err
			}
			done = nil // the hunt ends the process once nothing is left
		case <-ended:
		}
	}
}

// hasEnded reports whether the member above has ended.
func hasEnded(lifeline *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(lifeline.Fd())}}
	for {
		_, err := unix.Poll(fds, 0)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
		}
	}
}

// inheritedLifeline returns the lifeline, or nil if the process has none.
func inheritedLifeline() *os.File {
	var stat unix.Stat_t
	if unix.Fstat(lifelineFD, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil
	}
	syscall.CloseOnExec(lifelineFD)
	return os.NewFile(lifelineFD, "lifeline")
}
