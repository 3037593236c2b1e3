package serve

import (
	"cmp"
	"runtime/debug"

	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/internal/config"
)

const (
	// leastInFlight and mostInFlight bound what calls in flight may take where the configuration leaves that to toolhost.
	// With the most of it, toolhost stays below 1 GiB whatever its callers do.
	leastInFlight = 64 << 20
	mostInFlight  = 320 << 20
	// inFlightPart is the part of the machine's memory that it is in between.
	inFlightPart = 32
	// ownMemory is what toolhost needs besides what the configuration bounds.
	ownMemory = 128 << 20
)

// inFlight returns how many bytes calls in flight may take.
func inFlight(c *config.Config) int64 {
	auto := min(max(budget.MachineMemory()/inFlightPart, leastInFlight), mostInFlight)
	return cmp.Or(int64(c.Memory.InFlight), auto)
}

// newBudget returns the budget that the configuration wants.
func newBudget(c *config.Config) *budget.Budget {
	return budget.New(inFlight(c), int64(c.Memory.InFlightPerPrincipal))
}

// collectInTime lets the garbage collector work harder as memory approaches what toolhost should have at most, unless the
// environment says otherwise in Go's own way. What is in use may be half as large again as what is accounted for: the ledger
// counts roughly, and what is over is not collected at once.
func collectInTime(c *config.Config, getenv func(string) string) {
	if getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetMemoryLimit(inFlight(c)*3/2 + 2*int64(c.Ledger.MemoryBytes) + int64(c.Logs.MaxBytes) + ownMemory)
}
