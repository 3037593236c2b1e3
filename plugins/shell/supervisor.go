package main

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

// superviseArgument makes this program the supervisor of one command: a process between the plugin and the command, to
// which everything that the command starts stays related, whatever group or session it moves to. When the command is over,
// the supervisor ends the rest. It ends with the plugin, because its orders come through a pipe from there.
//
// What the command is comes by the pipe too, not by arguments: pkill -f would find it there.
const superviseArgument = "supervise"

// The descriptors that a supervisor is given besides the command's own three.
const (
	ordersFD = 3 + iota
	reportFD
	folderFD
	stderrFD // the command's: what Go's runtime writes when it ends the supervisor is none of the command's output
)

const (
	// linger is how long what a command left running may usually go on, so that what only has to write out what it was
	// given, such as tee in a process substitution, can.
	linger = 500 * time.Millisecond
	// grace is how long a process may take to end after SIGTERM. A toolhost that cancels a call gives the instance no new
	// ones after half a second.
	grace = 400 * time.Millisecond
	// pause is about what the kernel needs to take a process apart.
	pause = 2 * time.Millisecond
)

// order is what a supervisor is to run. Anything after it, or the end of the pipe, ends the command: gently, or at once.
type order struct {
	Command []string      `json:"command"`
	Linger  time.Duration `json:"linger"` // how long what it leaves running may go on
}

// report is how a command ended.
type report struct {
	Failure string         `json:"failure,omitempty"` // why it was not started
	Code    int            `json:"code"`              // if no signal ended it
	Signal  syscall.Signal `json:"signal,omitempty"`
	Told    bool           `json:"told,omitempty"` // whether it was told to end
	Left    int            `json:"left,omitempty"` // how many processes it left running, which were ended
}

// supervise runs the command that is ordered, and returns the exit code of this process when nothing of it is left.
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
		return 1 // the plugin is gone
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
	// In a session of its own there is no terminal to ask for a password at.
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
	go s.reap()
	ended := make(chan bool, 2)
	go func() { // ends with this process
		_, err := orders.ReadByte()
		ended <- err == nil
		_, _ = orders.ReadByte()
		ended <- false
	}()
	return s.await(ended)
}

// reserveThreads has the runtime start the threads that this process needs until its end, while there is room for them: a command
// that starts as many processes as it may leaves none, and the runtime ends a program that gets no thread.
func reserveThreads() {
	const most = 8         // one that waits for children, one that reads orders, one that signals, and those of the runtime
	debug.SetGCPercent(-1) // its workers would be more; this process allocates next to nothing
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

// supervisor is a command and all that it started.
type supervisor struct {
	leader int                     // the command's process, its group and its session
	linger time.Duration           // how long what it leaves running may go on
	over   chan syscall.WaitStatus // how the command ended
	none   chan struct{}           // closed when nothing is left
}

// reap waits for all children, orphans that became ours among them, until there are none. It ends with this process.
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

// await returns when the command has ended, by itself or because it was told to, and everything else with it.
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

// leave ends what the command left running, and returns how many processes that were.
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

// end ends everything, and returns when nothing is left. Gently means that all get SIGTERM and a while first.
func (s *supervisor) end(gently bool, ended <-chan bool) {
	if gently {
		signalAll(s.leader, syscall.SIGTERM)
		signalAll(s.leader, syscall.SIGCONT) // what is stopped cannot heed it
		select {
		case <-s.none:
		case <-ended:
		case <-time.After(grace):
		}
	}
	for {
		signalAll(s.leader, syscall.SIGSTOP) // for a dead one there would be room for another
		signalAll(s.leader, syscall.SIGKILL)
		select {
		case <-s.none:
			return
		case <-time.After(pause): // what is being killed may just have started others
		}
	}
}
