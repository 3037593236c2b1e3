//go:build !linux

package address

import "net"

// PeerUID always returns false, because the package supports peer credentials only on Linux.
func PeerUID(net.Conn) (uid int, ok bool) { return 0, false }

// PeerPID always returns false, because the package supports peer credentials only on Linux.
func PeerPID(net.Conn) (pid int, ok bool) { return 0, false }
