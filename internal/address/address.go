// Package address defines where a server listens: the syntax of addresses, the default sockets, and
// how to listen and dial so that only the same user of the same machine can connect.
//
// It owns the syntax, the socket file and the folder that contains it. It also finds out which
// process is at the other end of a unix socket. It does not know the protocol of a connection.
package address

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxSocketPath is the maximum length in bytes of a socket path. A kernel's socket address holds
// 108 bytes on Linux and 104 on BSD, including the final zero.
const maxSocketPath = 103

const unixScheme = "unix://"

// TempDir returns the folder for temporary files that also hold sockets: os.TempDir, or /tmp if
// os.TempDir leaves fewer than room bytes for the rest of a socket's path.
func TempDir(room int) string {
	if dir := os.TempDir(); len(dir)+room <= maxSocketPath {
		return dir
	}
	return "/tmp"
}

// Address is a unix socket, a TCP port on loopback, or the HOST:PORT of a server that may be on
// another machine. The zero value is no address. Addresses are comparable.
type Address struct {
	path   string         // path of a unix socket; "" for TCP
	port   netip.AddrPort // IP address and port on loopback; zero otherwise
	server string         // HOST:PORT of ParseServer; "" otherwise
	own    bool           // no user chose this address; see Own
}

// Parse parses an address: unix:///PATH, 127.0.0.1:PORT or [::1]:PORT. It returns an error for
// everything else. The API is not protected against other machines, so Parse accepts only loopback.
// It refuses host names because they can resolve to another address later.
func Parse(s string) (Address, error) {
	if rest, ok := strings.CutPrefix(s, unixScheme); ok {
		return Unix(rest)
	}
	if s == "" {
		return Address{}, errors.New("the address is empty; use unix:///PATH or 127.0.0.1:PORT")
	}
	port, err := netip.ParseAddrPort(s)
	if err != nil {
		return Address{}, fmt.Errorf("the address %q is ill-formed; use unix:///PATH, 127.0.0.1:PORT or [::1]:PORT", s)
	}
	if !port.Addr().IsLoopback() {
		return Address{}, fmt.Errorf("the address %q is not on loopback, and other machines could reach it; use unix:///PATH, 127.0.0.1:PORT or [::1]:PORT, or add it to listeners with tls", s)
	}
	return Address{port: port}, nil
}

// Unix returns the address of the socket at an absolute path.
func Unix(path string) (Address, error) {
	switch {
	case !filepath.IsAbs(path):
		return Address{}, fmt.Errorf("the socket path %q is not absolute; use unix:///PATH with three slashes", path)
	case strings.ContainsRune(path, 0):
		return Address{}, fmt.Errorf("the socket path %q holds a zero byte", path)
	case strings.HasSuffix(path, "/"):
		return Address{}, fmt.Errorf("the socket path %q names a folder; add a file name", path)
	}
	path = filepath.Clean(path)
	if len(path) > maxSocketPath {
		return Address{}, fmt.Errorf("the socket path %q has %d bytes and the kernel takes %d; use a shorter one", path, len(path), maxSocketPath)
	}
	return Address{path: path}, nil
}

// Default returns the socket at which a program of this user listens if no address is given:
// $XDG_RUNTIME_DIR/PROGRAM/PROGRAM.sock, otherwise /tmp/PROGRAM-UID/PROGRAM.sock. Default ignores
// an XDG_RUNTIME_DIR that is relative or too long. getenv returns the value of an environment
// variable, such as os.Getenv.
func Default(program string, getenv func(string) string) Address {
	if dir := getenv("XDG_RUNTIME_DIR"); dir != "" {
		if a, err := Unix(filepath.Join(dir, program, program+".sock")); err == nil {
			return a.Own()
		}
	}
	return Address{path: inTemp(program), own: true}
}

// inTemp returns the path of the default socket without a runtime folder. Another user can create
// its folder.
func inTemp(program string) string {
	return filepath.Join("/tmp", program+"-"+strconv.Itoa(os.Getuid()), program+".sock")
}

// runtimes is the folder of the runtime folders of users, by their ids. systemd makes them, for
// their users alone.
var runtimes = "/run/user"

// Local returns the socket at which a client of this user finds a program if no address is given:
// the default socket. If there is none and no XDG_RUNTIME_DIR, such as in a server that a client of
// MCP starts with few variables, it is the socket of a program that has the variable, if there is
// one.
func Local(program string, getenv func(string) string) Address {
	usual := Default(program, getenv)
	path := filepath.Join(runtimes, strconv.Itoa(os.Getuid()), program, program+".sock")
	if getenv("XDG_RUNTIME_DIR") == "" && !isSocket(usual.path) && isSocket(path) {
		return Address{path: path, own: true}
	}
	return usual
}

func isSocket(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSocket != 0
}

// Own marks the address as one that no user chose, such as a default socket. Its folder may belong
// to another user: another user can create a folder in /tmp first, and sudo can keep the
// XDG_RUNTIME_DIR of another user. So Dial connects to it only if the folder and the server belong
// to this user or to root. This holds even if this user is root.
func (a Address) Own() Address {
	a.own = a.IsUnix()
	return a
}

// IsOwn reports whether the address comes from Own, Local or Default.
func (a Address) IsOwn() bool { return a.own }

// IsUnix reports whether the address is a unix socket.
func (a Address) IsUnix() bool { return a.path != "" }

// Path returns the path of the socket, or "" for TCP.
func (a Address) Path() string { return a.path }

// String returns the address in the syntax of Parse, or "" for the zero value.
func (a Address) String() string {
	switch {
	case a.path != "":
		return unixScheme + a.path
	case a.port.IsValid():
		return a.port.String()
	default:
		return a.server
	}
}

func (a Address) network() (network, address string) {
	if a.IsUnix() {
		return "unix", a.path
	}
	return "tcp", a.String()
}

// Find returns the address that a client of program uses: given if it is not empty, otherwise the
// value of the environment variable PROGRAM_ADDR, otherwise that of Local. The default socket in
// /tmp is as in Own also if it is given, such as in a file that a program has written.
func Find(given, program string, getenv func(string) string) (Address, error) {
	if given != "" {
		a, err := ParseServer(given)
		if err == nil && a.path == inTemp(program) {
			a = a.Own()
		}
		return a, err
	}
	variable := Variable(program)
	if value := getenv(variable); value != "" {
		a, err := ParseServer(value)
		if err != nil {
			return Address{}, fmt.Errorf("the environment's %s: %w", variable, err)
		}
		return a, nil
	}
	return Local(program, getenv), nil
}

// Variable returns the name of the environment variable that contains a program's address, such as
// TOOLHOST_ADDR.
func Variable(program string) string { return strings.ToUpper(program) + "_ADDR" }
