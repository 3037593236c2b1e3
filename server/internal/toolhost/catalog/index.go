package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
)

// record is the persistent state of one source: an executable or a folder.
type record struct {
	// Stamp and Digest are those of the last reading. While the stamp is the same, so is the
	// digest.
	Stamp  string `json:"stamp,omitempty"`
	Digest string `json:"digest,omitempty"`

	Current  string `json:"current,omitempty"`  // the digest in service
	Previous string `json:"previous,omitempty"` // the previous one, for a rollback

	// Held is a digest that does not replace the current one without a command, and Reason says
	// why. The record drops it when the source changes again.
	Held   string `json:"held,omitempty"`
	Reason string `json:"reason,omitempty"`

	// History has the times at which a digest came into service, the oldest first. Nil: an earlier
	// version wrote the record, or no digest was in service. The list does not change: history.add
	// makes another one. So records can be compared by ==.
	History *history `json:"history,omitempty"`

	Seen string `json:"seen,omitempty"` // the last day on which a toolhost looked at it, such as 2026-11-22, in UTC
}

// unseenFor is how long the catalog keeps the record and the copies of an existing source when no
// toolhost looks at its folder.
const unseenFor = 30 * 24 * time.Hour

// unseen reports whether no toolhost has looked at the source for unseenFor. Records of earlier
// versions have no day.
func (r record) unseen(now time.Time) bool {
	day, err := time.Parse(time.DateOnly, r.Seen)
	return err == nil && now.Sub(day) > unseenFor
}

// index holds the records of all sources, in STATE/catalog.json. If the file is damaged or of
// another version, the cache is lost: the catalog reads and asks all plugins again, and the
// decisions in the file are lost. All methods are safe for concurrent use.
type index struct {
	path string

	mu      sync.Mutex // never held across I/O
	records map[string]record
	dirty   bool

	saving chan struct{} // one token: writers of the file follow each other, so that the newest state is written last
}

// indexVersion is the version of the file's format.
const indexVersion = 2

// indexFile is the format of the file.
type indexFile struct {
	Version int               `json:"version"`
	Sources map[string]record `json:"sources"`
}

func openIndex(stateDir string, logger *slog.Logger) (*index, error) {
	x := &index{path: filepath.Join(stateDir, "catalog.json"), records: map[string]record{}, saving: make(chan struct{}, 1)}
	data, err := os.ReadFile(x.path)
	if errors.Is(err, fs.ErrNotExist) {
		return x, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what is known of plugins: %w", err)
	}
	var file indexFile
	if err := json.Unmarshal(data, &file); err != nil || file.Version != indexVersion || file.Sources == nil {
		logger.Warn("what was known of plugins cannot be read; it is found out again", "file", x.path, "version", file.Version, "error", err)
		return x, nil
	}
	x.records = file.Sources
	for source, r := range x.records {
		if r.History == nil && r.Current != "" { // of a version without histories
			r.History = r.History.add(revision{Digest: r.Previous}).add(revision{Digest: r.Current})
			x.records[source] = r
		}
	}
	return x, nil
}

func (x *index) get(source string) record {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.records[source]
}

// put records a source that was just looked at.
func (x *index) put(source string, r record) {
	r.Seen = time.Now().UTC().Format(time.DateOnly)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.records[source] != r {
		x.records[source] = r
		x.dirty = true
	}
}

func (x *index) remove(source string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.records[source]; ok {
		delete(x.records, source)
		x.dirty = true
	}
}

// sources returns all recorded sources.
func (x *index) sources() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	sources := make([]string, 0, len(x.records))
	for source := range x.records {
		sources = append(sources, source)
	}
	return sources
}

// digests returns the digests that a source needs.
func (x *index) digests() map[string]bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	needed := make(map[string]bool, len(x.records))
	for _, r := range x.records {
		needed[r.Digest], needed[r.Current], needed[r.Previous] = true, true, true
		for _, digest := range r.History.kept() {
			needed[digest] = true
		}
	}
	delete(needed, "")
	return needed
}

// forgetGone forgets sources outside of the folders whose files are gone or that no toolhost has
// looked at for unseenFor. Other sources may belong to a toolhost with other folders.
func (x *index) forgetGone(found []entry) {
	now := time.Now()
	for _, source := range x.sources() {
		here := slices.ContainsFunc(found, func(e entry) bool { return e.source == source })
		if _, err := os.Lstat(source); errors.Is(err, fs.ErrNotExist) || !here && x.get(source).unseen(now) {
			x.remove(source)
		}
	}
}

// save writes the file if anything changed.
func (x *index) save() error {
	x.saving <- struct{}{}
	defer func() { <-x.saving }()
	x.mu.Lock()
	dirty := x.dirty
	x.dirty = false
	data, err := json.Marshal(indexFile{Version: indexVersion, Sources: x.records})
	x.mu.Unlock()
	if !dirty || err != nil {
		return err
	}
	if err := atomicfile.Write(x.path, data, 0o600); err != nil {
		x.mu.Lock()
		x.dirty = true
		x.mu.Unlock()
		return fmt.Errorf("writing what is known of plugins: %w", err)
	}
	return nil
}
