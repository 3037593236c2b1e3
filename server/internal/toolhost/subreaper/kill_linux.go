package subreaper

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

// hunt kills descendants of this process until none of them is left.
//
// The problem: listing descendants is not atomic. If a process ends after the listing found it and
// before the listing read its children, the children are missing, and the kernel has made them
// children of this subreaper. A member that ended after such a listing would leave them running.
//
// The idea: two facts prove that nothing is left. One is the kernel's answer that this process has
// no child: every orphan below a subreaper becomes a child of a subreaper, so that a subreaper
// without children has no descendants. The other serves where some descendants stay: two equal
// listings in a row, during which no listed process ended and in which every process may stay.
type hunt struct {
	kills  func(pid int) bool // reports whether to kill a descendant
	awaits func(pid int) bool // reports whether the hunt lasts until that descendant is gone
	reap   func()             // called before each listing; nil if another goroutine reaps
	ready  <-chan struct{}    // the hunt lasts until it is closed; nil: it does not wait

	list      func() []int       // the descendants; may miss some
	alive     func(pid int) bool // false for a zombie
	childless func() bool        // reports whether this process has no children, zombies included
	kill      func(pid int)
}

func newHunt(kills, awaits func(pid int) bool) *hunt {
	return &hunt{
		kills: kills, awaits: awaits,
		list:      func() []int { return proc.Tree(os.Getpid())[1:] },
		alive:     proc.Alive,
		childless: childless,
		kill:      func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) },
	}
}

// run hunts until nothing is left, or until patience ends.
//
// A listed process id can hardly belong to another process by the time of the signal: only the
// process's parent can reap it, and that is this process or one that is killed in the same round.
func (h *hunt) run() {
	const first, longest = time.Millisecond, 50 * time.Millisecond
	pause := first
	var last *round
	for began := time.Now(); time.Since(began) < patience; pause = min(2*pause, longest) {
		if h.reap != nil {
			h.reap()
		}
		ready := h.isReady() // before the listing, which could miss what starts meanwhile
		now := h.round(last)
		now.settled = now.settled && ready
		if ready && (h.childless() || now.settled && last != nil && last.settled && slices.Equal(now.listed, last.listed)) {
			return
		}
		last = now
		time.Sleep(pause)
	}
}

func (h *hunt) isReady() bool {
	if h.ready == nil {
		return true
	}
	select {
	case <-h.ready:
		return true
	default:
		return false
	}
}

// round is what one listing showed.
type round struct {
	listed  []int
	dead    map[int]bool // the listed processes that had ended
	settled bool         // no listed process ended during the listing, and none is awaited
}

// round lists the descendants and kills those that are to be killed. last is the round before, or
// nil.
func (h *hunt) round(last *round) *round {
	r := &round{listed: h.list(), dead: map[int]bool{}, settled: true}
	for _, pid := range r.listed {
		switch {
		case pid <= 1:
		case !h.alive(pid):
			r.dead[pid] = true
			// A zombie has no children. One that was a zombie before the listing hides none.
			if last == nil || !last.dead[pid] {
				r.settled = false
			}
		default:
			if h.kills(pid) {
				h.kill(pid)
			}
			if h.awaits(pid) {
				r.settled = false
			}
		}
	}
	return r
}

// childless reports whether this process has no children, zombies included.
func childless() bool {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
		if !errors.Is(err, unix.EINTR) {
			return errors.Is(err, unix.ECHILD)
		}
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
