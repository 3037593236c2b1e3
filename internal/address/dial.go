package address

import (
	"context"
	"errors"
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

// ErrForeign is what errors.Is finds in Dial's error where another user serves, or may have put the socket there.
var ErrForeign = errors.New("another user's server")

// foreign is an ErrForeign with its own message.
type foreign struct{ error }

func (foreign) Is(target error) bool { return target == ErrForeign }

func (f foreign) Unwrap() error { return f.error }

// chosen says what to do where a stranger serves at a default socket.
func (a Address) chosen() string {
	if !a.own {
		return ""
	}
	return "; if you trust that user, name the address"
}
