//go:build !linux

package address

import "net"

// PeerUID returns the user id of the process at the other end of a unix socket. This system has no way that is
// supported, so ok is false.
func PeerUID(net.Conn) (uid int, ok bool) { return 0, false }

// PeerPID returns the process at the other end of a unix socket. This system has no way that is supported, so ok is false.
func PeerPID(net.Conn) (pid int, ok bool) { return 0, false }
