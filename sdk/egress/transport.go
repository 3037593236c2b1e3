package egress

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"time"
)

// Config describes a Transport.
type Config struct {
	Rules Rules
	// RootCAs are the authorities that sign the certificates of servers. Nil means those of the
	// system.
	RootCAs *x509.CertPool
	// Certificates are presented to servers that ask for one.
	Certificates []tls.Certificate
	// ConnectTimeout bounds the resolution of the name with the connection, and after that the TLS
	// handshake. Zero means 10 s.
	ConnectTimeout time.Duration
	// MaxConnections bounds the open connections to one host. A request beyond it waits. Zero means
	// 64.
	MaxConnections int
	// Resolver resolves names. Nil means that of the system.
	Resolver *net.Resolver
}

const (
	defaultConnectTimeout = 10 * time.Second
	defaultMaxConnections = 64
	maxHeaderBytes        = 64 << 10 // of a response; servers send a few hundred

	// idleTime is how long a connection without a request stays open. Many servers close it earlier.
	idleTime = 90 * time.Second
	// An HTTP/2 connection on which nothing arrives for pingAfter is probed, and closed if the probe
	// has no answer within pingTime, so that requests do not wait for a peer that is gone.
	pingAfter, pingTime = 30 * time.Second, 15 * time.Second
)

// Transport returns a transport that enforces the rules on each connection. It reads no proxy from
// the environment, because a proxy would resolve names out of reach of the rules. It requests no
// compression, so that the size of an answer is what the network carries. The caller closes its
// idle connections.
func (c Config) Transport() *http.Transport {
	timeout := cmp.Or(c.ConnectTimeout, defaultConnectTimeout)
	most := cmp.Or(c.MaxConnections, defaultMaxConnections)
	dialer := &net.Dialer{Timeout: timeout, Resolver: c.Resolver, ControlContext: c.Rules.Control}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: c.RootCAs, Certificates: c.Certificates, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    timeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTime},
		DisableCompression:     true,
		MaxConnsPerHost:        most,
		MaxIdleConnsPerHost:    most,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}
