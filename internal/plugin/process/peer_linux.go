package process

import (
	"fmt"
	"net"

	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
	"golang.org/x/sys/unix"
)

// checkPeer makes sure that the process that listens is the plugin's: it, one of its group, or one that it started. The
// folder is closed to other users; this closes the socket to the other processes of toolhost's own.
func checkPeer(conn *net.UnixConn, leader int) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("asking who listens on its socket: %w", err)
	}
	var peer *unix.Ucred
	var peerErr error
	if err := raw.Control(func(fd uintptr) {
		peer, peerErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		peerErr = err
	}
	if peerErr != nil {
		return fmt.Errorf("asking who listens on its socket: %w", peerErr)
	}
	belongs, err := proc.Belongs(int(peer.Pid), leader)
	if err != nil {
		return fmt.Errorf("asking who listens on its socket: %w", err)
	}
	if !belongs {
		return &peerError{peer: int(peer.Pid), leader: leader}
	}
	return nil
}
