package address

import (
	"fmt"
	"net/netip"
	"strings"
)

// ParseListener parses the address of a listener: everything that Parse accepts, and IP:PORT with
// any IP address of this machine, such as 0.0.0.0:8443 for all IPv4 addresses. A server that
// listens at an address that is not on loopback must identify its callers; see IsLoopback.
func ParseListener(s string) (Address, error) {
	a, err := Parse(s)
	if err == nil || s == "" || strings.HasPrefix(s, unixScheme) {
		return a, err
	}
	port, portErr := netip.ParseAddrPort(s)
	if portErr != nil || port.Addr().Zone() != "" {
		return Address{}, fmt.Errorf("the address %q is ill-formed; use unix:///PATH or IP:PORT, such as 0.0.0.0:8443 for all addresses of this machine", s)
	}
	return Address{port: port}, nil
}

// IsLoopback reports whether the address is a TCP port that only programs of this machine can
// reach.
func (a Address) IsLoopback() bool { return a.port.IsValid() && a.port.Addr().IsLoopback() }
