package address

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// Dial connects to the address. A unix socket that another user serves is refused, unless that user or this one is
// root: a stranger may have put it there. For an address of Own, a server of another user is refused to root, too, and so is
// a folder that belongs to another user or that others can write.
func (a Address) Dial(ctx context.Context) (net.Conn, error) {
	if a.own {
		if err := checkOwn(filepath.Dir(a.path)); err != nil {
			return nil, fmt.Errorf("not connecting to %s: %w", a, err)
		}
	}
	network, at := a.network()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, at)
	if err != nil {
		return nil, err
	}
	if uid, ok := PeerUID(conn); ok && uid != 0 && uid != os.Getuid() && (a.own || os.Getuid() != 0) {
		_ = conn.Close()
		return nil, fmt.Errorf("the server at %s belongs to another user (uid %d)%s", a, uid, a.chosen())
	}
	return conn, nil
}

// chosen says what to do where a stranger serves at a default socket.
func (a Address) chosen() string {
	if !a.own {
		return ""
	}
	return "; if you trust that user, name the address"
}
