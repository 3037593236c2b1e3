package address

import (
	"net"

	"golang.org/x/sys/unix"
)

// PeerUID returns the user id of the process at the other end of a unix socket, at the time of the
// connect. ok is false for other connections and if the kernel does not know it.
func PeerUID(conn net.Conn) (uid int, ok bool) {
	socket, isUnix := bare(conn).(*net.UnixConn)
	if !isUnix {
		return 0, false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0, false
	}
	var cred *unix.Xucred
	err = raw.Control(func(fd uintptr) {
		cred, _ = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	})
	if err != nil || cred == nil {
		return 0, false
	}
	return int(cred.Uid), true
}

// PeerPID always returns false, because the package reads the process of a peer only on Linux.
func PeerPID(net.Conn) (pid int, ok bool) { return 0, false }
