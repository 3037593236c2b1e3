package target

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	// maxNodes bounds a fleet. A command has a connection to each node at the same time.
	maxNodes = 100
	// resolveTimeout bounds the lookup of a DNS name.
	resolveTimeout = 5 * time.Second
	// dnsScheme begins the name of a fleet whose addresses are in DNS.
	dnsScheme = "dns:///"
	// everyNode labels sums of all nodes, so no node has this name.
	everyNode = "all"
)

// Node is one server of a fleet.
type Node struct {
	Name string // what the user calls it: the name in the target, or the address
	Server
	// Flags are the words of a command line that choose this node alone.
	Flags []string
}

// Fleet is several servers that a user treats as one.
type Fleet struct {
	Nodes []Node // at least one, with different names
	// Flags are the words of a command line that choose this fleet, without --fleet.
	Flags []string
}

// FindFleet returns the fleet of the command line: the nodes of a target, or the addresses of
// --addr, separated by commas. It chooses between them as Find does. A target or an address of one
// server is a fleet of one. FindFleet asks DNS if the target has a name of DNS. Errors are usage
// errors, except those of DNS.
func (c *Choice) FindFleet(ctx context.Context) (Fleet, error) {
	addr, name, err := c.choose()
	if err != nil {
		return Fleet{}, err
	}
	if addr = cmp.Or(addr, c.Process.Getenv(address.Variable(c.Program))); addr != "" && name == "" {
		return c.addresses(addr)
	}
	if name != "" && name != Local {
		all, err := c.store().read()
		if err != nil {
			return Fleet{}, err
		}
		if t := all.Targets[name]; len(t.Nodes) > 0 {
			return c.fleet(ctx, name, t)
		}
	}
	one, err := c.Find()
	if err != nil {
		return Fleet{}, err
	}
	name = cmp.Or(name, Local)
	node := Node{Name: name, Server: one, Flags: []string{"--target", name}}
	return Fleet{Nodes: []Node{node}, Flags: node.Flags}, nil
}

// addresses returns the fleet of a list of addresses, with the credentials of the environment.
func (c *Choice) addresses(list string) (Fleet, error) {
	f := Fleet{Flags: []string{"--addr", list}}
	members, err := parseMembers(strings.Split(list, ","))
	if err != nil {
		return f, cli.Usage("%w", err)
	}
	for _, m := range members {
		if m.at == (address.Address{}) {
			return f, cli.Usage("%s is a name of DNS; add it to the targets with `%s target add NAME --fleet %[1]s`", m.text, c.Program)
		}
		f.Nodes = append(f.Nodes, Node{Name: m.name, Server: Server{Program: c.Program, Address: m.at}, Flags: []string{"--addr", m.at.String()}})
	}
	return f, nil
}

// fleet returns the fleet of a target.
func (c *Choice) fleet(ctx context.Context, name string, t Target) (Fleet, error) {
	f := Fleet{Flags: []string{"--target", name}}
	members, err := parseMembers(t.Nodes)
	if err != nil {
		return f, cli.Usage("the target %s: %w", name, err)
	}
	if members[0].at == (address.Address{}) {
		if t, members, err = t.resolved(ctx, members[0]); err != nil {
			return f, fmt.Errorf("the target %s: %w", name, err)
		}
	}
	for _, m := range members {
		node := name + "/" + m.name
		f.Nodes = append(f.Nodes, Node{Name: m.name, Flags: []string{"--target", node}, Server: Server{
			Program: c.Program, Address: m.at, Target: node, Settings: t.settings(), options: t.options(),
		}})
	}
	return f, nil
}

// oneOf returns one node of a target, by its name.
func (c *Choice) oneOf(target, node string, t Target) (Server, error) {
	members, err := parseMembers(t.Nodes)
	if err != nil {
		return Server{}, cli.Usage("the target %s: %w", target, err)
	}
	first := members[0]
	if first.at == (address.Address{}) {
		host, port, _ := net.SplitHostPort(strings.TrimPrefix(first.text, dnsScheme))
		at, err := netip.ParseAddrPort(node)
		if err != nil || fmt.Sprint(at.Port()) != port {
			return Server{}, cli.Usage("the target %s has the addresses of %s; use --target %[1]s/IP:%[3]s", target, cli.OneLine(first.text), port)
		}
		t = t.verifying(host)
		first.name = node
		if first.at, err = address.ParseServer(node); err != nil {
			return Server{}, cli.Usage("the target %s: %w", target, err)
		}
		members = []member{first}
	}
	i := slices.IndexFunc(members, func(m member) bool { return m.name == node })
	if i < 0 {
		return Server{}, cli.Usage("the target %s has no node %q; it has %s", target, node, names(members))
	}
	return Server{Program: c.Program, Address: members[i].at, Target: target + "/" + node, Settings: t.settings(), options: t.options()}, nil
}

// verifying returns a target whose servers have certificates with the name host. So the addresses
// that DNS returns are no premise of trust, and a connection to loopback uses TLS, too.
func (t Target) verifying(host string) Target {
	t.ServerName = cmp.Or(t.ServerName, host)
	return t
}

// resolved asks DNS for the addresses of a member.
func (t Target) resolved(ctx context.Context, m member) (Target, []member, error) {
	host, port, err := net.SplitHostPort(strings.TrimPrefix(m.text, dnsScheme))
	if err != nil {
		return t, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return t, nil, fmt.Errorf("looking up %s: %w", host, err)
	}
	var texts []string
	for _, ip := range found {
		texts = append(texts, net.JoinHostPort(ip.Unmap().String(), port))
	}
	slices.Sort(texts)
	members, err := parseMembers(slices.Compact(texts))
	return t.verifying(host), members, err
}

// member is one entry of the list of a fleet.
type member struct {
	name, text string
	at         address.Address // zero for a name of DNS
}

func names(members []member) string {
	var all []string
	for _, m := range members {
		all = append(all, m.name)
	}
	return strings.Join(all, ", ")
}

// parseMembers parses the list of a fleet: entries of the form ADDRESS or NAME=ADDRESS, or one
// entry dns:///HOST:PORT.
func parseMembers(texts []string) ([]member, error) {
	var members []member
	taken := map[string]bool{}
	for _, text := range texts {
		m, err := parseMember(text)
		if err != nil {
			return nil, err
		}
		if m.at == (address.Address{}) && len(texts) > 1 {
			return nil, fmt.Errorf("%s already stands for several addresses; leave out the others", text)
		}
		if taken[m.name] || m.at != (address.Address{}) && taken[m.at.String()] {
			return nil, fmt.Errorf("the fleet has %s twice", m.name)
		}
		taken[m.name], taken[m.at.String()] = true, true
		members = append(members, m)
	}
	switch {
	case len(members) == 0:
		return nil, fmt.Errorf("the fleet has no addresses")
	case len(members) > maxNodes:
		return nil, fmt.Errorf("the fleet has %d nodes, and the maximum is %d", len(members), maxNodes)
	}
	return members, nil
}

func parseMember(text string) (member, error) {
	name, addr, named := strings.Cut(text, "=")
	if !named {
		name, addr = "", text
	}
	if named && (!validName.MatchString(name) || name == everyNode) {
		return member{}, fmt.Errorf("a node's name has 1 to 63 lower-case letters, digits, dots, hyphens and underscores, begins with a letter or digit, and is not %q; %q does not fit", everyNode, name)
	}
	if rest, ok := strings.CutPrefix(addr, dnsScheme); ok {
		at, err := address.ParseServer(rest)
		if err != nil || named || at.IsUnix() || net.ParseIP(at.Host()) != nil {
			return member{}, fmt.Errorf("%q is no name of DNS; use %sHOST:PORT, without a name before it", text, dnsScheme)
		}
		return member{name: addr, text: addr}, nil
	}
	at, err := address.ParseServer(addr)
	if err != nil {
		return member{}, err
	}
	return member{name: cmp.Or(name, at.String()), text: text, at: at}, nil
}
