//go:build !linux

package terminal

import "os"

// flushInput does nothing: input that a person typed early stays.
func flushInput(*os.File) {}
