package standing

import (
	"context"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/tool"
)

// Revoke ends an approval. It returns the approval as it is then; first reports whether this call
// has ended it. The approval is not used any more, whether or not there is an error. After an
// error, it would come into force again with the next start; each later end is written together
// with it.
func (s *Store) Revoke(ctx context.Context, id, by string) (_ tool.StandingApproval, first bool, err error) {
	ended, err := s.end(ctx, tool.ApprovalRevoked, by, func(e *entry) bool { return e.approval.ID == id })
	now, _ := s.Get(id)
	return now, len(ended) > 0, err
}

// End ends the approvals in force that a function accepts, and returns them. About errors, see
// Revoke.
func (s *Store) End(ctx context.Context, why tool.ApprovalEnd, accept func(*tool.StandingApproval) bool) ([]tool.StandingApproval, error) {
	return s.end(ctx, why, "", func(e *entry) bool { return accept(&e.approval) })
}

// EndOtherRules ends the approvals in force whose rule of the policy has another digest now, and
// returns them. digest returns the digest of the rule with a name; empty: there is none. About
// errors, see Revoke.
func (s *Store) EndOtherRules(ctx context.Context, digest func(rule string) string) ([]tool.StandingApproval, error) {
	return s.end(ctx, tool.ApprovalChanged, "", func(e *entry) bool { return e.approval.Rule != "" && digest(e.approval.Rule) != e.rule })
}

func (s *Store) end(ctx context.Context, why tool.ApprovalEnd, by string, accept func(*entry) bool) ([]tool.StandingApproval, error) {
	now := s.cfg.Now().UTC().Round(0)
	s.mu.Lock()
	ended := s.endLocked(func(e *entry) bool {
		if !accept(e) {
			return false
		}
		e.approval.Ended, e.approval.End, e.approval.RevokedBy, e.reported = now, why, by, false
		s.unwritten = append(s.unwritten, e)
		return true
	})
	s.mu.Unlock()
	return ended, s.Write(ctx)
}

// endLocked moves the approvals in force for which ends returns true to those that have ended. ends
// has set their end.
func (s *Store) endLocked(ends func(*entry) bool) (ended []tool.StandingApproval) {
	again := false // the one that expires first has ended
	for principal, held := range s.inForce {
		left := slices.DeleteFunc(slices.Clone(held), func(e *entry) bool {
			if !ends(e) {
				return false
			}
			ended = append(ended, e.approval)
			s.addEndedLocked(e)
			s.inTenant[identity.TenantOf(principal)]--
			again = again || !e.approval.Expires.After(s.soonest)
			return true
		})
		if s.inForce[principal] = left; len(left) == 0 {
			delete(s.inForce, principal)
			if tenant := identity.TenantOf(principal); s.inTenant[tenant] == 0 {
				delete(s.inTenant, tenant)
			}
		}
	}
	if again {
		s.findSoonestLocked()
	}
	if len(ended) > 0 {
		s.signalLocked()
	}
	return ended
}

// Write writes what has changed in memory, and the file or the database does not have yet. Shorten
// and an end that could not be written leave such changes.
func (s *Store) Write(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.RLock()
	count := len(s.unwritten)
	rows := make([]Row, count)
	var err error
	for i := 0; i < count && err == nil; i++ {
		rows[i], err = s.unwritten[i].row()
	}
	s.mu.RUnlock()
	if err != nil || count == 0 { // also if another change was written together with those of this caller
		return err
	}
	if err := s.rows.Update(ctx, rows); err != nil {
		return notWritten(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unwritten = slices.Delete(s.unwritten, 0, count) // changes are only added, behind these
	return nil
}

// Shorten lets no approval expire later than longest after its creation, neither those that exist
// nor those that Create creates later. It returns those that it changed. A longer time than before
// changes none. It does not block: call Write to write the file.
func (s *Store) Shorten(longest time.Duration) []tool.StandingApproval {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.longest = longest
	var shorter []tool.StandingApproval
	for _, held := range s.inForce {
		for _, e := range held {
			if boundLocked(e, longest) {
				s.unwritten, shorter = append(s.unwritten, e), append(shorter, e.approval)
			}
		}
	}
	if len(shorter) > 0 {
		s.findSoonestLocked()
		s.signalLocked()
	}
	return shorter
}

// boundLocked lets an approval expire at most longest after its creation, and reports whether that
// changed it.
func boundLocked(e *entry, longest time.Duration) bool {
	latest := e.approval.Created.Add(longest)
	if longest == 0 || !e.approval.Expires.After(latest.Add(expirySlack)) {
		return false
	}
	e.approval.Expires = latest
	return true
}

// Unreported returns the approvals that have ended, and whose end Reported has not been called for:
// the process was killed before the audit log had the end, or the log could not be written.
func (s *Store) Unreported() []tool.StandingApproval {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []tool.StandingApproval
	for _, e := range s.byID {
		if !e.approval.Ended.IsZero() && !e.reported {
			all = append(all, e.approval)
		}
	}
	slices.SortFunc(all, func(a, b tool.StandingApproval) int { return a.Ended.Compare(b.Ended) })
	return all
}

// Reported notes that the audit log has the end of an approval.
func (s *Store) Reported(ctx context.Context, id string) error {
	s.mu.Lock()
	e := s.byID[id]
	if e == nil || e.approval.Ended.IsZero() || e.reported {
		s.mu.Unlock()
		return nil
	}
	e.reported = true
	s.unwritten = append(s.unwritten, e)
	s.mu.Unlock()
	return s.Write(ctx)
}

// forget removes approvals that ended long ago. If it remembers too many, it removes the oldest of
// the tenants that have the most, so that one tenant does not push out what another one needs.
// writing is held, or no other goroutine uses the store yet. Without any to remove, its work grows
// with the number of tenants, and not with that of approvals.
func (s *Store) forget(ctx context.Context) error {
	before := s.cfg.Now().Add(-keepEnded)
	var gone []*entry
	left, count := map[string][]*entry{}, 0 // of each tenant, those that stay
	s.mu.RLock()
	for tenant, of := range s.ended {
		old, known := 0, len(gone)
		var unreported []*entry
		for ; old < len(of) && of[old].approval.Ended.Before(before); old++ {
			if e := of[old]; e.reported {
				gone = append(gone, e)
			} else {
				unreported = append(unreported, e)
			}
		}
		if len(gone) > known {
			of = append(unreported, of[old:]...)
		}
		left[tenant], count = of, count+len(of)
	}
	for ; count >= s.cfg.MaxEnded; count-- {
		most := ""
		for tenant, of := range left {
			if len(of) > len(left[most]) {
				most = tenant
			}
		}
		gone, left[most] = append(gone, left[most][0]), left[most][1:]
	}
	s.mu.RUnlock()
	if len(gone) == 0 {
		return nil
	}
	numbers := make([]int64, len(gone))
	for i, e := range gone {
		numbers[i] = e.number
	}
	if err := s.rows.Remove(ctx, numbers); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range gone {
		s.forgetLocked(e)
	}
	return nil
}

// forgetLocked removes an approval that has ended.
func (s *Store) forgetLocked(e *entry) {
	s.dropEndedLocked(e)
	delete(s.byID, e.approval.ID)
	if key := [2]string{e.approval.Principal, e.request}; s.requests[key] == e {
		delete(s.requests, key)
	}
}

// dropEndedLocked removes an approval from ended. It is among the first of its tenant.
func (s *Store) dropEndedLocked(e *entry) {
	tenant := identity.TenantOf(e.approval.Principal)
	of := s.ended[tenant]
	if at := slices.Index(of, e); at == 0 {
		of[0], of = nil, of[1:]
	} else if at > 0 {
		of = slices.Delete(of, at, at+1)
	}
	if s.ended[tenant] = of; len(of) == 0 {
		delete(s.ended, tenant)
	}
}
