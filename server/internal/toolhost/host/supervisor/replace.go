package supervisor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// succession decides which revision of the plugin gets the calls: that of the catalog, or the one
// with which an operator replaces it. The mutex of its supervisor guards its fields, because the
// machine and they have to agree.
type succession struct {
	of        *Supervisor
	revisions map[string]*catalog.Plugin // what may be launched, by digest
	takeovers int                        // takeovers that run and have launched another revision
	ordered   int                        // operators that wait for another revision
	gone      bool                       // the plugin's file is gone
}

// addOrders changes the number of operators that wait for another revision. While there is one,
// every revision has to start before it takes over. This also holds if the catalog offers the
// revision before it is the operator's turn.
func (c *succession) addOrders(n int) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.ordered += n
}

// beginTakeover allows the supervisor and the catalog to differ until endTakeover.
func (c *succession) beginTakeover() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.takeovers++
}

func (c *succession) endTakeover() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.takeovers--
	c.reconcileLocked()
	c.forgetRevisionsLocked()
}

// needsStart reports whether a revision must start before it takes over. A plugin that has never
// been used is not started just because its file has changed, and a disabled one is never started.
func (c *succession) needsStart(why cause) bool {
	if c.of.cfg.Settings().Disabled(c.of.name) {
		return false
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return why != offered || c.ordered > 0 || c.of.machine.Report(time.Now()).Launched
}

// lockIdle locks s.mu at a moment when no restart is in progress. A revision must not be refused
// only because a restart is in progress.
func (c *succession) lockIdle(ctx context.Context) error {
	for {
		c.of.mu.Lock()
		in := c.of.instances[c.of.machine.Replacing()]
		if in == nil {
			return nil
		}
		c.of.mu.Unlock()
		_ = in.awaitReady(ctx) // Restart reports this error
		if ctx.Err() != nil {
			return tool.AsError(context.Cause(ctx))
		}
	}
}

// replace launches another revision while the present one runs, and returns when calls go to the
// new one. The error wraps errSuperseded if the revision is not at fault.
func (c *succession) replace(ctx context.Context, p *catalog.Plugin, why cause) error {
	if err := c.lockIdle(ctx); err != nil {
		return err
	}
	c.revisions[p.Digest] = p
	var refused error
	c.of.applyLocked(func(m *lifecycle.Machine, now time.Time) (actions []lifecycle.Action) {
		if why == rolledBack {
			actions, refused = m.Rollback(now, p.Digest)
		} else {
			actions, refused = m.Replace(now, p.Digest)
		}
		return actions
	})
	in := c.of.instances[c.of.machine.Replacing()]
	c.of.mu.Unlock()
	if refused != nil {
		return fmt.Errorf("%w: %w", errSuperseded, refused)
	}
	if in != nil {
		if err := in.awaitReady(ctx); err != nil && in.stopReason() != "" {
			return fmt.Errorf("%w: %w", errSuperseded, err)
		} else if err != nil {
			return err
		}
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if routed, _ := c.of.machine.Revision(); routed != p.Digest {
		return tool.Errorf(tool.KindUnavailable, "%w", errSuperseded)
	}
	return nil
}

// reconcile sends calls to the revision that the catalog has in service. The catalog changes some
// revisions without the supervisor: a plugin's file disappears and returns, or its name passes to
// another plugin. During a takeover, the supervisor and the catalog may differ. The end of the
// takeover reconciles them.
func (c *succession) reconcile() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.reconcileLocked()
}

func (c *succession) reconcileLocked() {
	snapshot := c.of.cfg.Catalog.Snapshot()
	p := snapshot.Plugin(c.of.name)
	switch {
	case p == nil && !c.gone: // calls that run finish
		c.gone = true
		c.of.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
			return m.Disable(now, whyGone(snapshot, c.of.name))
		})
	case p == nil:
	case c.gone:
		c.gone = false
		c.adoptLocked(p)
		c.of.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Disable(now, "") })
	case c.takeovers == 0:
		c.adoptLocked(p)
	}
}

// adoptLocked sends calls to the revision that is in service.
func (c *succession) adoptLocked(p *catalog.Plugin) {
	if known := c.revisions[p.Digest]; known == nil || known.Source != p.Source {
		c.revisions[p.Digest] = p
	}
	routed, _ := c.of.machine.Revision()
	if routed == p.Digest {
		return
	}
	c.of.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Adopt(now, p.Digest) })
	c.forgetRevisionsLocked()
}

// forgetRevisionsLocked removes the revisions that cannot be launched any more. A takeover in
// progress may still launch its revision.
func (c *succession) forgetRevisionsLocked() {
	if c.takeovers > 0 {
		return
	}
	routed, _ := c.of.machine.Revision()
	maps.DeleteFunc(c.revisions, func(digest string, _ *catalog.Plugin) bool { return digest != routed })
}

// errSuperseded says that a revision did not take over because another change came first, and not
// because of a fault of the revision.
var errSuperseded = errors.New("another change came first")
