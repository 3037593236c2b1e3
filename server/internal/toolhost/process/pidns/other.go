//go:build !(linux && (amd64 || arm64))

package pidns

import "errors"

// Namespace does not exist on this system.
type Namespace struct{}

// The other namespaces that can be made with a PID namespace, on other systems.
const (
	Network uintptr = 1 << iota
	IPC
)

// New returns an error.
func New([]string, uintptr) (*Namespace, error) {
	return nil, errors.New("PID namespaces are made on Linux alone, on amd64 and arm64")
}

// Enter returns nil.
func (n *Namespace) Enter(string) error { return nil }

// PID returns 0.
func (n *Namespace) PID() int { return 0 }

// Close does nothing.
func (n *Namespace) Close() {}
