//go:build linux && (amd64 || arm64)

package entry

import "os"

// Forsake is what becomes of a process whose toolhost is no more.
func (e *Entered) Forsake() *os.Process {
	_ = e.status.Close()
	return e.process
}
