package host

// Remembered returns how many revisions of a plugin could be launched, and of how many plugin files a takeover is under
// way.
func (h *Host) Remembered(plugin string) (revisions, turns int) {
	h.mu.Lock()
	s := h.supervisors[plugin]
	h.mu.Unlock()
	s.mu.Lock()
	revisions = len(s.revisions)
	s.mu.Unlock()
	h.turns.mu.Lock()
	defer h.turns.mu.Unlock()
	return revisions, len(h.turns.bySource)
}

// IsIndexed reports whether the index of what the catalog holds now is built or being built.
func (h *Host) IsIndexed() bool {
	h.search.mu.Lock()
	defer h.search.mu.Unlock()
	return h.search.newest != nil && h.search.newest.snapshot == h.cfg.Catalog.Snapshot()
}
