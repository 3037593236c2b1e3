package process

import (
	"fmt"
	"net"

	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"golang.org/x/sys/unix"
)

// checkPeer checks that the listening process belongs to the plugin: it is the plugin, in the
// plugin's group, or a descendant of the plugin. The folder's mode excludes other users. This check
// excludes other processes of toolhost's user.
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
