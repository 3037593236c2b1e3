package host

// IsIndexed reports whether the index of what the catalog holds now is built or being built.
func (h *Host) IsIndexed() bool {
	h.search.mu.Lock()
	defer h.search.mu.Unlock()
	return h.search.newest != nil && h.search.newest.snapshot == h.cfg.Catalog.Snapshot()
}

// Remembered returns how many revisions of a plugin could be launched, and for how many plugin files a
// takeover runs.
func (h *Host) Remembered(plugin string) (revisions, turns int) {
	return h.upgrades.Remembered(plugin)
}
