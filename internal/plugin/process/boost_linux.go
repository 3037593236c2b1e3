package process

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// boostNice is the weight of a session while its process starts: three times that of others. A session that has just
	// begun waits behind all that ran before it again and again, where many do; measured, this is what takes that back.
	boostNice = "-5"
	// usualNice is the weight that it has from then on.
	usualNice = "0"
	// boostFor is how long it may last, so that no plugin gains from being slow. Most have started then, on any machine.
	boostFor = 250 * time.Millisecond
)

// boost is what gives the session of a process more of the processors while somebody waits for it to start, where the kernel
// shares them among sessions (autogroup). Each plugin has one, so that none takes them from others; which this is no exception
// from, for it ends with the launch, and after boostFor. The zero value does nothing. It is safe for concurrent use.
type boost struct {
	mu   sync.Mutex
	pid  int
	file *os.File // of the process itself, not of its number
}

// begin lets a process that leads a session boost, if toolhost may do that and undo it at any time. What another one began
// is over then.
func (h *boost) begin(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pid == pid || !mayWeigh() {
		return
	}
	h.stop()
	file, err := os.OpenFile(fmt.Sprintf("/proc/%d/autogroup", pid), os.O_WRONLY, 0)
	if err != nil {
		return // this kernel does not share them so, or the process has ended
	}
	h.pid, h.file = pid, file
	_, _ = file.WriteString(boostNice) // then it takes its time
}

// beginElsewhere is begin for a thread that may see another /proc.
func (h *boost) beginElsewhere(pid int) {
	begun := make(chan struct{})
	go func() { // ends at once
		defer close(begun)
		h.begin(pid)
	}()
	<-begun
}

// end undoes begin. It may be called more than once.
func (h *boost) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop()
}

// stop is end with the lock held.
func (h *boost) stop() {
	if h.file == nil {
		return
	}
	_, _ = h.file.WriteString(usualNice) // else the process has ended
	_ = h.file.Close()
	h.file = nil
}

// mayWeigh reports whether this process may change the weights of sessions: whoever may not administer the system may do so
// only ten times a second, and could not undo it in time.
func mayWeigh() bool {
	var data [2]unix.CapUserData
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	const needed = 1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_SYS_NICE
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&needed == needed
}
