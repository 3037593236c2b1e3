package credential

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"
)

// TLS names the files for TLS. The zero value verifies the server by the CAs of the system and
// presents no certificate.
type TLS struct {
	CA          string // file with the CAs of the server, in PEM; "": those of the system
	Certificate string // file with the client's certificate and intermediates, in PEM; "": none
	Key         string // file with the key of the certificate, in PEM
	ServerName  string // name in the server's certificate; "": the host of the address
}

// check returns an error for settings that exclude each other.
func (t TLS) check() error {
	switch {
	case t.Certificate != "" && t.Key == "":
		return errors.New("a client certificate needs its key")
	case t.Key != "" && t.Certificate == "":
		return errors.New("the key of a client certificate needs the certificate")
	}
	return nil
}

// transport makes the TLS handshakes of a client. It reads the files for each handshake, which is
// rare compared to RPCs, so that a new connection uses the current files. While files are replaced,
// a certificate and its key may not fit, or a file may be missing for a moment: then the handshake
// uses the last files that were complete.
type transport struct {
	settings TLS
	name     string // of the server
	report   func(error)

	mutex sync.Mutex
	last  *tls.Config // the last complete configuration; nil: none
}

// newTransport reads the files for the first time. It calls report with the error of each failed
// handshake, and with nil after each successful one.
func newTransport(t TLS, name string, report func(error)) (*transport, error) {
	c := &transport{settings: t, name: name, report: report}
	_, err := c.config()
	return c, err
}

// config returns the configuration for the next handshake.
func (c *transport) config() (*tls.Config, error) {
	config, err := c.settings.read()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case err == nil:
		config.ServerName = c.name
		c.last = config
	case c.last == nil:
		return nil, err
	}
	return c.last, nil
}

// read reads the files.
func (t TLS) read() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS13}
	if t.CA != "" {
		text, err := readBounded(t.CA)
		if err != nil {
			return nil, fmt.Errorf("reading the CAs of the server: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("the file %s holds no certificate of a CA in PEM", t.CA)
		}
	}
	if t.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, fmt.Errorf("reading the client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// ClientHandshake implements credentials.TransportCredentials.
func (c *transport) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	config, err := c.config()
	if err != nil {
		c.report(err)
		return nil, nil, err
	}
	secured, info, err := credentials.NewTLS(config).ClientHandshake(ctx, authority, conn)
	c.report(err)
	if err != nil {
		return nil, nil, err
	}
	return &alertReader{secured, c.report}, info, nil
}

// ServerHandshake implements credentials.TransportCredentials. A client has no use for it.
func (c *transport) ServerHandshake(net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("these are the credentials of a client")
}

// Info implements credentials.TransportCredentials.
func (c *transport) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "tls"}
}

// Clone implements credentials.TransportCredentials.
func (c *transport) Clone() credentials.TransportCredentials { return c }

// OverrideServerName implements credentials.TransportCredentials. TLS.ServerName has the name.
func (c *transport) OverrideServerName(string) error {
	return errors.New("the settings of the client name the server")
}
