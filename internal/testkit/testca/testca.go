// Package testca makes certificates for tests. It is not for use outside of tests.
package testca

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// CA signs certificates. Its certificate is in the file Path.
type CA struct {
	Path string

	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// New returns a CA whose certificate is in a new folder.
func New(t testing.TB) *CA {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: "test CA"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	ca := &CA{Path: filepath.Join(t.TempDir(), "ca.pem"), certificate: certificate, key: key}
	Replace(t, ca.Path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return ca
}

// PEM returns the certificate of the CA.
func (ca *CA) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.certificate.Raw})
}

// Issue returns a certificate for names, which are IP addresses, URIs or DNS names, and its key,
// both in PEM. It is valid for servers and clients.
func (ca *CA) Issue(t testing.TB, names ...string) (certificate, private []byte) {
	t.Helper()
	return ca.IssueFrom(t, func(template *x509.Certificate) {
		for _, name := range names {
			uri, err := url.Parse(name)
			switch ip := net.ParseIP(name); {
			case ip != nil:
				template.IPAddresses = append(template.IPAddresses, ip)
			case err == nil && uri.Scheme != "":
				template.URIs = append(template.URIs, uri)
			default:
				template.DNSNames = append(template.DNSNames, name)
			}
		}
	})
}

// IssueFrom is Issue for a certificate that change completes. Without changes, the certificate has
// no name.
func (ca *CA) IssueFrom(t testing.TB, change func(template *x509.Certificate)) (certificate, private []byte) {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: serial(t), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	change(template)
	der, err := x509.CreateCertificate(rand.Reader, template, ca.certificate, &key.PublicKey, ca.key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

// Files writes a certificate of Issue and its key into a new folder and returns their paths.
func (ca *CA) Files(t testing.TB, names ...string) (certificate, key string) {
	t.Helper()
	folder := t.TempDir()
	certificate, key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	ca.Rotate(t, certificate, key, names...)
	return certificate, key
}

// Rotate replaces the files of a certificate and its key.
func (ca *CA) Rotate(t testing.TB, certificate, key string, names ...string) {
	t.Helper()
	cert, private := ca.Issue(t, names...)
	Replace(t, certificate, cert)
	Replace(t, key, private)
}

// Replace replaces a file in one step.
func Replace(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func serial(t testing.TB) *big.Int {
	t.Helper()
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
