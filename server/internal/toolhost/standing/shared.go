package standing

import (
	"context"
	"fmt"
	"maps"
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
// removed from memory. An approval that cannot be read, such as one of a newer toolhost, is not
// used here and stays in the database as it is.
func (s *Store) followShared(rows []Row, all bool) error {
	next, unreadable := make([]*entry, 0, len(rows)), map[string][2]string{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range rows {
		e, err := rows[i].entry()
		if err == nil {
			next = append(next, e)
			continue
		}
		unreadable[rows[i].ID] = [2]string{rows[i].Principal, rows[i].Request}
		if _, logged := s.unreadable[rows[i].ID]; !logged {
			s.cfg.Logger.Warn("a standing approval in the database cannot be read, such as one of a newer toolhost; it is not used here", "approval", rows[i].ID,
				"principal", rows[i].Principal, "error", err)
		}
	}
	if all {
		s.unreadable = nil
	}
	for _, e := range next {
		delete(s.unreadable, e.approval.ID)
	}
	if len(unreadable) > 0 {
		if s.unreadable == nil {
			s.unreadable = map[string][2]string{}
		}
		maps.Copy(s.unreadable, unreadable)
	}
	listed := make(map[string]bool, len(next))
	for _, e := range next {
		listed[e.approval.ID] = true
		s.takeLocked(e)
	}
	s.keepLocked(func(id string) bool {
		_, broken := unreadable[id]
		return !broken && (!all || listed[id])
	})
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

// keepLocked removes approvals from memory, and writes nothing about them.
func (s *Store) keepLocked(keeps func(id string) bool) {
	s.endLocked(func(e *entry) bool { return !keeps(e.approval.ID) })
	for id, e := range s.byID {
		if !keeps(id) {
			s.forgetLocked(e)
			s.unwritten = slices.DeleteFunc(s.unwritten, func(other *entry) bool { return other == e && e.approval.Ended.IsZero() })
		}
	}
}
