package authconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// Listener is an address at which clients can connect. The comment of a field is its documentation.
type Listener struct {
	// The address: `unix:///PATH`, or `IP:PORT` such as `0.0.0.0:8443`. An address that is not on
	// loopback needs `tls`.
	Address string `yaml:"address" required:"true" is:"listener"`
	// The files of TLS 1.3. Without them, the listener is plain.
	TLS TLS `yaml:"tls"`
	// The kinds of credentials that count at this listener: `peer`, the user of a unix socket;
	// `certificate`, that of a client with mutual TLS; `token` and `jwt`.
	Authentication []string `yaml:"authentication" oneof:"peer,certificate,token,jwt" unset:"all that fit the listener" hint:"write a list such as [certificate, token]"`
	// The role of every program that connects to a plain TCP port on loopback, without proving who
	// it is.
	Admits string `yaml:"admits" oneof:"caller,approver,auditor" unset:"a plain TCP port is refused"`
}

// TLS are the certificates of a listener. They are read again when the files change.
type TLS struct {
	// The file with the server's certificate and those between it and its CA, in PEM.
	Certificate string `yaml:"certificate" is:"file" unset:"no TLS"`
	// The file with the private key of the certificate. It has to be given with `certificate`.
	Key string `yaml:"key" is:"file" unset:"no TLS"`
	// The file with the CAs of the certificates of clients.
	ClientCA string `yaml:"client_ca" is:"file" unset:"no client has a certificate"`
	// Whether clients send a certificate: `none`, `optional` or `required`.
	ClientCertificate string `yaml:"client_certificate" oneof:"none,optional,required" unset:"required with client_ca, else none"`
}

// MissingFiles says which files of the listeners and of http are not there, so that their program
// does not start.
func MissingFiles(listeners []Listener, h *HTTP) error {
	var errs []error
	for i, l := range listeners {
		errs = append(errs, l.TLS.Missing(fmt.Sprintf("listeners[%d]", i)))
	}
	return errors.Join(append(errs, h.listener().TLS.Missing("http"))...)
}

// Missing says which of the files are not there. parent is the key above tls.
func (t TLS) Missing(parent string) error {
	return errors.Join(Missing(parent+".tls.certificate", t.Certificate), Missing(parent+".tls.key", t.Key), Missing(parent+".tls.client_ca", t.ClientCA))
}

// Missing says that the file of a key is not there. An empty path is none. A file that this user
// may not see is no error: the program may run as another one.
func Missing(key, path string) error {
	if _, err := os.Stat(path); path != "" && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no file %s", key, path)
	}
	return nil
}

// Network bounds what clients over TCP can take, before and after the server knows them. Clients of
// unix sockets have other bounds.
type Network struct {
	// The most open connections. A new one takes the place of the oldest whose caller is not known.
	Connections int `yaml:"connections" default:"1000" min:"1" max:"1000000" restart:"true"`
	// The most open connections of one address (for IPv6: of one /64 network) whose caller is not
	// known yet. Over HTTP, a new one takes the place of the oldest.
	ConnectionsPerAddress int `yaml:"connections_per_address" default:"32" min:"1" max:"1000000" restart:"true"`
	// The most open connections of one principal.
	ConnectionsPerPrincipal int `yaml:"connections_per_principal" default:"100" min:"1" max:"1000000" restart:"true"`
	// The most TLS handshakes in progress; others wait.
	Handshakes int `yaml:"handshakes" default:"64" min:"1" max:"100000" restart:"true"`
	// The longest time from the connect to the end of the handshake.
	HandshakeTimeout time.Duration `yaml:"handshake_timeout" default:"10s" min:"100ms" restart:"true"`
	// The longest time from the connect to the first request of a caller that is known.
	AuthenticationTimeout time.Duration `yaml:"authentication_timeout" default:"30s" min:"100ms" restart:"true"`
	// The longest time in which the message of a request may arrive.
	RequestTimeout time.Duration `yaml:"request_timeout" default:"1m" min:"100ms" restart:"true"`
	// The most requests in progress on one connection; others wait at the client.
	Streams int `yaml:"streams" default:"128" min:"1" max:"100000" restart:"true"`
	// The most requests that one principal starts in a second. Calls on one Connect stream do not
	// count. A connection that goes on regardless is closed.
	StreamsPerSecond int `yaml:"streams_per_second" default:"10000" min:"1" max:"10000000" restart:"true"`
	// The largest metadata of one request.
	Headers yamldoc.Size `yaml:"headers" default:"16KiB" min:"4KiB" max:"16MiB" restart:"true"`
	// The time without a request after which a connection is closed.
	IdleTimeout time.Duration `yaml:"idle_timeout" default:"15m" min:"1s" restart:"true"`
	// The age after which a connection takes no new requests. Clients open another one, and requests
	// in progress end normally.
	MaxAge time.Duration `yaml:"max_age" default:"1h" min:"1s" restart:"true"`
	// The most failed attempts of one address to authenticate in a minute. Further ones get
	// RESOURCE_EXHAUSTED until the minute ends. After as many failed handshakes, new connections of
	// the address are closed until then.
	FailuresPerMinute int `yaml:"failures_per_minute" default:"60" min:"1" max:"1000000" restart:"true"`
}

// Limits returns the bounds for package listen.
func (n *Network) Limits() listen.Limits {
	return listen.Limits{
		Connections: n.Connections, ConnectionsPerAddress: n.ConnectionsPerAddress, ConnectionsPerPrincipal: n.ConnectionsPerPrincipal,
		Handshakes: n.Handshakes, HandshakeTimeout: n.HandshakeTimeout, AuthenticationTimeout: n.AuthenticationTimeout,
		RequestTimeout: n.RequestTimeout, Streams: n.Streams, StreamsPerSecond: n.StreamsPerSecond, HeaderBytes: int(n.Headers),
		IdleTimeout: n.IdleTimeout, MaxAge: n.MaxAge, FailuresPerMinute: n.FailuresPerMinute,
	}
}

// CheckListener returns why a text is not the address of a listener.
func CheckListener(text string) error {
	_, err := address.ParseListener(text)
	return err
}

// Config returns the listener for package listen. The address is valid if the file was read without
// an error.
func (l *Listener) Config() (listen.Config, error) {
	at, err := address.ParseListener(l.Address)
	if err != nil {
		return listen.Config{}, err
	}
	c := listen.Config{Address: at, Accepts: l.Authentication, Admits: l.Admits}
	if l.TLS.given() {
		c.TLS = &listen.TLS{Certificate: l.TLS.Certificate, Key: l.TLS.Key, ClientCA: l.TLS.ClientCA, ClientCertificate: l.TLS.clients()}
	}
	return c, nil
}

// given reports whether the listener has TLS.
func (t *TLS) given() bool { return t.Certificate != "" }

func (t *TLS) clients() string {
	switch {
	case t.ClientCertificate != "":
		return t.ClientCertificate
	case t.ClientCA != "":
		return listen.Required
	}
	return ""
}

// Configs returns all listeners: that of the key listen, whose address is at, and those of the key
// listeners. given says that the file or a flag has the key listen. If it has not, a unix socket
// among the listeners replaces that of this user. insecure permits a plain port in the key listen.
func Configs(at address.Address, given, insecure bool, listeners []Listener) ([]listen.Config, error) {
	first := listen.Config{Address: at}
	if insecure && !at.IsUnix() {
		first.Admits = "caller"
	}
	all := []listen.Config{first}
	for _, l := range listeners {
		c, err := l.Config()
		if err != nil {
			return nil, err
		}
		if c.Address.IsUnix() && !given {
			all, given = all[1:], true
		}
		all = append(all, c)
	}
	for _, c := range all {
		if err := c.Check(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// WebConfigs returns listeners for the clients of an HTTP server.
func WebConfigs(listeners []Listener) ([]listen.Config, error) {
	all := make([]listen.Config, len(listeners))
	for i, l := range listeners {
		c, err := l.Config()
		if err == nil {
			err = c.Check()
		}
		if err != nil {
			return nil, err
		}
		c.Web = true
		all[i] = c
	}
	return all, nil
}

// AdmitsOf returns the role of the callers of plain TCP ports, or "": at is the address of the key
// listen, which insecure lets be such a port.
func AdmitsOf(at address.Address, insecure bool, listeners []Listener) string {
	for _, l := range listeners {
		if l.Admits != "" {
			return l.Admits
		}
	}
	if insecure && at.IsLoopback() {
		return "caller"
	}
	return ""
}

// Files returns the files of all listeners that no plugin may access: their sockets, the keys, and
// what decides which clients are known.
func Files(listeners []Listener) []string {
	var files []string
	for _, l := range listeners {
		if at, err := address.ParseListener(l.Address); err == nil && at.IsUnix() {
			files = append(files, at.Path())
		}
		if l.TLS.given() {
			files = append(files, l.TLS.Certificate, l.TLS.Key)
			if l.TLS.ClientCA != "" {
				files = append(files, l.TLS.ClientCA)
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// CheckListeners reports listeners that must not be opened, and listeners that contradict each
// other. parent is their key.
func CheckListeners(d *yamldoc.Decoder, parent string, listeners []Listener) {
	admits, seen := "", map[address.Address]bool{}
	for i := range listeners {
		key := fmt.Sprintf("%s[%d]", parent, i)
		l := &listeners[i]
		at := d.At[key+".address"]
		if len(d.Errs) > 0 {
			return // the checks below need all values
		}
		c, err := l.Config()
		if err == nil {
			err = c.Check()
		}
		switch {
		case (l.TLS.Certificate == "") != (l.TLS.Key == "") || !l.TLS.given() && l.TLS != (TLS{}):
			d.Fail(at, key+".tls", "the keys certificate and key belong together; write both")
		case err != nil:
			d.Fail(at, key, "%v", err)
		case seen[c.Address]:
			d.Fail(at, key, "another listener has the address %s", c.Address)
		case l.Admits != "" && admits != "" && l.Admits != admits:
			d.Fail(d.At[key+".admits"], key+".admits", "another plain listener admits %s; all have to admit the same role, because their callers are the same principal, anonymous", admits)
		case l.TLS.given() && c.TLS.ClientCertificate != "none" && c.TLS.ClientCertificate != "" && l.TLS.ClientCA == "":
			d.Fail(at, key+".tls", "the key client_ca is missing, which names the CAs of the certificates of clients")
		case l.TLS.given() && c.TLS.ClientCertificate == "none" && l.TLS.ClientCA != "":
			d.Fail(at, key+".tls", "client_certificate is none, but there is a client_ca; remove one of the two keys")
		}
		checkAuthentication(d, key, l, c)
		seen[c.Address] = true
		if l.Admits != "" {
			admits = l.Admits
		}
	}
}

// checkAuthentication reports kinds of credentials that no client of the listener can have.
func checkAuthentication(d *yamldoc.Decoder, key string, l *Listener, c listen.Config) {
	at, given := d.At[key+".authentication"]
	if !given {
		return
	}
	for _, kind := range l.Authentication {
		switch {
		case kind == "peer" && !c.Address.IsUnix():
			d.Fail(at, key+".authentication", "only a unix socket has a peer; remove peer")
		case kind == "certificate" && (c.TLS == nil || c.TLS.ClientCA == ""):
			d.Fail(at, key+".authentication", "clients send certificates only if the listener has tls with client_ca; add it, or remove certificate")
		}
	}
	if len(l.Authentication) == 0 {
		d.Fail(at, key+".authentication", "the list is empty, so that no caller could be known; name a kind of credential, or leave the key out")
	}
}
