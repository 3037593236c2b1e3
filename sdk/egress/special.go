package egress

import "net/netip"

// kinds are the address ranges that do not belong to the public Internet: IANA's registries of
// special-purpose addresses, and the metadata services of clouds that lie outside of these.
var kinds = []struct {
	prefix netip.Prefix
	kind   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this host"},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private address"},
	{netip.MustParsePrefix("100.64.0.0/10"), "an address inside a provider's network"},
	{netip.MustParsePrefix("127.0.0.0/8"), "this host"},
	{netip.MustParsePrefix("168.63.129.16/32"), "a cloud's metadata service"},
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local address, where clouds have their metadata services"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private address"},
	{netip.MustParsePrefix("192.0.0.0/24"), "an address reserved for protocols"},
	{netip.MustParsePrefix("192.0.2.0/24"), "an address for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a 6to4 relay"},
	{netip.MustParsePrefix("192.168.0.0/16"), "a private address"},
	{netip.MustParsePrefix("198.18.0.0/15"), "an address for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "an address for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "an address for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "a multicast address"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved address"},

	{netip.MustParsePrefix("::1/128"), "this host"},
	{netip.MustParsePrefix("::/128"), "this host"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "a private address"},
	{netip.MustParsePrefix("2001::/23"), "an address reserved for protocols"},
	{netip.MustParsePrefix("2001:db8::/32"), "an address for documentation"},
	{netip.MustParsePrefix("3fff::/20"), "an address for documentation"},
	{netip.MustParsePrefix("fc00::/7"), "a private address"},
	{netip.MustParsePrefix("fe80::/10"), "a link-local address"},
	{netip.MustParsePrefix("fec0::/10"), "a private address"},
	{netip.MustParsePrefix("ff00::/8"), "a multicast address"},
}

var (
	nat64 = netip.MustParsePrefix("64:ff9b::/96") // the last four bytes are an IPv4 address
	// the four bytes after the prefix are an IPv4 address
	sixToV4 = netip.MustParsePrefix("2002::/16")
	// all global unicast addresses that IANA has assigned
	unicast = netip.MustParsePrefix("2000::/3")
)

// Special returns the kind of an address that is not public, such as "a private address"; empty for
// a public one.
func Special(address netip.Addr) string {
	address = address.Unmap()
	if address.Zone() != "" {
		return "a link-local address"
	}
	for _, k := range kinds {
		if k.prefix.Contains(address) {
			return k.kind
		}
	}
	if address.Is4() {
		return ""
	}
	bytes := address.As16()
	switch {
	case nat64.Contains(address):
		return Special(netip.AddrFrom4([4]byte(bytes[12:16])))
	case sixToV4.Contains(address):
		return Special(netip.AddrFrom4([4]byte(bytes[2:6])))
	case !unicast.Contains(address):
		return "a reserved address"
	}
	return ""
}
