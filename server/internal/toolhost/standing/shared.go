package standing

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// Shared is a database that keeps the approvals of several toolhosts. Its methods are safe for
// concurrent use.
//
// Toolhosts write without knowing what others have just written. So Update lets the first end of an
// approval win, never puts one into force again, and gives none a later expiry. The memory of each
// toolhost follows the same rule: an end that it knows stays.
type Shared interface {
	Rows
	// Follow calls f with all rows before it returns, and later with those that have changed, or again
	// with all. After an error of f, it is called with all again.
	Follow(ctx context.Context, f func(rows []Row, all bool) error) error
	// Refresh returns after f was called with all that has changed.
	Refresh(ctx context.Context) error
	// Fresh reports whether f has had all changes until so recently that approvals may be used.
	Fresh() bool
}

func openShared(ctx context.Context, cfg Config) (*Store, error) {
	s := newStore(cfg, cfg.Shared)
	if err := cfg.Shared.Follow(ctx, s.followShared); err != nil {
		return nil, fmt.Errorf("reading the standing approvals: %w", err)
	}
	return s, nil
}

func (s *Store) fresh() bool { return s.cfg.Shared == nil || s.cfg.Shared.Fresh() }

// refresh makes the memory have what other toolhosts have written.
func (s *Store) refresh(ctx context.Context) error {
	if s.cfg.Shared == nil {
		return nil
	}
	if err := s.cfg.Shared.Refresh(ctx); err != nil {
		return tool.Errorf(tool.KindUnavailable, "the standing approvals cannot be read: %w", err)
	}
	return nil
}

// followShared takes rows of the database into memory. If they are all that it has, others are
// removed from memory.
func (s *Store) followShared(rows []Row, all bool) error {
	next := make([]*entry, len(rows))
	for i := range rows {
		var err error
		if next[i], err = rows[i].entry(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	listed := make(map[string]bool, len(next))
	for _, e := range next {
		listed[e.approval.ID] = true
		s.takeLocked(e)
	}
	if all {
		s.keepLocked(listed)
	}
	s.findSoonestLocked()
	s.signalLocked()
	return nil
}

// takeLocked takes what the database has of an approval.
func (s *Store) takeLocked(e *entry) {
	had := s.byID[e.approval.ID]
	if had == nil {
		boundLocked(e, s.longest)
		s.addLocked(e)
		return
	}
	if e.approval.Expires.Before(had.approval.Expires) {
		had.approval.Expires = e.approval.Expires
	}
	switch ended := !had.approval.Ended.IsZero(); {
	case e.approval.Ended.IsZero():
		// The database does not have the end yet, or not any more after a failover.
		if ended && !slices.Contains(s.unwritten, had) {
			s.unwritten = append(s.unwritten, had)
		}
	case !ended:
		s.endLocked(func(other *entry) bool {
			if other != had {
				return false
			}
			a := &had.approval
			a.Ended, a.End, a.RevokedBy, had.reported = e.approval.Ended, e.approval.End, e.approval.RevokedBy, e.reported
			return true
		})
	default:
		had.reported = had.reported || e.reported
	}
}

// keepLocked removes all approvals from memory that are not listed.
func (s *Store) keepLocked(listed map[string]bool) {
	s.endLocked(func(e *entry) bool { return !listed[e.approval.ID] })
	for id, e := range s.byID {
		if !listed[id] {
			s.forgetLocked(e)
		}
	}
}
