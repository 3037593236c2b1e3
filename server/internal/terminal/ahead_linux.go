package terminal

import (
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// readKeys makes a terminal send each key without an echo, and calls take with what it sends. stop
// ends that, waits, and makes the terminal as it was. nil: the terminal cannot do it.
//
// Ctrl-Z stops the process, and the shell gives the terminal another state. So the state is set
// again after that.
func readKeys(file *os.File, take func([]byte)) (stop func()) {
	fd := int(file.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil
	}
	wakes, wake, err := os.Pipe()
	if err != nil {
		return nil
	}
	silent := *before
	silent.Lflag &^= unix.ICANON | unix.ECHO | unix.IEXTEN
	silent.Iflag &^= unix.ICRNL
	silent.Cc[unix.VMIN], silent.Cc[unix.VTIME] = 1, 0
	set := func(state *unix.Termios) error { return unix.IoctlSetTermios(fd, unix.TCSETS, state) }
	if set(&silent) != nil {
		_, _ = wakes.Close(), wake.Close()
		return nil
	}
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	ended := make(chan struct{})
	var tasks sync.WaitGroup
	tasks.Go(func() { read(fd, int(wakes.Fd()), take) }) // ends with a byte in the pipe; stop waits
	tasks.Go(func() {                                    // ends with ended; stop waits
		for {
			select {
			case <-continued:
				_ = set(&silent)
			case <-ended:
				return
			}
		}
	})
	return func() {
		signal.Stop(continued)
		close(ended)
		_ = wake.Close()
		tasks.Wait()
		_ = wakes.Close()
		_ = set(before)
	}
}

// read reads a terminal until the other end of a pipe is closed, or the terminal is gone.
func read(terminal, wakes int, take func([]byte)) {
	b := make([]byte, 4096)
	for {
		ready := []unix.PollFd{{Fd: int32(terminal), Events: unix.POLLIN}, {Fd: int32(wakes), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err != nil && err != unix.EINTR {
			return
		}
		if ready[1].Revents != 0 || ready[0].Revents&(unix.POLLERR|unix.POLLNVAL) != 0 {
			return
		}
		if ready[0].Revents == 0 {
			continue
		}
		n, err := unix.Read(terminal, b)
		if n > 0 {
			take(b[:n])
		}
		if n == 0 || err != nil && err != unix.EINTR && err != unix.EAGAIN {
			return
		}
	}
}
