package artifact

import (
	"container/list"
	"errors"
	"io/fs"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
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

// evictLocked removes artifacts that are too old or exceed a bound from the index, and returns
// them. The caller removes their files without holding the mutex. Artifacts that are being written
// count toward the bounds and stay.
//
// If all artifacts together exceed a bound, the tenant that has most of what exceeds it loses its
// oldest artifact. So a tenant that fills the store removes its own artifacts, and those of a
// tenant that has less than an equal share stay.
func (s *Store) evictLocked(now time.Time) []*entry {
	var victims []*entry
	for at := s.ages.Front(); at != nil && s.tooOld(at.Value.(*entry), now); at = s.ages.Front() {
		victims = append(victims, s.dropLocked(at))
	}
	for s.bytes > s.cfg.MaxBytes || s.ages.Len()+s.writing > s.cfg.MaxCount {
		largest := s.owners.largest(s.bytes > s.cfg.MaxBytes)
		at := s.oldestLocked(func(e *entry) bool { return identity.TenantOf(e.Owner.Principal) == largest })
		if at == nil { // all that the tenant has is being written
			at = s.ages.Front()
		}
		if at == nil {
			break
		}
		victims = append(victims, s.dropLocked(at))
	}
	return victims
}

// evictOwnLocked removes the oldest artifacts of a principal and of its tenant that exceed their
// quotas from the index, and returns them.
func (s *Store) evictOwnLocked(principal string) (victims []*entry) {
	if s.quota == nil {
		return nil
	}
	tenant := identity.TenantOf(principal)
	ofTenant, ofPrincipal := s.quota(principal)
	drop := func(exceeds func() bool, own func(*entry) bool) {
		for exceeds() {
			at := s.oldestLocked(own)
			if at == nil {
				return
			}
			victims = append(victims, s.dropLocked(at))
		}
	}
	drop(func() bool { return ofPrincipal > 0 && s.owners.principals[principal].bytes > ofPrincipal },
		func(e *entry) bool { return e.Owner.Principal == principal })
	drop(func() bool { return ofTenant > 0 && s.owners.tenants[tenant].bytes > ofTenant },
		func(e *entry) bool { return identity.TenantOf(e.Owner.Principal) == tenant })
	return victims
}

// oldestLocked returns the oldest artifact that is selected, or nil.
func (s *Store) oldestLocked(selected func(*entry) bool) *list.Element {
	for at := s.ages.Front(); at != nil; at = at.Next() {
		if selected(at.Value.(*entry)) {
			return at
		}
	}
	return nil
}

// dropLocked removes an artifact from the index and returns it.
func (s *Store) dropLocked(at *list.Element) *entry {
	e := s.ages.Remove(at).(*entry)
	delete(s.entries, e.Handle)
	s.bytes -= e.Size
	s.owners.add(e.Owner.Principal, -e.Size, -1)
	return e
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
