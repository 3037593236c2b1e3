package authconfig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/address"
	wired "github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// Nodes says where the other servers of a database in PostgreSQL reach this one. The comment of a
// field is its documentation.
type Nodes struct {
	// The address: `IP:PORT`. No clients connect to it.
	Listen string `yaml:"listen" is:"listener" unset:"the servers do not reach each other"`
	// The address that the others use: `HOST:PORT`. `{hostname}` in it stands for the name of the
	// machine, and `{ip}` for the IP address that this name has on the machine, such as that of a
	// pod. One of loopback is refused, unless listen is on loopback. The certificate has to be for
	// the host, or for tls.server_name.
	Address string `yaml:"address" is:"node" unset:"that of listen"`
	// The files of TLS 1.3. They are read again when they change.
	TLS NodeTLS `yaml:"tls"`
}

// NodeTLS is the certificate of a server for others, which it uses as a client, too.
type NodeTLS struct {
	// The file with the certificate and those between it and the CA, in PEM.
	Certificate string `yaml:"certificate" is:"file" unset:"none"`
	// The file with the private key of the certificate.
	Key string `yaml:"key" is:"file" unset:"none"`
	// The file with the CA of these servers. Whoever has a certificate of it can act as every
	// principal, so it must sign nothing else.
	CA string `yaml:"ca" is:"file" unset:"none"`
	// A name that all these servers have in their certificates, for addresses that no certificate
	// can have, such as those of pods. It is the same for all of them.
	ServerName string `yaml:"server_name" unset:"the host of the other's address"`
}

// Client returns the files and the name with which the server connects to the others.
func (t *NodeTLS) Client() wired.TLS {
	return wired.TLS{CA: t.CA, Certificate: t.Certificate, Key: t.Key, ServerName: t.ServerName}
}

// On reports whether servers reach each other.
func (n *Nodes) On() bool { return n.Listen != "" }

// Configs returns the listener, or none.
func (n *Nodes) Configs() ([]listen.Config, error) {
	if !n.On() {
		return nil, nil
	}
	at, err := address.ParseListener(n.Listen)
	return []listen.Config{{
		Address: at, Nodes: true,
		TLS: &listen.TLS{Certificate: n.TLS.Certificate, Key: n.TLS.Key, ClientCA: n.TLS.CA, ClientCertificate: listen.Required},
	}}, err
}

// Reached returns where others reach the server, of whose listeners one is for them; empty:
// nowhere.
func (n *Nodes) Reached(ctx context.Context, listeners *listen.Set) (string, error) {
	at := slices.IndexFunc(listeners.Listeners, (*listen.Listener).Nodes)
	if at < 0 {
		return "", nil
	}
	name, err := os.Hostname()
	if err != nil {
		return "", err
	}
	address, err := n.reachedAs(ctx, name, net.DefaultResolver.LookupNetIP)
	return cmp.Or(address, listeners.Listeners[at].Address().String()), err
}

// reachedAs returns Address on the machine with a name, which lookup resolves.
func (n *Nodes) reachedAs(ctx context.Context, name string, lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)) (string, error) {
	address := strings.ReplaceAll(n.Address, yamldoc.Hostname, name)
	if !strings.Contains(address, yamldoc.IP) {
		return address, nil
	}
	found, err := lookup(ctx, "ip", name)
	if err != nil {
		return "", fmt.Errorf("nodes.address: looking up the IP address of this machine, %s: %w", name, err)
	}
	// Debian gives the name of a machine an address of loopback, beside those of its networks, or
	// alone. Each of the others would find itself there.
	ip := found[max(0, slices.IndexFunc(found, func(ip netip.Addr) bool { return !ip.IsLoopback() }))].Unmap()
	if at, _ := netip.ParseAddrPort(n.Listen); ip.IsLoopback() && !at.Addr().IsLoopback() {
		return "", fmt.Errorf("nodes.address: on this machine, %s has only the address %s, where each of the others would find itself; give the name an address of a network, such as in /etc/hosts, or write the address instead of %s",
			name, ip, yamldoc.IP)
	}
	text := ip.String()
	if ip.Is6() {
		text = "[" + text + "]"
	}
	return strings.ReplaceAll(address, yamldoc.IP, text), nil
}

// Files returns the files that no plugin may access.
func (n *Nodes) Files() []string {
	return slices.DeleteFunc([]string{n.TLS.Certificate, n.TLS.Key, n.TLS.CA}, func(path string) bool { return path == "" })
}

// Missing returns an error for each file that does not exist.
func (n *Nodes) Missing() error {
	return errors.Join(Missing("nodes.tls.certificate", n.TLS.Certificate), Missing("nodes.tls.key", n.TLS.Key), Missing("nodes.tls.ca", n.TLS.CA))
}

// Check reports settings that contradict each other or the rest of the file: program is the name of
// the servers, key has database, which they share, and listeners are those of clients.
func (n *Nodes) Check(d *yamldoc.Decoder, program, key, database string, listeners []Listener) {
	if *n == (Nodes{}) || len(d.Errs) > 0 {
		return
	}
	fail := func(key, format string, args ...any) { d.Fail(d.At[key], key, format, args...) }
	at, _ := netip.ParseAddrPort(n.Listen)
	switch {
	case n.Listen == "":
		fail("nodes", "the key listen is missing, which has the address, such as 10.0.0.5:7444")
	case !at.IsValid():
		fail("nodes.listen", "%ss of other machines connect here; write IP:PORT", program)
	case !strings.Contains(database, "://"):
		fail("nodes", "only %ss of one database reach each other; name it with the key %s, or remove nodes", program, key)
	case n.TLS.Certificate == "" || n.TLS.Key == "" || n.TLS.CA == "":
		fail("nodes", "%s proves to others with a certificate that it is one of them; write tls: {certificate: FILE, key: FILE, ca: FILE}", program)
	case n.Address == "" && at.Addr().IsUnspecified():
		fail("nodes.listen", "others cannot connect to %s; write the address that they use, such as address: %s", n.Listen, net.JoinHostPort("node-1.example", "7444"))
	case strings.HasPrefix(n.Address, "unix:"):
		fail("nodes.address", "%ss of other machines connect here; write HOST:PORT", program)
	case slices.ContainsFunc(listeners, func(l Listener) bool { return l.TLS.ClientCA == n.TLS.CA }):
		fail("nodes", "the CA %s also signs certificates of clients, with which they could act as every principal; make another CA for nodes", n.TLS.CA)
	}
}
