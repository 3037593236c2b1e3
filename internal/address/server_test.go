package address_test

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/address"
)

func TestParseServer(t *testing.T) {
	for in, host := range map[string]string{
		"unix:///run/x.sock": "", "127.0.0.1:80": "127.0.0.1", "[::1]:80": "::1",
		"192.0.2.1:80": "192.0.2.1", "[2001:db8::1]:443": "2001:db8::1", "localhost:80": "localhost", "a.example:7443": "a.example",
		"a_b.example.:1": "a_b.example.",
	} {
		a, err := address.ParseServer(in)
		if err != nil || a.String() != in || a.Host() != host {
			t.Errorf("%s: %v, %v, host %q", in, a, err, a.Host())
		}
		if remote := host != "" && host != "127.0.0.1" && host != "::1"; a.IsRemote() != remote {
			t.Errorf("%s: IsRemote = %v", in, a.IsRemote())
		}
	}
	for _, in := range []string{
		"", ":80", "host", "host:", "host:0", "host:70000", "host:+1", "host:http", "-a:1", "a..b:1", "a b:1", "0.0.0.0:1", "[::]:1", "1.2.3:1",
		"http://host:1", "host:1/x", "h\x00st:1", "unix://x", "user@host:1", strings.Repeat("a.", 200) + "b:1",
	} {
		if a, err := address.ParseServer(in); err == nil {
			t.Errorf("%q is accepted as %v", in, a)
		}
	}
}
