package egress_test

import (
	"net/netip"
	"testing"

	"github.com/toolhost/toolhost/sdk/egress"
)

func TestSpecialAddresses(t *testing.T) {
	for _, text := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255", "127.0.0.1", "127.255.0.3",
		"168.63.129.16", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1",
		"192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:10.0.0.1",
		"64:ff9b::10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:1::1", "2001:db8::1",
		"2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::", "2002:c0a8:101::1", "3fff::1", "4000::1", "5f00::1", "fc00::1", "fd00:ec2::254",
		"fe80::1", "fe80::1%eth0", "2606:4700::1111%eth0", "fec0::1", "ff02::1", "ff0e::1",
	} {
		if egress.Special(netip.MustParseAddr(text)) == "" {
			t.Errorf("%s is taken for a public address", text)
		}
	}
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "168.63.129.17",
		"169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2001:200::1", "2001:4860:4860::8888", "2002:808:808::1", "2606:4700:4700::1111", "2a00:1450::1",
	} {
		if kind := egress.Special(netip.MustParseAddr(text)); kind != "" {
			t.Errorf("%s is taken for %s", text, kind)
		}
	}
}

func TestGrants(t *testing.T) {
	allow, err := egress.ParseGrants([]string{"10.1.0.0/16", "192.168.7.3", "127.0.0.1:8080", "[::1]:8080", "fd00::/8", "64:ff9b::/96"})
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Rules{Allow: allow}
	for text, want := range map[string]bool{
		"10.1.2.3:443": true, "10.2.0.1:443": false, "192.168.7.3:80": true, "192.168.7.4:80": false,
		"127.0.0.1:8080": true, "127.0.0.1:8081": false, "127.0.0.2:8080": false, "[::1]:8080": true, "[::1]:80": false,
		"[::ffff:127.0.0.1]:8080": true, "[::ffff:10.1.2.3]:1": true, "[::ffff:10.2.2.3]:1": false,
		"[fd12::1]:1": true, "[fc00::1]:1": false, "[64:ff9b::10.0.0.1]:1": true, "8.8.8.8:1": true,
	} {
		if err := rules.CheckText(text); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := rules.CheckText("example.com:80"); err == nil {
		t.Error("what is no address is let pass")
	}
}

// Without TLS, a public address needs a grant, too.
func TestGrantedOnly(t *testing.T) {
	allow, err := egress.ParseGrants([]string{"127.0.0.1", "8.8.4.4"})
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Rules{Allow: allow, GrantedOnly: true}
	for text, want := range map[string]bool{"127.0.0.1:1": true, "127.0.0.2:1": false, "8.8.8.8:80": false, "8.8.4.4:80": true} {
		if err := rules.CheckText(text); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
