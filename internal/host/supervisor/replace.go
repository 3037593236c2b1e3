package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// addOrders changes the number of operators that wait for another revision. While there is one,
// every revision has to start before it takes over. This also holds if the catalog offers the
// revision before it is the operator's turn.
func (s *Supervisor) addOrders(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ordered += n
}

// beginTakeover allows the supervisor and the catalog to differ until endTakeover.
func (s *Supervisor) beginTakeover() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeovers++
}

func (s *Supervisor) endTakeover() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeovers--
	s.reconcileLocked()
	s.forgetRevisionsLocked()
}

// needsStart reports whether a revision must start before it takes over. A plugin that has never
// been used is not started just because its file has changed, and a disabled one is never started.
func (s *Supervisor) needsStart(why cause) bool {
	if s.cfg.Settings().Disabled(s.name) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return why != offered || s.ordered > 0 || s.machine.Report(time.Now()).Launched
}

// lockIdle locks s.mu at a moment when no restart is in progress. A revision must not be refused
// only because a restart is in progress.
func (s *Supervisor) lockIdle(ctx context.Context) error {
	for {
		s.mu.Lock()
		in := s.instances[s.machine.Replacing()]
		if in == nil {
			return nil
		}
		s.mu.Unlock()
		_ = in.awaitReady(ctx) // Restart reports this error
		if ctx.Err() != nil {
			return tool.AsError(context.Cause(ctx))
		}
	}
}

// replace launches another revision while the present one runs, and returns when calls go to the
// new one. The error wraps errSuperseded if the revision is not at fault.
func (s *Supervisor) replace(ctx context.Context, p *catalog.Plugin, why cause) error {
	if err := s.lockIdle(ctx); err != nil {
		return err
	}
	s.revisions[p.Digest] = p
	var refused error
	s.applyLocked(func(m *lifecycle.Machine, now time.Time) (actions []lifecycle.Action) {
		if why == rolledBack {
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

// errSuperseded says that a revision did not take over because another change came first, and not
// because of a fault of the revision.
var errSuperseded = errors.New("another change came first")
