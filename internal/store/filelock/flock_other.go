//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filelock

import "os"

const noFollow, onlyFolder, exclusive, shared, none, now = 0, 0, 0, 0, 0, 0

func lock(*os.File, int) error { return nil }
