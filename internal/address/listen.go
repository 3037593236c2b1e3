package address

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/store/filelock"
)

const (
	// lockWait bounds the wait for the lock of a folder, which listeners hold for microseconds. So
	// another user who locks a shared folder causes an error instead of blocking the server.
	lockWait = 2 * time.Second
	// probeWait bounds the attempts to connect to a server at an existing socket, and probePause is
	// the time between two of them.
	probeWait  = 2 * time.Second
	probePause = 5 * time.Millisecond
)

// Listener accepts connections at an address. It accepts at most a quarter as many connections as
// this process may have descriptors, so that the rest is left for the server's work. All methods
// are safe for concurrent use.
type Listener struct {
	net.Listener
	addr Address
	room *room
}

// Address returns the address of the listener. If Listen received port 0, it contains the port that
// the kernel chose.
func (l *Listener) Address() Address { return l.addr }

// ErrInUse is the error of Listen if another program listens at the address. Use errors.Is.
var ErrInUse = errors.New("the address is in use")

// Listen listens at the address. program is the name of the server in errors.
//
// A unix socket has mode 0600. Listen creates a missing folder with mode 0700. An existing folder
// must belong to this user or to root, and other users must not be able to replace files in it.
// Listen replaces a socket file at which no server answers. It waits for the end of what a killed
// server left of itself. If a server answers, or if the TCP port is busy, it returns an error that
// wraps ErrInUse. Closing the listener removes the socket.
func (a Address) Listen(ctx context.Context, program string) (*Listener, error) {
	if a.IsUnix() {
		return a.listenUnix(ctx, program)
	}
	network, at := a.network()
	var config net.ListenConfig
	l, err := config.Listen(ctx, network, at)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: another program listens at %s", ErrInUse, a)
	}
	if err != nil {
		return nil, fmt.Errorf("listening at %s: %w", a, err)
	}
	return Adopt(l)
}

// Adopt returns a listener that limits the connections of another one, which it closes. It is for
// sockets that this process did not open. Their mode and owner are up to the one who opened them,
// and the socket's file stays when the listener is closed.
func Adopt(l net.Listener) (*Listener, error) {
	at := l.Addr().String()
	if l.Addr().Network() == "unix" {
		a, err := Unix(at)
		return &Listener{Listener: l, addr: a, room: newRoom()}, err
	}
	bound, err := netip.ParseAddrPort(at)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the address of the listener at %s: %w", at, err), l.Close())
	}
	return &Listener{Listener: l, addr: Address{port: bound}, room: newRoom()}, nil
}

func (a Address) listenUnix(ctx context.Context, program string) (*Listener, error) {
	dir := filepath.Dir(a.path)
	if err := ensureFolder(dir); err != nil {
		return nil, fmt.Errorf("listening at %s: %w", a, err)
	}
	// The lock makes check, removal and bind atomic among all listeners in this folder.
	unlock, err := lockFolder(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("listening at %s: %w", a, err)
	}
	defer unlock()
	if err := a.removeStale(ctx, program); err != nil {
		return nil, err
	}
	// The socket file gets the mode that the socket has before bind, so no other user can connect
	// between bind and Chmod.
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
	}}
	l, err := config.Listen(ctx, "unix", a.path)
	if err != nil {
		return nil, fmt.Errorf("listening at %s: %w", a, err)
	}
	if err := os.Chmod(a.path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("listening at %s: %w", a, err), l.Close())
	}
	return &Listener{Listener: l, addr: a, room: newRoom()}, nil
}

func (a Address) removeStale(ctx context.Context, program string) error {
	info, err := os.Lstat(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listening at %s: %w", a, err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("listening at %s: a file that is no socket is in the way; remove it, or choose another address", a)
	}
	ctx, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	left, err := a.probe(ctx)
	for left { // until the copy of the dead server has exited
		if sleep(ctx, probePause) != nil {
			break
		}
		left, err = a.probe(ctx)
	}
	switch {
	case err == nil:
		return fmt.Errorf("%w: another %s answers at %s", ErrInUse, program, a)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		if err := os.Remove(a.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("replacing the socket of a dead %s at %s: %w", program, a, err)
		}
		return nil
	default:
		return fmt.Errorf("%w: cannot tell whether another %s answers at %s: %w", ErrInUse, program, a, err)
	}
}

// probe connects to the server at the socket. left means that the connect succeeded, but the
// process that listened does not exist any more. A process that is killed while it starts a program
// leaves a copy of itself for a moment, which has its sockets and locks. No server accepts in that
// copy, and it exits soon.
func (a Address) probe(ctx context.Context) (left bool, err error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", a.path)
	if err != nil {
		return false, err
	}
	pid, known := PeerPID(conn)
	_ = conn.Close()
	return known && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH), nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func lockFolder(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if err := filelock.Wait(ctx, f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("locking the folder %s: %w", dir, err)
	}
	return func() { _ = f.Close() }, nil
}
