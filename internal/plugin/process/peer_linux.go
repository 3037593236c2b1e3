package process

import (
	"fmt"
	"net"

	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
	"golang.org/x/sys/unix"
)

// checkPeer checks that the listening process belongs to the plugin: that it is the plugin, of its
// group, or one of its descendants. The folder's mode keeps other users away; this check keeps
// other processes of toolhost's user away.
func checkPeer(conn *net.UnixConn, leader int) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("finding the process that listens on its socket: %w", err)
	}
	var peer *unix.Ucred
	var peerErr error
	if err := raw.Control(func(fd uintptr) {
		peer, peerErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		peerErr = err
	}
	if peerErr != nil {
		return fmt.Errorf("finding the process that listens on its socket: %w", peerErr)
	}
	belongs, err := proc.Belongs(int(peer.Pid), leader)
	if err != nil {
		return fmt.Errorf("finding the process that listens on its socket: %w", err)
	}
	if !belongs {
		return &peerError{peer: int(peer.Pid), leader: leader}
	}
	return nil
}
