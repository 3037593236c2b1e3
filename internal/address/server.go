package address

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// maxNameBytes is the maximum length of a DNS name.
const maxNameBytes = 253

// ParseServer parses the address of a server for a client: everything that Parse accepts, and
// HOST:PORT with a DNS name or any IP address. A client reaches an address that is not on loopback
// only with TLS; see IsRemote.
func ParseServer(s string) (Address, error) {
	a, err := Parse(s)
	if err == nil || s == "" || strings.HasPrefix(s, unixScheme) {
		return a, err
	}
	host, port, splitErr := net.SplitHostPort(s)
	number, portErr := strconv.ParseUint(port, 10, 16)
	if splitErr != nil || portErr != nil || number == 0 || !isHost(host) {
		return Address{}, fmt.Errorf("the address %q is ill-formed; use unix:///PATH or HOST:PORT", s)
	}
	return Address{server: net.JoinHostPort(host, port)}, nil
}

// isHost reports whether a text is an IP address or has the form of a DNS name.
func isHost(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return !ip.IsUnspecified()
	}
	if len(host) > maxNameBytes {
		return false
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "-") != label || strings.ContainsFunc(label, notInName) {
			return false
		}
	}
	// A name whose last label has only digits is a malformed IPv4 address.
	return strings.ContainsFunc(labels[len(labels)-1], func(r rune) bool { return r < '0' || r > '9' })
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// IsRemote reports whether the address may be on another machine: it is HOST:PORT and HOST is not
// an IP address of loopback. The name localhost is remote, too, because a resolver decides about
// it.
func (a Address) IsRemote() bool { return a.server != "" }

// Host returns the DNS name or the IP address of the server, or "" for a unix socket.
func (a Address) Host() string {
	switch {
	case a.server != "":
		host, _, _ := net.SplitHostPort(a.server)
		return host
	case a.port.IsValid():
		return a.port.Addr().String()
	default:
		return ""
	}
}
