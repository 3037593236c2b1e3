package commands

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
)

// superviseArgument makes this program the supervisor of one command. The supervisor is a process
// between the plugin and the command. Everything that the command starts stays a descendant of the
// supervisor, whatever process group or session it moves to. When the command is over, the
// supervisor ends the rest. It also ends with the plugin, because it reads its orders from a pipe
// of the plugin.
//
// The command comes through the pipe too, not as arguments, because pkill -f would match the
// supervisor otherwise.
const superviseArgument = "supervise-command"

// The descriptors of a supervisor besides the command's standard ones.
const (
	ordersFD = 3 + iota
	reportFD
	folderFD
	stderrFD // the command's standard error; the supervisor's own receives traces of Go's runtime
)

const (
	// linger is how long processes that a command left may continue. Processes that only write
	// their input, such as tee in a process substitution, can finish in this time.
	linger = 500 * time.Millisecond
	// grace is how long a process may take to end after SIGTERM. When toolhost cancels a call, the
	// instance gets no new calls after 0.5 s.
	grace = 400 * time.Millisecond
	// pause is about the time that the kernel needs to remove a process.
	pause = 2 * time.Millisecond
)

// order says what a supervisor runs. More data on the pipe ends the command gently. The end of the
// pipe ends it immediately.
type order struct {
	Command []string      `json:"command"`
	Linger  time.Duration `json:"linger"` // how long processes that it leaves may continue
}

// report says how a command ended.
type report struct {
	Failure string         `json:"failure,omitempty"` // why it did not start
	Code    int            `json:"code"`              // exit code if no signal ended it
	Signal  syscall.Signal `json:"signal,omitempty"`
	Told    bool           `json:"told,omitempty"` // an order or a signal ended it
	// the number of processes that the command left behind and that the supervisor killed
	Left int `json:"left,omitempty"`
}

// Supervise does nothing, unless this process is the supervisor of a command: then it supervises,
// and ends the process. A program that runs commands calls it first in main. In the process of a
// plugin it costs nothing.
func Supervise() {
	if len(os.Args) == 2 && os.Args[1] == superviseArgument {
		os.Exit(supervise())
	}
}

// supervise runs the ordered command. It returns this process's exit code when no process of the
// command is left.
func supervise() int {
	orders := bufio.NewReader(os.NewFile(ordersFD, "orders"))
	reports := os.NewFile(reportFD, "report")
	for _, fd := range []int{ordersFD, reportFD, folderFD, stderrFD} {
		syscall.CloseOnExec(fd)
	}
	var o order
	line, err := orders.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	if err != nil {
		return 1 // the plugin has ended
	}
	if err := json.NewEncoder(reports).Encode(run(o, orders)); err != nil {
		return 1
	}
	return 0
}

func run(o order, orders *bufio.Reader) report {
	if err := adoptOrphans(); err != nil {
		return report{Failure: err.Error()}
	}
	reserveThreads()
	if err := syscall.Fchdir(folderFD); err != nil {
		return report{Failure: fmt.Sprintf("going to the working directory: %v", err)}
	}
	// In its own session the command has no terminal that it could ask for a password.
	pid, err := syscall.ForkExec(o.Command[0], o.Command, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, stderrFD}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if errors.Is(err, syscall.E2BIG) {
		err = errors.New("the command and its environment are longer than the system takes; write the script to a file, or hand it over as stdin")
	}
	if err != nil {
		return report{Failure: err.Error()}
	}
	s := &supervisor{leader: pid, linger: o.Linger, over: make(chan syscall.WaitStatus, 1), none: make(chan struct{})}
	go s.reap() // ends with this process
	ended := make(chan bool, 2)
	go func() { // ends with this process
		_, err := orders.ReadByte()
		ended <- err == nil
		_, _ = orders.ReadByte()
		ended <- false
	}()
	return s.await(ended)
}

// reserveThreads makes the runtime start all threads that this process will need. A command that
// starts as many processes as its limit allows leaves no room for threads, and the runtime ends a
// program that cannot start a thread.
func reserveThreads() {
	const most = 8         // for waiting, reading orders, signaling, and the runtime
	debug.SetGCPercent(-1) // GC workers would need more threads; this process hardly allocates
	var began, ended sync.WaitGroup
	release := make(chan struct{})
	for range most {
		began.Add(1)
		ended.Go(func() { // ends below
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			began.Done()
			<-release
		})
	}
	began.Wait()
	close(release)
	ended.Wait()
}

// supervisor owns a command and everything that it started.
type supervisor struct {
	leader int                     // pid of the command, also its process group and session
	linger time.Duration           // how long processes that it leaves may continue
	over   chan syscall.WaitStatus // receives the command's exit status
	none   chan struct{}           // closed when no process is left
}

// reap waits for all children, including adopted orphans, until there are none. It ends with this
// process.
func (s *supervisor) reap() {
	defer close(s.none)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return
		case pid == s.leader:
			s.over <- status
		}
	}
}

// await returns when the command has ended, by itself or because of an order, and everything that
// it started has ended.
func (s *supervisor) await(ended <-chan bool) report {
	var status syscall.WaitStatus
	var r report
	select {
	case status = <-s.over:
		r.Left = s.leave(ended)
	case gently := <-ended:
		r.Told = true
		s.end(gently, ended)
		status = <-s.over
	}
	if status.Signaled() {
		r.Signal = status.Signal()
	} else {
		r.Code = status.ExitStatus()
	}
	return r
}

// leave ends the processes that the command left, and returns their number.
func (s *supervisor) leave(ended <-chan bool) int {
	if adoptsOrphans {
		select {
		case <-s.none:
			return 0
		case <-time.After(s.linger):
		case <-ended:
		}
	}
	left := signalAll(s.leader, syscall.SIGTERM)
	s.end(true, ended)
	return left
}

// end ends all processes and returns when none is left. With gently, they get SIGTERM and some time
// first.
func (s *supervisor) end(gently bool, ended <-chan bool) {
	if gently {
		signalAll(s.leader, syscall.SIGTERM)
		signalAll(s.leader, syscall.SIGCONT) // a stopped process cannot handle SIGTERM
		select {
		case <-s.none:
		case <-ended:
		case <-time.After(grace):
		}
	}
	for {
		signalAll(s.leader, syscall.SIGSTOP) // stopped first: killing one makes room for a new one
		signalAll(s.leader, syscall.SIGKILL)
		select {
		case <-s.none:
			return
		case <-time.After(pause): // a process may have started others just before it was killed
		}
	}
}
