package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

var _ runstore.Outbox = (*Store)(nil)

// addMessages adds the messages that are not there. The caller holds mu.
func (s *Store) addMessages(messages []runstore.Message) {
	for _, m := range messages {
		if s.message(m.ID) < 0 {
			m.Created, m.Due, m.Until, m.Attempts = instant(m.Created), instant(m.Due), instant(m.Until), 0
			s.told = append(s.told, m)
		}
	}
}

// message returns the place of a message, or -1. The caller holds mu.
func (s *Store) message(id string) int {
	return slices.IndexFunc(s.told, func(m runstore.Message) bool { return m.ID == id })
}

// Take implements runstore.Outbox.
func (s *Store) Take(ctx context.Context, target string, now, lease time.Time) (runstore.Message, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first *runstore.Message
	for i := range s.told {
		m := &s.told[i]
		if m.Target == target && !m.Due.After(now) && (first == nil || cmp.Or(m.Due.Compare(first.Due), cmp.Compare(m.ID, first.ID)) < 0) {
			first = m
		}
	}
	if first == nil {
		return runstore.Message{}, false, ctx.Err()
	}
	first.Due = instant(lease)
	first.Attempts++
	return *first, true, ctx.Err()
}

// Delay implements runstore.Outbox.
func (s *Store) Delay(ctx context.Context, id string, due time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.message(id); i >= 0 {
		s.told[i].Due = instant(due)
	}
	return ctx.Err()
}

// Remove implements runstore.Outbox.
func (s *Store) Remove(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = slices.DeleteFunc(s.told, func(m runstore.Message) bool { return m.ID == id })
	return ctx.Err()
}

// Trim implements runstore.Outbox.
func (s *Store) Trim(ctx context.Context, now time.Time, most int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := len(s.told)
	slices.SortStableFunc(s.told, func(a, b runstore.Message) int {
		return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.ID, b.ID))
	})
	s.told = slices.DeleteFunc(s.told, func(m runstore.Message) bool { return !m.Until.After(now) })
	s.told = s.told[max(0, len(s.told)-most):]
	return had - len(s.told), ctx.Err()
}
