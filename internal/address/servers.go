package address

import (
	"fmt"
	"net"
	"strings"
)

const (
	// maxServers bounds a list, because a client may have a connection to each server.
	maxServers = 100
	dnsScheme  = "dns:///"
)

// Servers says where a client finds servers of which any will do. It has addresses, or a name.
type Servers struct {
	Addresses []Address // at least one, all different; nil with Name
	// Name is HOST:PORT, and the IP addresses that DNS has for HOST are the servers. It is the zero
	// Address for a list.
	Name Address
}

// IsSeveral reports whether a text means several servers: it has a comma, or begins with dns:///.
func IsSeveral(s string) bool { return strings.Contains(s, ",") || strings.HasPrefix(s, dnsScheme) }

// ParseServers parses a list of addresses for ParseServer, separated by commas, or
// dns:///HOST:PORT.
func ParseServers(s string) (Servers, error) {
	if rest, ok := strings.CutPrefix(s, dnsScheme); ok && !strings.Contains(s, ",") {
		name, err := ParseServer(rest)
		if err != nil || !name.IsRemote() || net.ParseIP(name.Host()) != nil {
			return Servers{}, fmt.Errorf("%q is no name of DNS; use %sHOST:PORT", s, dnsScheme)
		}
		return Servers{Name: name}, nil
	}
	var all Servers
	taken := map[Address]bool{}
	for text := range strings.SplitSeq(s, ",") {
		if strings.HasPrefix(text, dnsScheme) {
			return Servers{}, fmt.Errorf("%q already stands for several servers; leave out the others", text)
		}
		a, err := ParseServer(text)
		if err != nil {
			return Servers{}, err
		}
		if taken[a] {
			return Servers{}, fmt.Errorf("the list of servers has %s twice", a)
		}
		taken[a] = true
		all.Addresses = append(all.Addresses, a)
	}
	if len(all.Addresses) > maxServers {
		return Servers{}, fmt.Errorf("the list has %d servers, and the maximum is %d", len(all.Addresses), maxServers)
	}
	return all, nil
}
