//go:build !linux

package terminal

import "os"

// flushInput does nothing: what was typed ahead is kept.
func flushInput(*os.File) {}
