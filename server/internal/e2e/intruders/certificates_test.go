package intruders_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/toolhost/toolhost/internal/testkit/testca"
)

// pair returns a certificate of a CA.
func pair(t *testing.T, ca *testca.CA, names ...string) *tls.Certificate {
	t.Helper()
	certificate, key := ca.Issue(t, names...)
	p, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

// odd returns a certificate of a CA with other contents than usual.
func odd(t *testing.T, ca *testca.CA, change func(*x509.Certificate)) *tls.Certificate {
	t.Helper()
	name, err := url.Parse("spiffe://acme/ns/ci")
	if err != nil {
		t.Fatal(err)
	}
	certificate, key := ca.IssueFrom(t, func(c *x509.Certificate) {
		c.URIs = []*url.URL{name}
		change(c)
	})
	p, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

// with lets an attack present a certificate of the right CA.
func (a attack) with(w *world, t *testing.T, name string) attack {
	t.Helper()
	a.certificate = pair(t, w.ca, name)
	return a
}

// certificates are attacks with certificates and TLS.
func (w *world) certificates(t *testing.T) []attack {
	t.Helper()
	handshake := func(to, name, reason string, certificate *tls.Certificate) attack {
		return attack{name: name, to: to, certificate: certificate, request: guess(), code: notConnected, line: line{Kind: "authentication", Act: "TLS handshake", Reason: reason}}
	}
	unbound := func(name, uri string) attack {
		return attack{
			name: name, to: "mutual", certificate: pair(t, w.ca, uri), request: guess(), code: codes.PermissionDenied,
			line: line{Kind: "authorization", Principal: principalOf(uri), Reason: "no binding gives"},
		}
	}
	old := handshake("tls", "TLS 1.2", "", nil)
	old.config = w.tls(t, nil)
	old.config.MaxVersion = tls.VersionTLS12
	long := odd(t, w.ca, func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	})
	return []attack{
		handshake("mutual", "no certificate", "", nil),
		handshake("mutual", "a certificate of another CA", "unknown authority", pair(t, testca.New(t), "spiffe://acme/ns/ci")),
		handshake("tls", "a certificate of another CA where none is needed", "unknown authority", pair(t, testca.New(t), "spiffe://acme/ns/ci")),
		handshake("mutual", "an expired certificate", "expired", long),
		handshake("mutual", "a certificate that is not valid yet", "", odd(t, w.ca, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) })),
		handshake("mutual", "a certificate for servers only", "incompatible key usage", odd(t, w.ca, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} })),
		old,
		handshake("tls without TLS", "no TLS at a listener with TLS", "", nil),
		unbound("a certificate of another namespace", "spiffe://acme/other/ci"),
		unbound("a certificate of a similar trust domain", "spiffe://acme.evil/ns/ci"),
		unbound("a certificate with a longer path", "spiffe://acme/ns/ci/root"),
		unbound("a certificate with dots in its path", "spiffe://acme/ns/../ns/ci"),
		stranger("mutual", "a certificate with a common name only", "has no URI, DNS or mail name", guess()).withCertificate(odd(t, w.ca, func(c *x509.Certificate) {
			c.URIs = nil
			c.Subject.CommonName = "boss"
		})),
		stranger("tokens", "a certificate at a listener for tokens", "nothing identifies the caller", guess()).with(w, t, "spiffe://acme/ns/ci"),
		stranger("tls", "a certificate and a forged token", "is unknown", guess(bearer(w.tokens["elsewhere"])...)).with(w, t, "spiffe://acme/ns/ci"),
		stranger("tls", "a certificate and an empty token", "", guess("authorization", "")).with(w, t, "spiffe://acme/ns/ci"),
	}
}

func (a attack) withCertificate(c *tls.Certificate) attack {
	a.certificate = c
	return a
}

// principalOf returns the key of the principal of a certificate that no rule matches.
func principalOf(uri string) string { return "default/uri:" + uri }
