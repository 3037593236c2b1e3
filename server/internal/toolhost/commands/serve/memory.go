package serve

import (
	"cmp"
	"runtime/debug"

	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

const (
	// leastInFlight and mostInFlight bound the memory of calls in flight, in bytes, if the
	// configuration does not set it. With mostInFlight, toolhost stays below 1 GiB, whatever its
	// callers do.
	leastInFlight = 64 << 20
	mostInFlight  = 320 << 20
	// inFlightPart is the part of the machine's memory between these bounds.
	inFlightPart = 32
	// ownMemory is the memory in bytes that toolhost needs beside what the configuration bounds.
	ownMemory = 128 << 20
)

// inFlight returns the memory of calls in flight, in bytes.
func inFlight(c *config.Config) int64 {
	auto := min(max(budget.MachineMemory()/inFlightPart, leastInFlight), mostInFlight)
	return cmp.Or(int64(c.Memory.InFlight), auto)
}

// newBudget returns the memory budget of the configuration.
func newBudget(c *config.Config) *budget.Budget {
	return budget.New(inFlight(c), int64(c.Memory.InFlightPerPrincipal))
}

// networkLimits returns the limits of connections over TCP. They get at most three quarters of the
// connections for which there is memory. So unix sockets have room, and the oldest stranger gives
// way before a known caller is refused. With little memory, one principal gets at most half of
// them, and the strangers of one address a third, so that both together leave room for others.
func networkLimits(c *config.Config) listen.Limits {
	l := c.Network.Limits()
	room := budget.Connections(inFlight(c)) * 3 / 4
	l.Connections = min(l.Connections, room)
	l.ConnectionsPerPrincipal = min(l.ConnectionsPerPrincipal, room/2)
	l.ConnectionsPerAddress = min(l.ConnectionsPerAddress, room/3)
	return l
}

// collectInTime sets Go's memory limit, unless the variable GOMEMLIMIT is set. Near the limit, the
// garbage collector works harder. The live data can be larger by half than the accounted data,
// because the ledger counts roughly and garbage is not collected at once.
func collectInTime(c *config.Config, getenv func(string) string) {
	if getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetMemoryLimit(inFlight(c)*3/2 + 2*int64(c.Ledger.MemoryBytes) + int64(c.Logs.MaxBytes) + ownMemory)
}
