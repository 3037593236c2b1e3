package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolhost/toolhost/internal/host/pluginconn"
)

// probePatience is how long a new call waits for a probe before it looks for another instance. The
// host takes an instance out of service in half of this time, with its default settings.
const probePatience = time.Second

// probe returns nil when the server has answered a request that costs it nothing, which shows that
// it is not stuck. An error is an answer, too: version 2026-07-28 has no ping. Until the server
// answers, no call starts, so that a call does not go to a server that is stuck.
func (c *Conn) probe(ctx context.Context) error {
	c.mu.Lock()
	if c.probes++; c.probes == 1 {
		c.probed = make(chan struct{})
	}
	c.mu.Unlock()
	err := c.session.Ping(ctx, nil)
	c.mu.Lock()
	if c.probes--; c.probes == 0 {
		close(c.probed)
		c.probed = nil
	}
	c.mu.Unlock()
	if _, answered := errors.AsType[*jsonrpc.Error](err); answered {
		return nil
	}
	return err
}

// probing returns a channel that is closed when no probe waits any more; nil if none does.
func (c *Conn) probing() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.probed
}

// awaitProbes waits for the probes. If they take too long, it returns pluginconn.ErrNoRoom, so that
// the host looks for another instance.
func (c *Conn) awaitProbes(ctx context.Context) error {
	probed := c.probing()
	if probed == nil {
		return nil
	}
	timer := time.NewTimer(probePatience)
	defer timer.Stop()
	select {
	case <-probed:
		return nil
	case <-timer.C:
		return pluginconn.ErrNoRoom
	case <-c.done:
		return fmt.Errorf("%w: %w", pluginconn.ErrLost, errEnded)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
