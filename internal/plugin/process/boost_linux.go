package process

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// boostNice is the nice value of a session while its process starts. It gives the session three
	// times the processor share of others. On a busy machine, a new session waits behind all others
	// several times. Without the boost, the first call of a plugin without a running process takes
	// 1.2 times as long under load.
	boostNice = "-5"
	// usualNice is the session's nice value after the boost.
	usualNice = "0"
	// boostFor bounds a boost, so that a plugin cannot keep it by starting slowly. Most plugins
	// have started by then.
	boostFor = 250 * time.Millisecond
)

// boost is the scheduling boost of one launch. Where the kernel divides the processors among
// sessions (autogroup), it gives the session of a starting process a larger share while a caller
// waits for it. Otherwise each plugin has its own session so that none takes processor time from
// others. The boost is the exception, and it ends with the launch, at the latest after boostFor.
// The zero value does nothing. A boost is safe for concurrent use.
type boost struct {
	mu   sync.Mutex
	pid  int
	file *os.File // of the process itself: its process id could be given to another one
}

// begin boosts the session that the process leads, if toolhost may change the session's nice value
// at any time. It ends the boost of another process.
func (h *boost) begin(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pid == pid || !mayWeigh() {
		return
	}
	h.stop()
	file, err := os.OpenFile(fmt.Sprintf("/proc/%d/autogroup", pid), os.O_WRONLY, 0)
	if err != nil {
		return // the kernel does not have autogroup, or the process has ended
	}
	h.pid, h.file = pid, file
	_, _ = file.WriteString(boostNice) // without the boost, the process only starts more slowly
}

// beginElsewhere calls begin on another thread, because the calling thread may see another /proc.
func (h *boost) beginElsewhere(pid int) {
	begun := make(chan struct{})
	go func() { // ends after begin
		defer close(begun)
		h.begin(pid)
	}()
	<-begun
}

// end ends the boost. It may be called more than once.
func (h *boost) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop()
}

// stop is end for a caller that holds the lock.
func (h *boost) stop() {
	if h.file == nil {
		return
	}
	_, _ = h.file.WriteString(usualNice) // it fails if the process has ended
	_ = h.file.Close()
	h.file = nil
}

// mayWeigh reports whether this process may change nice values of sessions without limit. Without
// CAP_SYS_ADMIN, the kernel allows ten changes in a second, and end could come too late.
func mayWeigh() bool {
	var data [2]unix.CapUserData
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	const needed = 1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_SYS_NICE
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&needed == needed
}
