//go:build !linux && !darwin

package address

import "net"

// PeerUID always returns false, because the package supports peer credentials only on Linux and
// macOS.
func PeerUID(net.Conn) (uid int, ok bool) { return 0, false }

// PeerPID always returns false, because the package supports peer credentials only on Linux and
// macOS.
func PeerPID(net.Conn) (pid int, ok bool) { return 0, false }
