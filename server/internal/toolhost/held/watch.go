package held

import "time"

// Position is what a watcher knows of a store: all changes up to one. The zero value knows nothing.
type Position struct {
	Origin string // of the numbers; another store has another one
	Number int64
}

// Now returns the present position.
func (s *Store) Now() Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Position{s.origin, s.changes}
}

// Changed returns the decisions that changed after a position and that a function accepts, as they
// are now, the position to go on from, and a channel that is closed with the next change. The end
// of a decision by itself is a change only when something asks the store. whole is whether the
// store does not know the position, or not any more: the decisions are all that wait then. The
// function must not call the store.
func (s *Store) Changed(after Position, accept func(*Decision) bool) (all []Decision, now Position, whole bool, news <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweepLocked(time.Now())
	whole = after.Origin != s.origin || after.Number < s.forgot || after.Number > s.changes
	for _, e := range s.byName {
		if (whole && e.State == Waiting || !whole && e.changed > after.Number) && accept(&e.Decision) {
			all = append(all, e.Decision)
		}
	}
	inOrder(all)
	return all, Position{s.origin, s.changes}, whole, s.news
}

// changeLocked notes that a decision has changed.
func (s *Store) changeLocked(e *entry) {
	s.changes++
	e.changed = s.changes
	close(s.news)
	s.news = make(chan struct{})
}

// forgetLocked removes a decision. Who does not know its last change must begin again.
func (s *Store) forgetLocked(e *entry) {
	delete(s.byName, e.Name)
	s.forgot = max(s.forgot, e.changed)
}
