package serve

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

// However little memory there is, a principal and an address together cannot take all connections.
func TestNobodyTakesAllConnections(t *testing.T) {
	for _, memory := range []config.Size{16 << 20, 64 << 20, 320 << 20, 16 << 30} {
		c := config.Default()
		c.Memory.InFlight = memory
		l := networkLimits(&c)
		if l.ConnectionsPerAddress < 1 || l.ConnectionsPerAddress+l.ConnectionsPerPrincipal >= l.Connections || l.Connections > 1000 {
			t.Errorf("with %v: %d connections, %d of a principal, %d of an address", memory, l.Connections, l.ConnectionsPerPrincipal, l.ConnectionsPerAddress)
		}
	}
}
