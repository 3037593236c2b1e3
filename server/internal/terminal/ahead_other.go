//go:build !linux

package terminal

import "os"

// readKeys reads nothing: what is typed waits in the terminal.
func readKeys(*os.File, func([]byte)) (stop func()) { return nil }
