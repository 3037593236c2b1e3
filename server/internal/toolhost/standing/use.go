package standing

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Call is a call that needs an approval, with its final arguments.
type Call struct {
	Principal, Via, Agent string
	Tool, Rule            string
	Run, Session          string
	// Definition returns the digest of the definition of the tool. It is called only if everything
	// but the arguments fits, and once.
	Definition func() string
	// RuleSHA256 is the digest of the rule Rule.
	RuleSHA256 string
	// Object returns the arguments as encoding/json decodes them with UseNumber.
	Object func() map[string]any
}

// Match returns the standing approval that approves a call, the oldest if there are several. ok is
// false if there is none, or if it may have been revoked at another toolhost. It does not block.
func (s *Store) Match(c Call) (_ tool.StandingApproval, ok bool) {
	if !s.fresh() {
		return tool.StandingApproval{}, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	now, definition := s.cfg.Now(), sync.OnceValue(c.Definition)
	for _, e := range s.inForce[c.Principal] {
		if e.fits(&c, now) && e.approval.DefinitionSHA256 == definition() && e.template.matches(c.Object()) {
			return e.approval, true
		}
	}
	return tool.StandingApproval{}, false
}

// fits reports whether everything fits a call but the definition of the tool and the arguments.
func (e *entry) fits(c *Call, now time.Time) bool {
	a := &e.approval
	if a.Principal != c.Principal || a.Via != c.Via || a.Agent != c.Agent || a.Tool != c.Tool || a.Rule != c.Rule || e.rule != c.RuleSHA256 || !now.Before(a.Expires) {
		return false
	}
	switch a.Scope {
	case tool.ScopeRun:
		return a.Run != "" && a.Run == c.Run
	case tool.ScopeSession:
		return a.Session != "" && a.Session == c.Session
	case tool.ScopePrincipal:
		return true
	}
	return false
}

// InForce reports whether an approval is in force, and was not revoked at another toolhost.
func (s *Store) InForce(id string) bool {
	if !s.fresh() {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	e := s.byID[id]
	return e != nil && e.approval.Ended.IsZero() && s.cfg.Now().Before(e.approval.Expires)
}

// Get returns an approval that is in force or remembered.
func (s *Store) Get(id string) (_ tool.StandingApproval, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e := s.byID[id]
	if e == nil {
		return tool.StandingApproval{}, false
	}
	return e.approval, true
}

// All returns the approvals that a function accepts, the newest first. The function must not call
// the store.
func (s *Store) All(accept func(*tool.StandingApproval) bool) []tool.StandingApproval {
	s.mu.RLock()
	var found []*entry
	for _, e := range s.byID {
		if accept(&e.approval) {
			found = append(found, e)
		}
	}
	all := make([]tool.StandingApproval, len(found))
	slices.SortFunc(found, func(a, b *entry) int { return cmp.Compare(b.number, a.number) })
	for i, e := range found {
		all[i] = e.approval
	}
	s.mu.RUnlock()
	return all
}

// Next returns when the next approval expires, the zero time if there is none, and a channel that
// is closed when that changes.
func (s *Store) Next() (expires time.Time, changed <-chan struct{}) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.soonest, s.changed
}

// Len returns the number of approvals in force.
func (s *Store) Len() (n int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, held := range s.inForce {
		n += len(held)
	}
	return n
}
