package process

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"
)

// shutdownMethod is go-plugin's RPC that asks a plugin to end. go-plugin's client for it is not
// exported, and calls it without a deadline.
const shutdownMethod = "/plugin.GRPCController/Shutdown"

// Stop ends the process gracefully. It ends the stream of calls and asks the plugin to shut down,
// waits up to grace (0: StopTimeout) for the exit, sends SIGTERM to the group, waits up to
// StopTimeout, and kills the group. When ctx ends, it kills at once. Stop returns when Done is
// closed. An error means that even a killed process did not end within StopTimeout. Its release
// then goes on in the background. Stop may be called more than once, and concurrently with Kill.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	if grace <= 0 {
		grace = p.cfg.StopTimeout
	}
	p.because("toolhost stopped it")
	p.mu.Lock()
	p.stopping = true
	p.mu.Unlock()
	gentle, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if p.askToShutDown(gentle); p.gone(gentle) {
		return nil
	}
	if ctx.Err() == nil {
		p.child.signalGroup(syscall.SIGTERM)
		p.child.signalGroup(syscall.SIGCONT) // a stopped process does not handle other signals
		term, cancel := context.WithTimeout(ctx, p.cfg.StopTimeout)
		defer cancel()
		if p.gone(term) {
			return nil
		}
	}
	p.kill("")
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.cfg.StopTimeout+strayPatience)
	defer cancel()
	if !p.gone(bound) {
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
	_ = p.conn.Close()
	if channel := p.channel(); channel != nil {
		_ = channel.Invoke(ctx, shutdownMethod, &emptypb.Empty{}, &emptypb.Empty{})
	}
}

func (p *Process) gone(ctx context.Context) bool {
	select {
	case <-p.done:
		return true
	case <-ctx.Done():
		return false
	}
}
