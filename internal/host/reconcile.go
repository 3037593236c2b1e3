package host

import (
	"maps"
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
)

// reconcile makes the routing of every plugin that was used what the catalogue says.
func (h *Host) reconcile() {
	for _, s := range h.allSupervisors() {
		s.reconcile()
	}
}

// reconcile makes the routing what the catalogue says, which decides some things by itself: a plugin goes with its file
// and comes back with it, and the name of one that is gone may be another's.
func (s *supervisor) reconcile() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reconcileLocked()
}

func (s *supervisor) reconcileLocked() {
	snapshot := s.host.cfg.Catalog.Snapshot()
	p := snapshot.Plugin(s.name)
	switch {
	case p == nil && !s.gone: // its calls end
		s.gone = true
		s.tellLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
			return m.Disable(now, whyGone(snapshot, s.name))
		})
	case p == nil:
	case s.gone:
		s.gone = false
		s.adopt(p)
		s.tellLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Disable(now, "") })
	case s.takeovers == 0: // else the two may differ until the takeover has ended
		s.adopt(p)
	}
}

// whyGone says why a plugin that was in service is not any more: its file is gone, or may not be used.
func whyGone(snapshot *catalog.Snapshot, name string) string {
	for _, p := range snapshot.Plugins() {
		if p.Info.Name == name && p.Problem != "" {
			return p.Problem
		}
	}
	return "its file is gone"
}

// adopt routes calls to what is in service. s.mu is held.
func (s *supervisor) adopt(p *catalog.Plugin) {
	if known := s.revisions[p.Digest]; known == nil || known.Source != p.Source {
		s.revisions[p.Digest] = p
	}
	routed, _ := s.machine.Revision()
	if routed == p.Digest {
		return
	}
	s.host.cfg.Logger.Info("what is in service was replaced", "plugin", s.name, "digest", p.Digest, "previous", routed)
	s.tellLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action { return m.Adopt(now, p.Digest) })
	s.forgetRevisions()
}

// forgetRevisions forgets what can be launched no more. s.mu is held.
func (s *supervisor) forgetRevisions() {
	if s.takeovers > 0 {
		return // one may be on its way
	}
	routed, _ := s.machine.Revision()
	maps.DeleteFunc(s.revisions, func(digest string, _ *catalog.Plugin) bool { return digest != routed })
}

// order counts the orders for another revision; by is 1 or -1. As long as there is one, nothing takes over that was not
// warmed, also if the catalogue offers what is ordered before its turn has come.
func (s *supervisor) order(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orders += by
}

// beginTakeover says that routing and catalogue may differ until endTakeover is called, which makes them the same.
func (s *supervisor) beginTakeover() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeovers++
}

func (s *supervisor) endTakeover() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeovers--
	s.reconcileLocked()
	s.forgetRevisions()
}
