package process

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"
)

// shutdownMethod is go-plugin's own way to ask a plugin to end. Its client is not exported, and calls it without a
// deadline.
const shutdownMethod = "/plugin.GRPCController/Shutdown"

// Stop ends the process, gently at first: it ends the stream of calls and asks the plugin to shut down, waits up to
// grace (0: StopTimeout) for it to exit, sends SIGTERM to its group, waits up to StopTimeout, and kills the group. When
// ctx ends, it kills at once. It returns when Done is closed; an error means that even a killed process did not go
// within StopTimeout, and that it goes on trying. It may be called more than once, also beside Kill.
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
		p.child.signalGroup(syscall.SIGCONT) // a stopped process heeds no other
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

// Kill ends the process and its group at once. It does not block; Done says when it is gone.
func (p *Process) Kill() { p.kill("toolhost killed it") }

// askToShutDown tells the plugin that it is over. It returns when the plugin answers or loses its connection, which it
// does on its way out, or when ctx ends.
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
