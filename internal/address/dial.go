package address

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// Dial connects to the address. It refuses a unix socket whose server runs as another user, because
// that user may have replaced the socket. The exceptions are a server that runs as root, and a
// client that runs as root and dials an address that a user chose. For an address of Own, Dial also
// refuses a folder that belongs to another user or that others can write to. Such errors match
// ErrForeign.
func (a Address) Dial(ctx context.Context) (net.Conn, error) {
	if a.own {
		if err := checkOwn(filepath.Dir(a.path)); err != nil {
			return nil, foreign{fmt.Errorf("not connecting to %s: %w", a, err)}
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
		return nil, foreign{fmt.Errorf("the server at %s belongs to another user (uid %d)%s", a, uid, a.chosen())}
	}
	return conn, nil
}

// ErrForeign is the error of Dial if the server belongs to another user, or if another user may
// have created the socket. Use errors.Is.
var ErrForeign = errors.New("another user's server")

// foreign is an error that matches ErrForeign and has its own message.
type foreign struct{ error }

func (foreign) Is(target error) bool { return target == ErrForeign }

func (f foreign) Unwrap() error { return f.error }

// chosen returns advice for the error about another user's server at a default socket, or "".
func (a Address) chosen() string {
	if !a.own {
		return ""
	}
	return "; if you trust that user, name the address"
}
