package process

import (
	"context"
	"fmt"
	"log/slog"
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/store/rmtree"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

// shutdownMethod is go-plugin's RPC that asks a plugin to end. go-plugin's client for it is not
// exported, and calls it without a deadline.
const shutdownMethod = "/plugin.GRPCController/Shutdown"

const (
	// lossGrace is the time for which a process may run without its connection. A dying process
	// loses its connection first, and its exit status, which says more than a kill, follows within
	// milliseconds.
	lossGrace = time.Second
	// drainGrace is the time for which the pipes of a dead process are read if an unknown survivor
	// holds them open.
	drainGrace = 250 * time.Millisecond
	// strayPatience bounds the repeated kill of marked processes that start others as fast as they
	// die.
	strayPatience = 5 * time.Second
)

// Stop ends the process gracefully. It ends the stream of calls and asks the plugin to shut down,
// waits up to grace (0: StopTimeout) for the exit, sends SIGTERM to the group, waits up to
// StopTimeout, and kills the group. When ctx ends, it kills at once. Stop returns when Done is
// closed. An error means that even a killed process did not end within StopTimeout. Its release
// then goes on in the background. Stop may be called more than once, and concurrently with Kill.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	if grace <= 0 {
		grace = p.cfg.StopTimeout
	}
	p.because(p.child(), "toolhost stopped it")
	p.mu.Lock()
	p.stopping = true
	p.mu.Unlock()
	gentle, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if p.askToShutDown(gentle); within(gentle, p.done) {
		return nil
	}
	if ctx.Err() == nil {
		p.child().signalGroup(syscall.SIGTERM)
		p.child().signalGroup(syscall.SIGCONT) // a stopped process does not handle other signals
		term, cancel := context.WithTimeout(ctx, p.cfg.StopTimeout)
		defer cancel()
		if within(term, p.done) {
			return nil
		}
	}
	p.kill("")
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.cfg.StopTimeout+strayPatience)
	defer cancel()
	if !within(bound, p.done) {
		return fmt.Errorf("stopping plugin %q: process %d is still there after SIGKILL", p.cfg.Plugin, p.PID())
	}
	return nil
}

// Kill kills the process and its group. It does not block. Done is closed after the process is
// gone.
func (p *Process) Kill() { p.kill("toolhost killed it") }

// askToShutDown asks the plugin to shut down. It returns when the plugin answers, when the
// connection is lost, as happens during a shutdown, or when ctx ends.
func (p *Process) askToShutDown(ctx context.Context) {
	l, _ := p.launched.get()
	_ = l.session.Close()
	if channel := p.channels.first(); channel != nil {
		_ = channel.Invoke(ctx, shutdownMethod, &emptypb.Empty{}, &emptypb.Empty{})
	}
}

// within waits until done is closed. It returns false if ctx ends before.
func within(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// own watches the process from its launch to its end, and releases its resources.
func (p *Process) own(aborted <-chan struct{}) {
	defer close(p.done)
	select {
	case <-p.spawned.known:
	case <-p.launched.known:
	}
	if child := p.child(); child != nil { // also if the launch has failed meanwhile
		p.watch(child, aborted)
		<-child.exited
	}
	p.release()
}

// watch returns when the process has ended or has been killed.
func (p *Process) watch(child *child, aborted <-chan struct{}) {
	select {
	case <-child.exited:
		return
	case <-p.launched.known:
	case <-aborted:
	}
	l, known := p.launched.get()
	if !known { // otherwise the end of ctx came too late
		p.kill("the launch was abandoned")
		return
	}
	if l.err != nil {
		p.endLaunch(child, l.err, aborted)
		return
	}
	select {
	case <-child.exited:
	case <-p.link.lost:
	case <-l.session.Done():
	}
	p.mu.Lock()
	stopping := p.stopping
	p.mu.Unlock()
	if !stopping && !child.exitsWithin(lossGrace) {
		p.kill("it lost its connection to toolhost")
	}
}

// endLaunch ends a process whose launch failed. If the process ended by itself, its exit says more
// than a kill would, and arrives soon.
func (p *Process) endLaunch(child *child, failure error, aborted <-chan struct{}) {
	select {
	case <-aborted:
		p.kill("the launch was abandoned")
		return
	default:
	}
	if isRefusal(failure) || !child.exitsWithin(lossGrace) {
		p.kill("its launch failed")
	}
}

// kill ends the process, which must exist. It does not block.
func (p *Process) kill(reason string) { p.end(p.child(), reason) }

// end kills the group and cuts the connection, so that no goroutine waits for an answer. It does
// not block. A limit may end the process before others know of it.
func (p *Process) end(child *child, reason string) {
	p.because(child, reason)
	child.signalGroup(syscall.SIGKILL) // first: a process that loses its connection may run on for a moment
	p.link.close()
}

// withdraw kills a process whose protected names have changed, if it exists. Otherwise start checks
// for that later.
func (p *Process) withdraw(reason string) {
	if p.child() != nil {
		p.kill(reason)
	}
}

// because records the reason for ending the process, unless there is a reason already or the
// process has ended.
func (p *Process) because(child *child, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == "" && !child.hasExited() {
		p.reason = reason
	}
}

// release releases all resources. The process is gone, or was never started.
func (p *Process) release() {
	p.drainConn()
	p.link.close()
	if child := p.child(); child != nil {
		if oom, killed := p.resources.outOfMemory(); killed {
			p.mu.Lock()
			p.oom = oom
			p.mu.Unlock()
		}
		if _, err := proc.KillMarked(p.mark, strayPatience); err != nil {
			p.cfg.ownLogger().Warn("ending what the plugin started", "error", err)
		}
		p.streams.drain()
		if p.cfg.Reaper != nil {
			p.cfg.Reaper.Remove(child.id)
		}
	}
	if err := p.resources.holder.Close(); err != nil {
		p.cfg.ownLogger().Warn("ending what the plugin started", "error", err)
	}
	p.names.stop()
	close(p.over)
	<-p.launched.known // soon: the process is gone, and nothing answers
	if l, _ := p.launched.get(); l.session != nil {
		_ = l.session.Close()
	}
	if p.client != nil {
		p.client.Kill() // waits only for goroutines of go-plugin
	}
	p.streams.closePipes()
	p.channels.close()
	if err := rmtree.Remove(p.folder); err != nil {
		p.cfg.ownLogger().Warn("removing the plugin's folder", "error", err)
	}
	p.streams.close()
}

// drainConn waits until everything that the process sent before its end is read. A result that was
// in transit is then used.
func (p *Process) drainConn() {
	l, _ := p.launched.get()
	if l.session == nil {
		return
	}
	timer := time.NewTimer(drainGrace)
	defer timer.Stop()
	select {
	case <-l.session.Done():
	case <-timer.C:
	}
}

// names returns the attributes of log records that name the instance.
func (c *Config) names() []any {
	names := []any{"instance", c.Instance}
	if c.Tenant != "" {
		names = append(names, "tenant", c.Tenant)
	}
	return names
}

// ownLogger returns the logger for what toolhost itself reports about the process.
func (c *Config) ownLogger() *slog.Logger {
	return c.Logger.With(append(c.names(), loglevel.Key, loglevel.Lifecycle, "plugin", c.Plugin)...)
}
