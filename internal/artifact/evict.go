package artifact

import (
	"errors"
	"io/fs"
	"time"
)

// checks is how often the store looks for what is too old, in MaxAge; what is too old is not read any more anyway.
const checks = 24

// expire removes what is too old until the store is closed.
func (s *Store) expire() {
	ticker := time.NewTicker(max(s.cfg.MaxAge/checks, time.Second))
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			s.mu.Lock()
			victims := s.evictLocked(now)
			s.mu.Unlock()
			s.remove(victims)
		case <-s.stop:
			return
		}
	}
}

// evictLocked takes out of the index what is too old or too much, the oldest first, and returns it: its files are to be
// removed without the lock. What is being written counts and stays.
func (s *Store) evictLocked(now time.Time) []*entry {
	var victims []*entry
	for s.ages.Len() > 0 {
		oldest := s.ages.Front().Value.(*entry)
		if !s.tooOld(oldest, now) && s.bytes <= s.cfg.MaxBytes && s.ages.Len()+s.writing <= s.cfg.MaxCount {
			break
		}
		s.ages.Remove(s.ages.Front())
		delete(s.entries, oldest.Handle)
		s.bytes -= oldest.Size
		victims = append(victims, oldest)
	}
	return victims
}

func (s *Store) tooOld(e *entry, now time.Time) bool { return now.Sub(e.Made) >= s.cfg.MaxAge }

// remove removes the files of artifacts that are in the index no more. Who reads one just now reads on.
func (s *Store) remove(victims []*entry) {
	for _, e := range victims {
		if err := s.root.Remove(e.Handle); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.cfg.Logger.Warn("removing an artifact", "artifact", e.Handle, "error", err)
		}
	}
}
