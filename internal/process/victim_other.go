//go:build !linux

package process

// preferAsVictim does nothing: this system has no way that is supported.
func preferAsVictim(int) {}
