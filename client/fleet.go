package client

import (
	"cmp"
	"context"
	"net"
	"os"
	"slices"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/tool"
)

// newFleet returns the links to the servers of addr, or of the environment.
func newFleet(addr, program string, limit int, options []DialOption) (*link.Fleet, error) {
	text := cmp.Or(addr, os.Getenv(address.Variable(program)))
	if !address.IsSeveral(text) {
		to, err := newLink(addr, program, limit, options)
		if err != nil {
			return nil, err
		}
		return link.NewFleet(to.Addr(), to), nil
	}
	servers, err := address.ParseServers(text)
	if err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	d := dialingOf(options)
	if d.by != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "WithDialer connects to one server, and %q means several", text)
	}
	if servers.Addresses == nil {
		return d.found(text, servers.Name, program, limit)
	}
	var links []*link.Link
	for _, at := range servers.Addresses {
		to, err := d.link(at, program, limit)
		if err != nil {
			return nil, err
		}
		links = append(links, to)
		to.Share(links[0])
	}
	return link.NewFleet(text, links...), nil
}

// found returns the fleet of a name in DNS. The settings of TLS and the name that a certificate
// must have follow from the name in the address. So an answer of DNS cannot change them.
func (d *dialing) found(text string, name address.Address, program string, limit int) (*link.Fleet, error) {
	resolved, err := d.settings.Resolve(program, name, os.Getenv)
	if err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	first, err := link.New(name, program, limit, resolved) // reads the files, and has the tokens of all
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(name.String())
	find := func(ctx context.Context) ([]string, error) {
		ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name.Host())
		var found []string
		for _, ip := range ips {
			found = append(found, net.JoinHostPort(ip.Unmap().String(), port))
		}
		slices.Sort(found)
		return slices.Compact(found), err
	}
	return link.FindFleet(text, find, func(addr string) (*link.Link, error) {
		at, err := address.ParseServer(addr)
		if err != nil {
			return nil, err
		}
		to, err := link.New(at, program, limit, resolved)
		if err == nil {
			to.Share(first)
		}
		return to, err
	}), nil
}
