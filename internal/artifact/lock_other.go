//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package artifact

import "os"

// lockFolder does not lock on these systems: see lock_unix.go.
func lockFolder(*os.Root) (*os.File, error) { return nil, nil }
