package host

// IsIndexed reports whether the index of the catalog's present snapshot is built or being built.
func (h *Host) IsIndexed() bool {
	h.search.mu.Lock()
	defer h.search.mu.Unlock()
	return h.search.newest != nil && h.search.newest.snapshot == h.cfg.Catalog.Snapshot()
}

// Remembered returns how many revisions of a plugin can be launched, and for how many plugin files
// a takeover runs or waits.
func (h *Host) Remembered(plugin string) (revisions, turns int) {
	return h.upgrades.Remembered(plugin)
}

// Tenants returns for how many tenants a plugin has a supervisor.
func (h *Host) Tenants(plugin string) int { return h.plugins.Find(plugin).Tenants() }
