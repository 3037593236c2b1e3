package listen

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// What a listener asks of the certificates of clients. The zero value of TLS asks for none.
const (
	Optional = "optional" // a client may send one, which must be valid
	Required = "required" // a client must send a valid one
)

// TLS are the files of a listener with TLS 1.3, in PEM.
type TLS struct {
	Certificate string // the server's certificate, followed by those between it and its CA
	Key         string // its private key
	ClientCA    string // the CAs of the certificates of clients; empty: clients send none
	// ClientCertificate is Optional, Required or anything else for none.
	ClientCertificate string
}

const (
	// maxPEM bounds a file of certificates.
	maxPEM = 1 << 20
	// expiresSoon is how long before its end a certificate causes a warning.
	expiresSoon = 7 * 24 * time.Hour
)

// certificates are the certificates of one listener, which follow their files.
//
// The problem: a certificate is replaced while clients connect, by tools that write the certificate
// and the key one after the other, or that rename a link to a folder, as Kubernetes does. A reader
// can see the new certificate with the old key. The idea: refresh compares the content of all files
// with what it last saw, so it does not matter how they were replaced, and uses new content only if
// it is complete and valid as a whole. The invariant: current is always a configuration that works.
// A fault is logged when refresh sees the same faulty content twice, because it is not a moment
// between two writes then.
//
// Package crypto/tls takes the configuration of each handshake from a function, so no listener is
// reopened. gRPC's packages pemfile and advancedtls do the same, but are experimental, and report
// faults only to the log of gRPC.
type certificates struct {
	files   TLS
	logger  *slog.Logger
	current atomic.Pointer[tls.Config]

	mu       sync.Mutex
	seen     [sha256.Size]byte // of the content that refresh last saw
	pending  error             // the fault of that content, not logged yet
	reported bool
}

// openCertificates reads the files for the first time.
func openCertificates(files TLS, logger *slog.Logger) (*certificates, error) {
	c := &certificates{files: files, logger: logger}
	content, err := c.read()
	if err != nil {
		return nil, err
	}
	config, err := c.parse(content)
	if err != nil {
		return nil, err
	}
	c.seen = content.digest()
	c.use(config)
	return c, nil
}

// refresh uses the files if their content has changed and is valid.
func (c *certificates) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	content, err := c.read()
	digest := content.digest()
	if digest == c.seen && err == nil && c.pending == nil {
		return
	}
	again := digest == c.seen
	c.seen = digest
	var config *tls.Config
	if err == nil {
		config, err = c.parse(content)
	}
	switch {
	case err == nil:
		c.pending, c.reported = nil, false
		c.use(config)
		c.logger.Info("the certificates were read again", "certificate", c.files.Certificate, "until", config.Certificates[0].Leaf.NotAfter)
	case !again:
		c.pending, c.reported = err, false
	case !c.reported:
		c.reported = true
		c.logger.Error("the changed certificates cannot be used; those in use stay", "error", err)
	}
}

func (c *certificates) use(config *tls.Config) {
	leaf := config.Certificates[0].Leaf
	if left := time.Until(leaf.NotAfter); left < expiresSoon {
		c.logger.Warn("the certificate ends soon, or has ended", "certificate", c.files.Certificate, "until", leaf.NotAfter)
	}
	c.current.Store(config)
}

// content is the content of the files.
type content struct{ certificate, key, clientCA []byte }

// digest returns a digest of the content. Files that cannot be read count as empty.
func (c content) digest() [sha256.Size]byte {
	h := sha256.New()
	for _, part := range [][]byte{c.certificate, c.key, c.clientCA} {
		fmt.Fprintf(h, "%d:", len(part))
		h.Write(part)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func (c *certificates) read() (content, error) {
	var (
		now  content
		errs [3]error
	)
	now.certificate, errs[0] = readPEM(c.files.Certificate)
	now.key, errs[1] = readPEM(c.files.Key)
	if c.files.ClientCA != "" {
		now.clientCA, errs[2] = readPEM(c.files.ClientCA)
	}
	return now, errors.Join(errs[:]...)
}

// readPEM reads a small file. It refuses other things, such as a named pipe, which would block.
func readPEM(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading a certificate: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxPEM {
		return nil, fmt.Errorf("reading a certificate: %s is no file of at most %d bytes", path, maxPEM)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a certificate: %w", err)
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxPEM))
}

// parse returns the configuration of handshakes with the content.
func (c *certificates) parse(content content) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(content.certificate, content.key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate %s and the key %s: %w", c.files.Certificate, c.files.Key, err)
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{pair},
		MinVersion:   tls.VersionTLS13,
		NextProtos:   []string{protocol},
		// A resumed session would not verify the client's certificate with a changed CA.
		SessionTicketsDisabled: true,
	}
	if c.files.ClientCertificate != Optional && c.files.ClientCertificate != Required {
		return config, nil
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(content.clientCA) {
		return nil, fmt.Errorf("the file %s has no certificate of a CA", c.files.ClientCA)
	}
	config.ClientAuth = tls.VerifyClientCertIfGiven
	if c.files.ClientCertificate == Required {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return config, nil
}
