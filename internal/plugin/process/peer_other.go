//go:build unix && !linux

package process

import "net"

// checkPeer checks nothing: the folder of mode 0700 is the protection here.
func checkPeer(*net.UnixConn, int) error { return nil }
