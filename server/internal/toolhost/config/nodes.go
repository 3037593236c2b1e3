package config

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/listen"
)

// Nodes says where the other toolhosts of a ledger in PostgreSQL reach this one. The comment of a
// field is its documentation.
type Nodes struct {
	// The address: `IP:PORT`. No clients connect to it.
	Listen string `yaml:"listen" is:"listener" unset:"toolhosts do not reach each other"`
	// The address that the others use: `HOST:PORT`. `{hostname}` in it stands for the name of the
	// machine. The certificate has to be for the host.
	Address string `yaml:"address" is:"node" unset:"that of listen"`
	// The files of TLS 1.3. They are read again when they change.
	TLS NodeTLS `yaml:"tls"`
}

// NodeTLS is the certificate of a toolhost for others, as a server and as a client.
type NodeTLS struct {
	// The file with the certificate and those between it and the CA, in PEM.
	Certificate string `yaml:"certificate" is:"file" unset:"none"`
	// The file with the private key of the certificate.
	Key string `yaml:"key" is:"file" unset:"none"`
	// The file with the CA of these toolhosts. Whoever has a certificate of it can act as every
	// principal, so it must sign nothing else.
	CA string `yaml:"ca" is:"file" unset:"none"`
}

// On reports whether toolhosts reach each other.
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

// Files returns the files that no plugin may access.
func (n *Nodes) Files() []string {
	return slices.DeleteFunc([]string{n.TLS.Certificate, n.TLS.Key, n.TLS.CA}, func(path string) bool { return path == "" })
}

// checkNodes reports settings of nodes that contradict each other or the rest of the file.
func (d *decoder) checkNodes() {
	n := &d.config.Nodes
	if *n == (Nodes{}) || len(d.Errs) > 0 {
		return
	}
	fail := func(key, format string, args ...any) { d.Fail(d.At[key], key, format, args...) }
	at, _ := netip.ParseAddrPort(n.Listen)
	switch {
	case n.Listen == "":
		fail("nodes", "the key listen is missing, which has the address, such as 10.0.0.5:7444")
	case !at.IsValid():
		fail("nodes.listen", "toolhosts of other machines connect here; write IP:PORT")
	case d.config.Records == "":
		fail("nodes", "only toolhosts of one ledger reach each other; name its database with the key records, or remove nodes")
	case n.TLS.Certificate == "" || n.TLS.Key == "" || n.TLS.CA == "":
		fail("nodes", "a toolhost proves with a certificate that it is one; write tls: {certificate: FILE, key: FILE, ca: FILE}")
	case n.Address == "" && at.Addr().IsUnspecified():
		fail("nodes.listen", "others cannot connect to %s; write the address that they use, such as address: %s", n.Listen, net.JoinHostPort("tools-1.example", "7444"))
	case strings.HasPrefix(n.Address, "unix:"):
		fail("nodes.address", "toolhosts of other machines connect here; write HOST:PORT")
	case slices.ContainsFunc(slices.Concat(d.config.Listeners, d.config.MCP.Listeners), func(l authconfig.Listener) bool { return l.TLS.ClientCA == n.TLS.CA }):
		fail("nodes", "the CA %s also signs certificates of clients, with which they could act as every principal; make another CA for toolhosts", n.TLS.CA)
	}
}
