package target_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
)

// fleet returns the nodes that a command with --fleet asks, as NAME ADDRESS, or the error.
func (u *user) fleet(addr, name string) (nodes []string, flags string) {
	u.t.Helper()
	p, _, _ := u.process()
	f, err := (&target.Choice{Program: "toolhost", Process: p, Addr: addr, Target: name}).FindFleet(u.t.Context())
	if err != nil {
		return []string{err.Error()}, ""
	}
	for _, n := range f.Nodes {
		nodes = append(nodes, n.Name+" "+n.Address.String()+" "+strings.Join(n.Flags, " "))
	}
	return nodes, strings.Join(f.Flags, " ")
}

func TestFleets(t *testing.T) {
	u, ca := newUser(t), testca.New(t)
	u.want(0, "use it with --fleet --target prod", "add", "prod", "--fleet", "a=a.example:7443,b.example:7443", "--ca", ca.Path, "--token-command", "cat /run/token")
	u.want(0, "added", "add", "near", "--address", "unix:///run/near.sock")
	u.want(0, "a=a.example:7443, b.example:7443", "list")
	u.want(0, "fleet:             a=a.example:7443, b.example:7443", "show", "prod")
	u.want(0, `"nodes":["a=a.example:7443","b.example:7443"]`, "show", "prod", "-o", "json")
	u.want(0, "added", "add", "dns", "--fleet", "dns:///toolhost.example:7443")
	prod := "a a.example:7443 --target prod/a; b.example:7443 b.example:7443 --target prod/b.example:7443"
	local := "unix://" + u.env["HOME"] + "/run/toolhost/toolhost.sock"
	for _, test := range []struct{ addr, name, env, nodes, flags string }{
		{"", "prod", "", prod, "--target prod"},
		{"", "", "TOOLHOST_TARGET=prod", prod, "--target prod"},
		{"", "near", "", "near unix:///run/near.sock --target near", "--target near"},
		{"", "", "", "local " + local + " --target local", "--target local"},
		{"", "prod/a", "", "prod/a a.example:7443 --target prod/a", "--target prod/a"},
		{"x=h:1,h:2", "", "", "x h:1 --addr h:1; h:2 h:2 --addr h:2", "--addr x=h:1,h:2"},
		{"", "", "TOOLHOST_ADDR=h:1,h:2", "h:1 h:1 --addr h:1; h:2 h:2 --addr h:2", "--addr h:1,h:2"},
		{"dns:///h:2", "", "", "dns:///h:2 is a name of DNS; add it to the targets", ""},
		{"h:1", "prod", "", "exclude each other", ""},
		{"h:1,h:1", "", "", "the fleet has h:1 twice", ""},
		{"", "none", "", `there is no target "none"`, ""},
	} {
		variable, value, _ := strings.Cut(test.env, "=")
		u.env[variable] = value
		nodes, flags := u.fleet(test.addr, test.name)
		if got := strings.Join(nodes, "; "); !strings.Contains(got, test.nodes) || flags != test.flags {
			t.Errorf("%+v: %s, %s", test, got, flags)
		}
		delete(u.env, variable)
	}
	u.want(0, "now talk to the target prod", "use", "prod")
	if nodes, _ := u.fleet("", ""); strings.Join(nodes, "; ") != prod {
		t.Errorf("the target in use: %s", nodes)
	}
	if _, at := u.finds("", ""); !strings.Contains(at, "the target prod is a fleet, a=a.example:7443, b.example:7443; choose one server with --target prod/NODE") {
		t.Errorf("a command for one server uses a fleet: %s", at)
	}
	for name, want := range map[string]string{
		"prod/a": "a.example:7443", "prod/b.example:7443": "b.example:7443", "prod/c": `no node "c"; it has a, b.example:7443`,
		"near/a": "is one server", "dns/192.0.2.1:7443": "192.0.2.1:7443", "dns/192.0.2.1:22": "use --target dns/IP:7443", "dns/evil.example:7443": "use --target dns/IP:7443",
	} {
		if _, at := u.finds("", name); !strings.Contains(at, want) {
			t.Errorf("%s: %s, want %s", name, at, want)
		}
	}
	if s, _ := u.finds("", "prod/a"); s.Target != "prod/a" || s.Settings.TLS == nil || s.Settings.TLS.CA != ca.Path || s.Settings.Source == nil {
		t.Errorf("the node lacks the credentials of its target: %+v", s)
	}
}

// A command that any server can answer takes a fleet as one.
func TestAnyOfAFleet(t *testing.T) {
	u, ca := newUser(t), testca.New(t)
	u.want(0, "added", "add", "prod", "--fleet", "a=a.example:7443,b.example:7443", "--ca", ca.Path)
	u.want(0, "added", "add", "dns", "--fleet", "dns:///toolhost.example:7443")
	for _, test := range []struct {
		addr, name, env, want string
		options               int
	}{
		{"", "prod", "", "a.example:7443,b.example:7443", 2},
		{"", "prod/a", "", "a.example:7443", 2},
		{"", "dns", "", "dns:///toolhost.example:7443", 1},
		{"h:1,h:2", "", "", "h:1,h:2", 0},
		{"dns:///h:2", "", "", "dns:///h:2", 0},
		{"", "", "h:1,h:2", "h:1,h:2", 0},
		{"h:3", "", "h:1,h:2", "h:3", 0},
		{"h:1,h:1", "", "", "has h:1 twice", 0},
		{"h:1", "prod", "", "exclude each other", 0},
	} {
		u.env["TOOLHOST_ADDR"] = test.env
		p, _, _ := u.process()
		s, err := (&target.Choice{Program: "toolhost", Process: p, Addr: test.addr, Target: test.name}).FindAny()
		got := s.DialAddress()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) || len(s.DialOptions()) != test.options {
			t.Errorf("%+v: %s with %d options", test, got, len(s.DialOptions()))
		}
	}
}

// A server that DNS names must have a certificate for the name that the user wrote, also on
// loopback, where a connection has no TLS otherwise. So whoever answers for DNS gets no token and
// no command.
func TestAddressesOfDNSAreVerifiedByTheName(t *testing.T) {
	u := newUser(t)
	u.want(0, "added", "add", "dns", "--fleet", "dns:///localhost:7443", "--token-file", "/t")
	if s, at := u.finds("", "dns/127.0.0.1:7443"); s.Settings.TLS == nil || s.Settings.TLS.ServerName != "localhost" {
		t.Errorf("%s: %+v", at, s.Settings)
	}
	p, _, _ := u.process()
	f, err := (&target.Choice{Program: "toolhost", Process: p, Target: "dns"}).FindFleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range f.Nodes {
		if n.Settings.TLS == nil || n.Settings.TLS.ServerName != "localhost" || n.Name != n.Address.String() {
			t.Errorf("%+v", n)
		}
	}
}

func TestFleetsThatCannotWork(t *testing.T) {
	u := newUser(t)
	var many []string
	for port := range 101 {
		many = append(many, fmt.Sprintf("h:%d", port+1))
	}
	for part, args := range map[string][]string{
		"exclude each other":             {"--address", "h:1", "--fleet", "h:2"},
		"is ill-formed":                  {"--fleet", "h:1,nonsense"},
		"does not fit":                   {"--fleet", "A/..=h:1"},
		`is not "all"`:                   {"--fleet", "all=h:1"},
		"the fleet has a twice":          {"--fleet", "a=h:1,a=h:2"},
		"the fleet has b twice":          {"--fleet", "a=h:1,b=h:1"},
		"leave out the others":           {"--fleet", "dns:///h:1,h:2"},
		"is no name of DNS":              {"--fleet", "dns:///192.0.2.1:1"},
		"has no TLS":                     {"--fleet", "h:1,127.0.0.1:1", "--token-file", "/t"},
		"is a unix socket; use HOST":     {"--fleet", "h:1,unix:///s", "--server-name", "n"},
		"has 101 nodes, and the maximum": {"--fleet", strings.Join(many, ",")},
	} {
		u.want(2, part, append([]string{"add", "x"}, args...)...)
	}
}
