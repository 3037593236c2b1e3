package host

import (
	"context"
	"time"
)

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

// HomesForTest is what a host knows about the homes of sessions.
type HomesForTest struct{ homes *homes }

func NewHomes(ledger Homes) *HomesForTest { return &HomesForTest{newHomes(ledger)} }

// Look asks about a session.
func (h *HomesForTest) Look(ctx context.Context, session string) {
	_, _ = h.homes.of(ctx, homeKey{"ada", session}, "")
}

// Silent counts the sessions whose homes have been silent for so long.
func (h *HomesForTest) Silent(long time.Duration) (count int) {
	for _, is := range h.homes.known {
		if time.Since(is.silent) >= long {
			count++
		}
	}
	return count
}
