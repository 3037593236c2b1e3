package artifact

import (
	"errors"
	"io/fs"
	"time"
)

// checks is how often per MaxAge the store removes old artifacts. Read does not return an artifact
// that is too old, whether it was removed or not.
const checks = 24

// expire removes old artifacts until the store is closed.
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

// evictLocked removes artifacts that are too old or too many from the index, the oldest first, and
// returns them. The caller removes their files without holding the mutex. Artifacts that are being
// written count and stay.
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

// remove removes the files of artifacts that are no longer in the index. A reader that has a file
// open can finish.
func (s *Store) remove(victims []*entry) {
	for _, e := range victims {
		if err := s.root.Remove(e.Handle); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.cfg.Logger.Warn("removing an artifact", "artifact", e.Handle, "error", err)
		}
	}
}
