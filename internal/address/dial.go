package address

import (
	"context"
	"fmt"
	"net"
	"os"
)

// Dial connects to the address. A unix socket that another user serves is refused, unless that user or this one is
// root: a stranger may have put it there.
func (a Address) Dial(ctx context.Context) (net.Conn, error) {
	network, at := a.network()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, at)
	if err != nil {
		return nil, err
	}
	if uid, ok := PeerUID(conn); ok && uid != 0 && os.Getuid() != 0 && uid != os.Getuid() {
		_ = conn.Close()
		return nil, fmt.Errorf("the server at %s belongs to another user (uid %d)", a, uid)
	}
	return conn, nil
}
