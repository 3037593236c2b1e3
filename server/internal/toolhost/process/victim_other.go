//go:build !linux

package process

// preferAsVictim does nothing: the system has no supported way.
func preferAsVictim(int) {}

// oomKills returns 0: the system has no supported way.
func oomKills() uint64 { return 0 }
