//go:build !linux

package trust

// born returns 0: the system does not tell the time.
func born(string) int64 { return 0 }
