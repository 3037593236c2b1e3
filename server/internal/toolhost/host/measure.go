package host

import "github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"

// Measurements is the state of a host at a moment, for metrics.
type Measurements struct {
	Plugins     []supervisor.Measurements // of the plugins that were used, ordered by name
	LedgerCalls int                       // that the ledger has in memory
	LedgerBytes int                       // of their outcomes
	LedgerIDs   int                       // that the ledger has on disk
	// MaxLedgerIDs is the largest number of ids on disk; 0 means that the ledger is in memory only.
	// At this number, the host refuses calls with side effects.
	MaxLedgerIDs int
	// Elsewhere is how many calls wait here for the end of a call at another toolhost.
	Elsewhere int
	Approvals int // final arguments that are kept for an approval, about one for each call that waits
	Artifacts int
	// ArtifactBytes is the size of all artifacts.
	ArtifactBytes int64
}

// Measure returns the state of the host. It asks the operating system about each plugin process.
func (h *Host) Measure() Measurements {
	m := Measurements{Approvals: h.frozen.Len(), Elsewhere: int(h.services.awaiting.Load())}
	for _, g := range h.plugins.Groups() {
		m.Plugins = append(m.Plugins, g.Measure())
	}
	m.LedgerCalls, m.LedgerBytes = h.ledger.Usage()
	if h.cfg.Calls != nil {
		m.LedgerIDs, m.MaxLedgerIDs = h.cfg.Calls.IDs()
	}
	if h.cfg.Artifacts != nil {
		m.Artifacts, m.ArtifactBytes = h.cfg.Artifacts.Usage()
	}
	return m
}
