package artifact

import (
	"crypto/rand"
	"io"
	"strings"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Content is the content of a new artifact.
type Content struct {
	MediaType string // IANA
	Name      string // a file name without folders; empty: none
	Size      int64  // in bytes
	Data      io.Reader
}

// Put stores c.Data and returns the handle. It blocks for the disk. It removes older artifacts to
// make room. If it fails, it stores nothing, and the error has the kind unavailable. The artifacts
// that it removed before stay removed.
func (s *Store) Put(owner Owner, c Content) (handle string, err error) {
	e := &entry{
		Handle: s.newHandle(), Owner: owner,
		MediaType: word(c.MediaType), Name: word(c.Name), Size: c.Size, Made: time.Now(),
	}
	victims, refused := s.reserve(owner.Principal, e.Size)
	s.remove(victims)
	if refused != nil {
		return "", refused
	}
	if err := write(s.root, e, c.Data); err != nil {
		s.mu.Lock()
		s.bytes -= e.Size
		s.writing--
		s.owners.add(owner.Principal, -e.Size, -1)
		s.mu.Unlock()
		return "", tool.Errorf(tool.KindUnavailable, "keeping an artifact of %d bytes: %w", e.Size, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing--
	s.addLocked(e)
	return e.Handle, nil
}

func (s *Store) newHandle() string {
	handle := prefix + strings.ToLower(rand.Text())
	if s.cfg.Place != "" {
		handle += "-" + s.cfg.Place
	}
	return handle
}

// PlaceLength is the length of the place in a handle. A caller may have invented the handle, and to
// look for a shorter place would cost a question to the database.
const PlaceLength = 8

// PlaceOf returns the place in a handle, or "". Nobody has checked that it exists.
func PlaceOf(handle string) string {
	if random, ok := strings.CutPrefix(handle, prefix); ok {
		return PlaceIn(random)
	}
	return ""
}

// PlaceIn is PlaceOf for the name of something else that a toolhost has.
func PlaceIn(name string) string {
	random, place, _ := strings.Cut(name, "-")
	if random == "" || len(place) != PlaceLength || strings.Trim(place, placeLetters) != "" {
		return ""
	}
	return place
}

const placeLetters = "abcdefghijklmnopqrstuvwxyz0123456789"

// reserve makes room for an artifact, and returns the artifacts whose files must be removed for it.
func (s *Store) reserve(principal string, size int64) ([]*entry, *tool.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, tool.Errorf(tool.KindUnavailable, "keeping an artifact: the store is closed")
	case size < 0 || size > s.cfg.MaxBytes:
		return nil, tool.Errorf(tool.KindUnavailable,
			"keeping an artifact of %d bytes: all artifacts together may have %d (artifacts.max_bytes)", size, s.cfg.MaxBytes)
	}
	who, most := s.boundOf(principal)
	if most > 0 && size > most {
		return nil, tool.Errorf(tool.KindUnavailable, "keeping an artifact of %d bytes: all artifacts of %s together may have %d (its quota artifact_bytes)", size, who, most)
	}
	s.bytes += size
	s.writing++
	s.owners.add(principal, size, 1)
	return append(s.evictOwnLocked(principal), s.evictLocked(time.Now())...), nil
}

// addLocked adds an entry to the index, but not to the sizes. The caller holds s.mu, or s is not
// shared yet.
func (s *Store) addLocked(e *entry) { s.entries[e.Handle] = s.ages.PushBack(e) }

// word cuts s so that it fits into a header.
func word(s string) string {
	if len(s) > maxWord {
		s = s[:maxWord]
	}
	return strings.ToValidUTF8(s, "")
}
