package authconfig

import (
	"context"
	"errors"
	"net/netip"
	"testing"
)

// {hostname} and {ip} stand for what this machine has. A machine without an IP address is an error,
// and so is one that others would look for at themselves.
func TestReachedAs(t *testing.T) {
	addresses := map[string][]netip.Addr{
		"pod":    {netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("fd00::3")},
		"six":    {netip.MustParseAddr("fd00::3")},
		"mapped": {netip.MustParseAddr("::ffff:10.1.2.3")},
		"debian": {netip.MustParseAddr("127.0.1.1"), netip.MustParseAddr("10.1.2.4")},
		"alone":  {netip.MustParseAddr("127.0.1.1")},
	}
	none := errors.New("no such host")
	lookup := func(_ context.Context, network, host string) ([]netip.Addr, error) {
		if found := addresses[host]; network == "ip" && len(found) > 0 {
			return found, nil
		}
		return nil, none
	}
	for _, c := range []struct{ address, name, want string }{
		{"", "pod", ""},
		{"node.example:7444", "none", "node.example:7444"},
		{"{hostname}.nodes:7444", "none", "none.nodes:7444"},
		{"{ip}:7445", "pod", "10.1.2.3:7445"},
		{"{ip}:7445", "six", "[fd00::3]:7445"},
		{"{ip}:7445", "mapped", "10.1.2.3:7445"},
		{"{ip}:7445", "debian", "10.1.2.4:7445"},
	} {
		if got, err := (&Nodes{Address: c.address}).reachedAs(t.Context(), c.name, lookup); err != nil || got != c.want {
			t.Errorf("%s on %s: %q, %v, want %q", c.address, c.name, got, err, c.want)
		}
	}
	if got, err := (&Nodes{Address: "{ip}:7445"}).reachedAs(t.Context(), "none", lookup); !errors.Is(err, none) || got != "" {
		t.Errorf("a machine without an address: %q, %v", got, err)
	}
	for listen, want := range map[string]string{"127.0.0.1:7445": "127.0.1.1:7445", "[::1]:7445": "127.0.1.1:7445", "0.0.0.0:7445": "", "10.1.2.4:7445": ""} {
		got, err := (&Nodes{Listen: listen, Address: "{ip}:7445"}).reachedAs(t.Context(), "alone", lookup)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("a machine that listens on %s and has an address of loopback alone: %q, %v, want %q", listen, got, err, want)
		}
	}
}
