package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// takeover is a revision on its way into service. upgraded and err may be read once done is closed.
type takeover struct {
	done     chan struct{}
	upgraded tool.Upgraded
	err      error
}

// cause is why a revision is to take over.
type cause string

const (
	offered  cause = "offered"   // the catalogue found it; it counts only as long as it is a candidate
	ordered  cause = "ordered"   // an operator wants what the file holds
	goneBack cause = "gone back" // an operator wants the one before
)

// takeoverKey names a takeover.
type takeoverKey struct {
	source, digest string
	why            cause
}

// errSuperseded says that a revision did not take over for a reason that is not its own.
var errSuperseded = errors.New("another change came first")

// takeOver brings a revision into service, on the host's context. Asked again while it is under way, it returns the
// same.
func (h *Host) takeOver(p *catalog.Plugin, why cause) *takeover {
	key := takeoverKey{p.Source, p.Digest, why}
	h.mu.Lock()
	t := h.takeovers[key]
	if t != nil {
		h.mu.Unlock()
		return t
	}
	t = &takeover{done: make(chan struct{})}
	h.takeovers[key] = t
	h.mu.Unlock()
	// Owned by the host: bounded by LaunchTimeout and the host's context.
	started := h.spawn(func() {
		h.carryOver(t, p, why)
		h.forgetTakeover(key, t)
		// A revision that became a candidate again just now was taken for the one that was ending.
		for _, candidate := range h.cfg.Catalog.Snapshot().Candidates() {
			if candidate.Source == p.Source {
				h.takeOver(candidate, offered)
			}
		}
	})
	if !started {
		t.err = tool.Errorf(tool.KindUnavailable, "%w", errStopping)
		h.forgetTakeover(key, t)
	}
	return t
}

func (h *Host) forgetTakeover(key takeoverKey, t *takeover) {
	h.mu.Lock()
	delete(h.takeovers, key)
	h.mu.Unlock()
	close(t.done)
}

// wait returns how the takeover ended.
func (t *takeover) wait(ctx context.Context) error {
	select {
	case <-t.done:
		return t.err
	case <-ctx.Done():
		return tool.AsError(context.Cause(ctx))
	}
}

// carryOver does a takeover once its turn has come: one at a time for each plugin, so that what was decided last holds.
func (h *Host) carryOver(t *takeover, p *catalog.Plugin, why cause) {
	release, err := h.turns.take(h.ctx, p.Source)
	if err != nil {
		t.err = tool.Errorf(tool.KindUnavailable, "%w", errStopping)
		return
	}
	defer release()
	current := h.cfg.Catalog.Snapshot().Plugin(p.Info.Name)
	if current != nil {
		t.upgraded = tool.Upgraded{Digest: p.Digest, PreviousDigest: current.Digest}
	}
	switch {
	case current != nil && current.Source == p.Source && current.Digest == p.Digest:
		return
	case why == offered && !h.offers(p):
		return
	case why == goneBack && h.cfg.Catalog.Previous(p.Info.Name) != p.Digest:
		// The turn before this one brought another in: what that has replaced is the one before now.
		if p, t.err = h.cfg.Catalog.Rollback(p.Info.Name); t.err != nil {
			return
		}
		t.upgraded.Digest = p.Digest
	}
	t.err = h.bringIn(p, current, why)
}

// offers reports whether the revision is a candidate now.
func (h *Host) offers(p *catalog.Plugin) bool {
	return slices.ContainsFunc(h.cfg.Catalog.Snapshot().Candidates(), func(c *catalog.Plugin) bool {
		return c.Source == p.Source && c.Digest == p.Digest
	})
}

// bringIn launches a revision beside what runs; once it is ready it takes the calls, and the catalogue offers its tools.
// If it does not get ready, what runs stays.
func (h *Host) bringIn(p, current *catalog.Plugin, why cause) error {
	if current == nil || current.Source != p.Source {
		return h.activate(p) // another plugin has its name: none of its processes runs, and none of its tools is called
	}
	// Made if there is none, so that a call that is on its way to make it cannot bring back the old revision.
	s := h.supervisor(current)
	if !s.wantsWarm(why) {
		defer s.reconcile()
		return h.activate(p)
	}
	s.beginTakeover()
	defer s.endTakeover()
	if err := s.warm(h.ctx, p, why); err != nil {
		h.noteFailure(s.name, err) // before it is no candidate any more
		h.cfg.Logger.Error("the other executable did not take over; what ran before stays", "plugin", s.name, "digest", p.Digest, "error", err)
		if h.ctx.Err() == nil && !errors.Is(err, errSuperseded) {
			err = errors.Join(err, h.cfg.Catalog.Reject(p, "the new executable did not start: "+err.Error()))
		}
		return err
	}
	return h.activate(p)
}

// activate makes the catalogue offer a revision, and remember that.
func (h *Host) activate(p *catalog.Plugin) error {
	log := h.cfg.Logger.With("plugin", p.Info.Name, "digest", p.Digest)
	err := h.cfg.Catalog.Activate(p)
	if errors.Is(err, catalog.ErrNotKept) {
		log.Warn("the upgrade holds, but is not written down", "error", err)
		err = nil
	}
	if err == nil {
		log.Info("upgraded")
	}
	return err
}

// wantsWarm reports whether a revision has to show that it starts before it takes over. A changed file alone starts no
// process of a plugin that nobody has used, and nothing starts one that is switched off.
func (s *supervisor) wantsWarm(why cause) bool {
	if s.host.cfg.Disabled(s.name) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return why != offered || s.orders > 0 || s.machine.Launched()
}

// lockIdle locks s.mu at a moment when no restart is under way, which is no reason to turn a revision down.
func (s *supervisor) lockIdle(ctx context.Context) error {
	for {
		s.mu.Lock()
		in := s.instances[s.machine.Replacing()]
		if in == nil {
			return nil
		}
		s.mu.Unlock()
		_ = in.awaitReady(ctx) // how the restart ends is not this one's matter
		if ctx.Err() != nil {
			return tool.AsError(context.Cause(ctx))
		}
	}
}

// warm launches another revision beside what runs, and returns once it takes the calls. The error wraps errSuperseded
// if that is not for the revision to answer for.
func (s *supervisor) warm(ctx context.Context, p *catalog.Plugin, why cause) error {
	if err := s.lockIdle(ctx); err != nil {
		return err
	}
	s.revisions[p.Digest] = p
	var refused error
	s.tellLocked(func(m *lifecycle.Machine, now time.Time) (actions []lifecycle.Action) {
		if why == goneBack {
			actions, refused = m.Rollback(now, p.Digest)
		} else {
			actions, refused = m.Replace(now, p.Digest)
		}
		return actions
	})
	in := s.instances[s.machine.Replacing()]
	s.mu.Unlock()
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if routed, _ := s.machine.Revision(); routed != p.Digest {
		return tool.Errorf(tool.KindUnavailable, "%w", errSuperseded)
	}
	return nil
}

// turns let one takeover at a time change a plugin file. The zero value is ready for use.
type turns struct {
	mu       sync.Mutex
	bySource map[string]*turn // those that somebody has or waits for
}

type turn struct {
	taken  chan struct{} // holds one token
	wanted int
}

// take waits for the source's turn, and returns what gives it back.
func (t *turns) take(ctx context.Context, source string) (release func(), err error) {
	t.mu.Lock()
	own := t.bySource[source]
	if own == nil {
		if t.bySource == nil {
			t.bySource = map[string]*turn{}
		}
		own = &turn{taken: make(chan struct{}, 1)}
		t.bySource[source] = own
	}
	own.wanted++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.wanted--; own.wanted == 0 {
			delete(t.bySource, source)
		}
	}
	select {
	case own.taken <- struct{}{}:
		return func() { <-own.taken; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
