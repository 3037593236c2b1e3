package subreaper

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
)

// killUntilGone kills the descendants of this process for which kills returns true, and those that
// they start meanwhile, until none is left for which awaits returns true. It calls reap before it
// lists the descendants. It gives up after patience.
//
// A listed process id can hardly belong to another process by the time of the signal: only the
// process's parent can reap it, and that is this process or one that is killed in the same round.
func killUntilGone(kills, awaits func(pid int) bool, reap func()) {
	const first, longest = time.Millisecond, 50 * time.Millisecond
	pause := first
	for began := time.Now(); time.Since(began) < patience; pause = min(2*pause, longest) {
		reap()
		left := false
		for _, pid := range proc.Tree(os.Getpid())[1:] {
			if pid <= 1 || !proc.Alive(pid) {
				continue
			}
			if kills(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			left = left || awaits(pid)
		}
		if !left {
			return
		}
		time.Sleep(pause)
	}
}

// reap reaps one child that has ended, and returns its process id, or 0 if there is none. options
// are added to those of wait4.
func reap(options int) (pid int, status syscall.WaitStatus) {
	for {
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG|options, nil)
		if !errors.Is(err, syscall.EINTR) {
			return max(pid, 0), status
		}
	}
}
