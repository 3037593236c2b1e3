package address

import (
	"net"

	"golang.org/x/sys/unix"
)

// PeerUID returns the user id of the process at the other end of a unix socket, as it was when the connection was made.
// ok is false for other connections and where the kernel does not say.
func PeerUID(conn net.Conn) (uid int, ok bool) {
	cred := peer(conn)
	if cred == nil {
		return 0, false
	}
	return int(cred.Uid), true
}

// PeerPID returns the process that made the connection, or that listens where it was made, of a unix socket. It may have
// ended since, and have handed the connection on. It is 0 if it cannot be seen from here. ok is as with PeerUID.
func PeerPID(conn net.Conn) (pid int, ok bool) {
	cred := peer(conn)
	if cred == nil {
		return 0, false
	}
	return int(cred.Pid), true
}

func peer(conn net.Conn) *unix.Ucred {
	socket, isUnix := bare(conn).(*net.UnixConn)
	if !isUnix {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	var cred *unix.Ucred
	err = raw.Control(func(fd uintptr) {
		cred, _ = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil {
		return nil
	}
	return cred
}
