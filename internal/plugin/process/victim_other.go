//go:build !linux

package process

// preferAsVictim does nothing: this system has no way that is supported.
func preferAsVictim(int) {}

// oomKills returns 0: this system has no way that is supported.
func oomKills() uint64 { return 0 }
