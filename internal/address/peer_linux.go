package address

import (
	"net"

	"golang.org/x/sys/unix"
)

// PeerUID returns the user id of the process at the other end of a unix socket, as it was when the connection was made.
// ok is false for other connections and where the kernel does not say.
func PeerUID(conn net.Conn) (uid int, ok bool) {
	socket, isUnix := conn.(*net.UnixConn)
	if !isUnix {
		return 0, false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0, false
	}
	var cred *unix.Ucred
	err = raw.Control(func(fd uintptr) {
		cred, _ = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil || cred == nil {
		return 0, false
	}
	return int(cred.Uid), true
}
