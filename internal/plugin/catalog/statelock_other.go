//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package catalog

// stateLock keeps nobody out here: see the other one.
type stateLock struct{}

func lockState(string) (*stateLock, error) { return &stateLock{}, nil }

func (l *stateLock) release() {}
