package egress

import (
	"fmt"
	"net/netip"
)

// Grant is a range of addresses that an operator permits. The zero value permits nothing.
type Grant struct {
	prefix netip.Prefix
	port   uint16 // 0: all
}

// ParseGrant reads an address such as 10.1.2.3, an address with a port such as 127.0.0.1:8080 or
// [fd00::1]:8080, or a range such as 10.1.0.0/16.
func ParseGrant(text string) (Grant, error) {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return Grant{prefix: prefix.Masked()}, nil
	}
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return Grant{prefix: netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen())}, nil
	}
	if both, err := netip.ParseAddrPort(text); err == nil && both.Port() != 0 && both.Addr().Zone() == "" {
		address := both.Addr().Unmap()
		return Grant{prefix: netip.PrefixFrom(address, address.BitLen()), port: both.Port()}, nil
	}
	return Grant{}, fmt.Errorf("%q is neither an address, such as 10.1.2.3, 10.1.2.3:8080 or [fd00::1]:8080, nor a range, such as 10.1.0.0/16", text)
}

// ParseGrants is ParseGrant for a list.
func ParseGrants(texts []string) ([]Grant, error) {
	grants := make([]Grant, 0, len(texts))
	for _, text := range texts {
		g, err := ParseGrant(text)
		if err != nil {
			return nil, err
		}
		grants = append(grants, g)
	}
	return grants, nil
}

// contains reports whether the grant permits an address that is not an IPv4 address in IPv6.
func (g Grant) contains(address netip.Addr, port uint16) bool {
	return g.prefix.Contains(address.WithZone("")) && (g.port == 0 || g.port == port)
}
