package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	// yield is how long a supervisor may take to end its command, after which it is killed itself: a little more than it
	// gives its command.
	yield = grace + 600*time.Millisecond
	// drain is how long the rest of the output is waited for when nothing that could write it should be left.
	drain = time.Second
)

// launcher starts commands, each below a supervisor of its own, and knows which children of this process are
// supervisors: any other child is what a supervisor lost that was killed, because this process adopts orphans.
type launcher struct {
	self     string
	selfErr  error
	linger   time.Duration // how long what a command leaves running may go on
	patience time.Duration // how long a sweep may take
	abandon  func()        // ends this process, and with it, by toolhost, all that it started

	mu      sync.Mutex
	running map[int]*exec.Cmd
}

// newLauncher makes this process the parent of orphans, where the system can.
func newLauncher() *launcher {
	l := &launcher{linger: linger, patience: drain, abandon: abandon, running: map[int]*exec.Cmd{}}
	l.self, l.selfErr = self()
	if err := adoptOrphans(); err != nil {
		l.selfErr = errors.Join(l.selfErr, err)
	}
	return l
}

// abandon ends this process. toolhost then kills whatever is in its control group and its namespace at one stroke, which no
// process can do to others that it has to look for first.
func abandon() {
	fmt.Fprintln(os.Stderr, "shell: a command starts processes faster than they can be ended; this process ends, so that toolhost ends them with it. "+
		"The limit `processes` of the plugin in toolhost.yaml keeps them few.")
	os.Exit(1)
}

// job is one command.
type job struct {
	command []string // the program and its arguments
	folder  *os.File // the working directory
	env     []string
	stdin   *os.File  // nil: nothing to read
	stdout  io.Writer // both are written from goroutines of their own, which run waits for
	stderr  io.Writer
}

// errLost means that the supervisor was killed or could not report.
var errLost = errors.New("the process that watches over the command was killed or got stuck, or the command left no room for a process, so that the exit code is not known; " +
	"all that was found of the command has been ended")

// run runs a command until it ends by itself or ctx does, and returns when nothing that it started is left. If the error
// is errLost, it was run nevertheless.
func (l *launcher) run(ctx context.Context, j job) (report, error) {
	if l.selfErr != nil {
		return report{}, l.selfErr
	}
	p, err := openPipes()
	if err != nil {
		return report{}, err
	}
	defer p.close()
	cmd := &exec.Cmd{
		Path: l.self, Args: []string{"toolhost-shell", superviseArgument}, Env: j.env,
		Stdout:     p.stdout.w,
		ExtraFiles: []*os.File{p.orders.r, p.report.w, j.folder, p.stderr.w},
		// A signal for the plugin's group must not end who has to end the command.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if j.stdin != nil {
		cmd.Stdin = j.stdin
	}
	if err := l.start(cmd); err != nil {
		return report{}, fmt.Errorf("starting the process that watches over the command: %w", err)
	}
	p.closeChild()
	var copying sync.WaitGroup
	copying.Go(func() { _, _ = io.Copy(j.stdout, p.stdout.r) }) // end with the deadline below at the latest
	copying.Go(func() { _, _ = io.Copy(j.stderr, p.stderr.r) })
	l.await(ctx, cmd, p, j.command)
	r, err := p.readReport()
	if err != nil && !l.sweep() {
		l.abandon()
	}
	deadline := time.Now().Add(drain)
	_ = p.stdout.r.SetReadDeadline(deadline) // pipes always take one
	_ = p.stderr.r.SetReadDeadline(deadline)
	copying.Wait()
	return r, err
}

// start holds the lock across the fork, which does not wait for anybody, so that no sweep takes the new process for an
// orphan.
func (l *launcher) start(cmd *exec.Cmd) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	l.running[cmd.Process.Pid] = cmd
	return nil
}

// await hands a supervisor its order and waits for its end, which it asks for when ctx ends, and enforces.
func (l *launcher) await(ctx context.Context, cmd *exec.Cmd, p *pipes, command []string) {
	exited := make(chan struct{})
	go func() { // ends with the process, which is killed below at the latest
		defer close(exited)
		_ = cmd.Wait() // what it reported counts
	}()
	stop := context.AfterFunc(ctx, func() { _ = p.orders.w.SetWriteDeadline(time.Now()) })
	err := json.NewEncoder(p.orders.w).Encode(order{Command: command, Linger: l.linger})
	stop()
	if err == nil {
		select {
		case <-exited:
		case <-ctx.Done():
			_ = p.orders.w.SetWriteDeadline(time.Now().Add(yield))
			_, _ = p.orders.w.Write([]byte{'\n'}) // if it fails, the supervisor is about to be killed
			select {
			case <-exited:
			case <-time.After(yield):
			}
		}
	}
	_ = cmd.Process.Kill() // it has ended, unless it is stopped, stuck, or has no order
	<-exited
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[cmd.Process.Pid] == cmd { // the number may have been given away
		delete(l.running, cmd.Process.Pid)
	}
}

// sweep ends the processes that lost their supervisor, and all below them. It reports whether none is left.
func (l *launcher) sweep() bool {
	for deadline := time.Now().Add(l.patience); ; time.Sleep(pause) {
		strays := l.strays()
		switch {
		case len(strays) == 0:
			return true
		case !time.Now().Before(deadline):
			return false
		}
		signalEach(strays, syscall.SIGSTOP) // for a dead one there would be room for another
		for _, r := range l.strays() {
			if r.ended && r.parent == os.Getpid() {
				_, _ = syscall.Wait4(r.pid, nil, syscall.WNOHANG, nil)
			} else if !r.ended {
				r.signal(syscall.SIGKILL)
			}
		}
	}
}

// strays returns what descends from this process without a supervisor between.
func (l *launcher) strays() []relative {
	l.mu.Lock()
	defer l.mu.Unlock()
	watched := map[int]bool{}
	var strays []relative
	for _, r := range descendants(os.Getpid()) { // parents come before their children
		if l.running[r.pid] != nil || watched[r.parent] {
			watched[r.pid] = true
			continue
		}
		strays = append(strays, r)
	}
	return strays
}
