//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package callstore

// fileLock keeps nobody out here: see the other one.
type fileLock struct{}

func lockFile(string) (*fileLock, error) { return &fileLock{}, nil }

func (l *fileLock) release() {}
