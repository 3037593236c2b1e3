package catalog

import (
	"maps"
	"slices"

	"github.com/toolhost/toolhost/internal/plugin/manifest"
	"github.com/toolhost/toolhost/tool"
)

// expectation holds the sources of a plugin's expected name.
type expectation struct {
	pins    manifest.Lock
	trusted string   // the name under which it was trusted; empty if it had not described itself
	current string   // the name of the revision in service in its place; empty if there is none
	earlier []string // digests that were in its place before
}

func (s *slot) expectation(pins manifest.Lock, trusted string) expectation {
	e := expectation{pins: pins, trusted: trusted, earlier: []string{s.record.Current, s.record.Previous}}
	if s.current != nil {
		e.current = s.current.Info.Name
	}
	return e
}

// expectedName returns the name that a plugin will probably have in its description, by the best
// source: the trust record, its manifest, the lock file, the revision in its place now or earlier,
// its file.
func (c *Catalog) expectedName(p *Plugin, e expectation) string {
	if e.trusted != "" {
		return e.trusted
	}
	if name := p.knownName(); name != "" {
		return name
	}
	for _, name := range slices.Sorted(maps.Keys(e.pins)) {
		if e.pins[name].Digest == p.Digest {
			return name
		}
	}
	if e.current != "" {
		return e.current
	}
	for _, digest := range e.earlier {
		if digest == "" {
			continue
		}
		if a, ok := c.store.about(digest); ok && a.Description != nil && tool.CheckName(a.Description.Name) == nil {
			return a.Description.Name
		}
	}
	return p.Info.Name
}
