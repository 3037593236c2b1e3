package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
)

// probePatience is how long a new call waits for a probe before it looks for another instance. The
// host takes an instance out of service in half of this time, with its default settings.
const probePatience = time.Second

// probes counts the requests in progress that show whether the server still answers. The zero value
// has none. All methods are safe for concurrent use.
type probes struct {
	mu    sync.Mutex
	count int
	over  chan struct{} // closed when count is 0 again; nil: it is 0
}

func (p *probes) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count++; p.count == 1 {
		p.over = make(chan struct{})
	}
}

func (p *probes) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count--; p.count == 0 {
		close(p.over)
		p.over = nil
	}
}

// pending returns a channel that is closed when no probe waits any more; nil if none does.
func (p *probes) pending() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

// probe returns nil when the server has answered a request that costs it nothing, which shows that
// it is not stuck. An error is an answer, too: version 2026-07-28 has no ping. Until the server
// answers, no call starts, so that a call does not go to a server that is stuck.
func (c *Conn) probe(ctx context.Context) error {
	c.probes.begin()
	err := c.session.Ping(ctx, nil)
	c.probes.end()
	if _, answered := errors.AsType[*jsonrpc.Error](err); answered {
		return nil
	}
	return err
}

// awaitProbes waits for the probes. If they take too long, it returns pluginconn.ErrNoRoom, so that
// the host looks for another instance.
func (c *Conn) awaitProbes(ctx context.Context) error {
	probed := c.probes.pending()
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
		return fmt.Errorf("%w: %w", pluginconn.ErrLost, ErrEnded)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
