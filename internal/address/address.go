// Package address says where a server is: how an address is written, where the default sockets are, and how to listen
// at one and dial one so that only the same user of the same machine gets in.
//
// It owns the syntax, the socket file and the folder around it, and knows who is at the other end of a unix socket. It
// does not know what is spoken on a connection.
package address

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxSocketPath is what a kernel's socket address holds of a path (108 bytes on Linux with the final zero, 104 on BSD).
const maxSocketPath = 103

const unixScheme = "unix://"

// Address is where a server listens: a unix socket, or a TCP port on loopback. The zero value is no address. Addresses
// are comparable.
type Address struct {
	path string         // of a unix socket; empty for TCP
	port netip.AddrPort // of a TCP port; zero for a unix socket
	own  bool           // a user's own server is expected there: see Own
}

// Parse reads an address: unix:///PATH, 127.0.0.1:PORT or [::1]:PORT. All else is refused, with the reason: the API is
// not protected against other machines, so it stays on this one. Host names are refused because what they resolve to
// can change.
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
		return Address{}, fmt.Errorf("the address %q is not on loopback, and other machines must not reach this API; use unix:///PATH, 127.0.0.1:PORT or [::1]:PORT", s)
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

// Default returns the socket that a program of this user listens at when nothing else is said:
// $XDG_RUNTIME_DIR/PROGRAM/PROGRAM.sock, else /tmp/PROGRAM-UID/PROGRAM.sock. getenv looks up the environment. A runtime
// folder that is relative or too long is passed over.
func Default(program string, getenv func(string) string) Address {
	if dir := getenv("XDG_RUNTIME_DIR"); dir != "" {
		if a, err := Unix(filepath.Join(dir, program, program+".sock")); err == nil {
			return a.Own()
		}
	}
	return Address{path: filepath.Join("/tmp", program+"-"+strconv.Itoa(os.Getuid()), program+".sock"), own: true}
}

// Own returns the address as one that no user chose, such as a default socket. Its folder may be anybody's: another user can
// make a folder in /tmp first, and sudo can keep another user's XDG_RUNTIME_DIR. So Dial connects to it only where the folder
// and the server belong to this user or to root, even if this user is root.
func (a Address) Own() Address {
	a.own = a.IsUnix()
	return a
}

// IsOwn reports whether the address was made by Own or Default.
func (a Address) IsOwn() bool { return a.own }

// IsUnix reports whether the address is a unix socket.
func (a Address) IsUnix() bool { return a.path != "" }

// Path returns the socket's path, or "" for TCP.
func (a Address) Path() string { return a.path }

// String returns the address as Parse reads it, or "" for the zero value.
func (a Address) String() string {
	switch {
	case a.path != "":
		return unixScheme + a.path
	case a.port.IsValid():
		return a.port.String()
	default:
		return ""
	}
}

// CheckSecure returns an error that says what to do if the address lets in whoever reaches it, as a TCP port does, and the
// configuration does not accept that.
func (a Address) CheckSecure(insecure bool) error {
	if a.IsUnix() || insecure {
		return nil
	}
	return fmt.Errorf("a TCP port such as %s lets in every user and program of this machine, without asking which one it is; "+
		"listen at unix:///PATH, or write `insecure: true` into the configuration file if that is what you want", a)
}

func (a Address) network() (network, address string) {
	if a.IsUnix() {
		return "unix", a.path
	}
	return "tcp", a.port.String()
}

// Find returns the address that a client of program should use: given if that is not empty, else what the
// environment's PROGRAM_ADDR says, else the default.
func Find(given, program string, getenv func(string) string) (Address, error) {
	if given != "" {
		return Parse(given)
	}
	variable := Variable(program)
	if value := getenv(variable); value != "" {
		a, err := Parse(value)
		if err != nil {
			return Address{}, fmt.Errorf("the environment's %s: %w", variable, err)
		}
		return a, nil
	}
	return Default(program, getenv), nil
}

// Variable returns the name of the environment variable that holds a program's address, such as TOOLHOST_ADDR.
func Variable(program string) string { return strings.ToUpper(program) + "_ADDR" }
