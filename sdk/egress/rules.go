// Package egress owns the rules for addresses of outgoing connections: which of them are public,
// and which others an operator grants. It also makes the HTTP transport that keeps these rules.
//
// A URL that a model, a file or a server chooses must not lead to services that trust their
// network, such as the metadata service of a cloud. A rule about names cannot ensure that, because
// a name can resolve to any address, and to another one a moment later. So the rules apply to the
// address of each connection, after the name is resolved and before a packet is sent.
//
// Package egress does not decide which names or URLs may be requested.
package egress

import (
	"context"
	"fmt"
	"net/netip"
	"syscall"
)

// Rules are the rules for the addresses of connections. The zero value permits every public address
// and no other. Rules do not change, and can be used concurrently.
type Rules struct {
	// Allow lists addresses that are permitted although they are not public.
	Allow []Grant
	// GrantedOnly refuses public addresses that Allow does not list. Connections without TLS need it,
	// because everyone on their way can read what they carry.
	GrantedOnly bool
}

// Refusal is the error for an address that the rules do not permit.
type Refusal struct {
	// Address is for operators. A name of an internal network may resolve to it, so texts for models
	// must not contain it.
	Address netip.Addr
	Kind    string // such as "a private address"
}

// Error does not contain the address.
func (r *Refusal) Error() string { return "it leads to " + r.Kind }

// Check returns a *Refusal if the rules do not permit a connection to an address.
func (r Rules) Check(to netip.AddrPort) error {
	address := to.Addr().Unmap()
	kind := Special(address)
	if kind == "" && !r.GrantedOnly {
		return nil
	}
	for _, g := range r.Allow {
		if g.contains(address, to.Port()) {
			return nil
		}
	}
	if kind == "" {
		kind = "a public address without TLS"
	}
	return &Refusal{Address: address, Kind: kind}
}

// CheckText is Check for an address in the form of package net.
func (r Rules) CheckText(address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("reading the address %q: %w", address, err)
	}
	return r.Check(to)
}

// Control is a net.Dialer.ControlContext that enforces the rules.
func (r Rules) Control(_ context.Context, _, address string, _ syscall.RawConn) error {
	return r.CheckText(address)
}
