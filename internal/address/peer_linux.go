package address

import (
	"net"

	"golang.org/x/sys/unix"
)

// PeerUID returns the user id of the process at the other end of a unix socket, at the time of the
// connect. ok is false for other connections and if the kernel does not know it.
func PeerUID(conn net.Conn) (uid int, ok bool) {
	cred := peer(conn)
	if cred == nil {
		return 0, false
	}
	return int(cred.Uid), true
}

// PeerPID returns the id of the process at the other end of a unix socket: the process that
// connected, or the process that listened. That process may have exited since, or may have passed
// the connection to another one. pid is 0 if the process is not visible in this PID namespace. ok
// has the same meaning as in PeerUID.
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
