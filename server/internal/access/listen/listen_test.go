package listen_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/access/listen"
)

func parse(t *testing.T, s string) address.Address {
	t.Helper()
	a, err := address.ParseListener(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// open opens listeners, and accepts and secures connections until the test ends.
func open(t *testing.T, limits listen.Limits, log *records, configs ...listen.Config) (*listen.Set, <-chan net.Conn) {
	t.Helper()
	set, err := listen.Open(t.Context(), "toolhost", configs, limits, slog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	secured := make(chan net.Conn, 1024)
	_, wait := set.Serve(func(l net.Listener) error {
		var handshakes sync.WaitGroup
		defer handshakes.Wait()
		for {
			c, err := l.Accept()
			if err != nil {
				return nil
			}
			handshakes.Go(func() {
				_ = c.SetDeadline(time.Now().Add(10 * time.Second))
				secure, _, err := c.(*listen.Conn).Secure()
				if err != nil {
					_ = c.Close()
					return
				}
				secured <- secure
			})
		}
	})
	t.Cleanup(func() {
		if err := errors.Join(set.Close(), wait()); err != nil {
			t.Error(err)
		}
	})
	return set, secured
}

// pool returns the CAs that a client trusts.
func pool(t *testing.T, cas ...*testca.CA) *x509.CertPool {
	t.Helper()
	p := x509.NewCertPool()
	for _, ca := range cas {
		p.AppendCertsFromPEM(ca.PEM())
	}
	return p
}

// dial does a handshake as a client with a certificate, or none if ca is nil.
func dial(t *testing.T, set *listen.Set, config *tls.Config) (*tls.Conn, error) {
	t.Helper()
	config.NextProtos = []string{"h2"}
	conn, err := tls.Dial("tcp", set.First().String(), config)
	if err == nil {
		t.Cleanup(func() { _ = conn.Close() })
	}
	return conn, err
}

func pair(t *testing.T, ca *testca.CA, names ...string) []tls.Certificate {
	t.Helper()
	certificate, err := tls.X509KeyPair(ca.Issue(t, names...))
	if err != nil {
		t.Fatal(err)
	}
	return []tls.Certificate{certificate}
}

func TestCheckSaysWhyAndWhatToWrite(t *testing.T) {
	files := &listen.TLS{Certificate: "c", Key: "k"}
	for _, test := range []struct {
		name   string
		config listen.Config
		want   string // parts of the error, separated by |; empty: no error
	}{
		{"a unix socket", listen.Config{Address: parse(t, "unix:///run/x.sock")}, ""},
		{"TLS everywhere", listen.Config{Address: parse(t, "0.0.0.0:8443"), TLS: files}, ""},
		{"TLS on loopback", listen.Config{Address: parse(t, "127.0.0.1:8443"), TLS: files}, ""},
		{"plain loopback that says what it admits", listen.Config{Address: parse(t, "[::1]:80"), Admits: "caller"}, ""},
		{"plain loopback", listen.Config{Address: parse(t, "127.0.0.1:80")}, "every user and program|admits: caller"},
		{"plain for all machines", listen.Config{Address: parse(t, "0.0.0.0:80"), Admits: "caller"}, "other machines can reach|tls: {certificate: FILE, key: FILE}"},
		{"plain IPv6 for all machines", listen.Config{Address: parse(t, "[::]:80"), Admits: "caller"}, "other machines can reach"},
		{"plain in a private network", listen.Config{Address: parse(t, "10.0.0.1:80"), Admits: "caller"}, "other machines can reach"},
		{"plain IPv4 in IPv6", listen.Config{Address: parse(t, "[::ffff:10.0.0.1]:80"), Admits: "caller"}, "other machines can reach"},
		{"TLS that admits strangers", listen.Config{Address: parse(t, "0.0.0.0:8443"), TLS: files, Admits: "caller"}, "remove admits"},
		{"a unix socket that admits strangers", listen.Config{Address: parse(t, "unix:///run/x.sock"), Admits: "caller"}, "remove admits"},
		{"a unix socket with TLS", listen.Config{Address: parse(t, "unix:///run/x.sock"), TLS: files}, "remove tls"},
	} {
		err := test.config.Check()
		if (err == nil) != (test.want == "") {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		for part := range strings.SplitSeq(test.want, "|") {
			if err != nil && !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v; want %q", test.name, err, part)
			}
		}
		if err != nil { // Open refuses it too
			if set, err := listen.Open(t.Context(), "toolhost", []listen.Config{test.config}, listen.Limits{}, nil); err == nil {
				t.Errorf("%s: the listener is open: %v", test.name, set.Close())
			}
		}
	}
}

func TestTLS(t *testing.T) {
	ca, other := testca.New(t), testca.New(t)
	certificate, key := ca.Files(t, "127.0.0.1")
	for _, test := range []struct {
		name    string
		clients string
		config  *tls.Config
		ok      bool
	}{
		{"no certificate is needed", "", &tls.Config{}, true},
		{"TLS 1.2", "", &tls.Config{MaxVersion: tls.VersionTLS12}, false},
		{"required and missing", listen.Required, &tls.Config{}, false},
		{"required and valid", listen.Required, &tls.Config{Certificates: pair(t, ca, "spiffe://a/b")}, true},
		{"required and of another CA", listen.Required, &tls.Config{Certificates: pair(t, other, "spiffe://a/b")}, false},
		{"optional and missing", listen.Optional, &tls.Config{}, true},
		{"optional and of another CA", listen.Optional, &tls.Config{Certificates: pair(t, other, "spiffe://a/b")}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			set, secured := open(t, listen.Limits{}, &records{}, listen.Config{
				Address: parse(t, "127.0.0.1:0"), TLS: &listen.TLS{Certificate: certificate, Key: key, ClientCA: ca.Path, ClientCertificate: test.clients},
			})
			test.config.RootCAs = pool(t, ca)
			if len(test.config.Certificates) > 0 { // send it although the server's CAs do not fit
				test.config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &test.config.Certificates[0], nil }
			}
			conn, err := dial(t, set, test.config)
			if err == nil && !test.ok { // TLS 1.3 tells the client about its certificate after the handshake
				_, err = conn.Read(make([]byte, 1))
			}
			if (err == nil) != test.ok {
				t.Fatalf("the client gets %v", err)
			}
			if test.ok {
				server := (<-secured).(*tls.Conn)
				if state := server.ConnectionState(); state.Version != tls.VersionTLS13 || len(state.VerifiedChains) != len(test.config.Certificates) {
					t.Errorf("version %x, %d verified chains", state.Version, len(state.VerifiedChains))
				}
				_ = server.Close()
			}
		})
	}
}

// served returns the certificate that the server shows.
func served(t *testing.T, set *listen.Set, cas ...*testca.CA) ([]string, error) {
	t.Helper()
	conn, err := dial(t, set, &tls.Config{RootCAs: pool(t, cas...), ServerName: "127.0.0.1"})
	if err != nil {
		return nil, err
	}
	return conn.ConnectionState().PeerCertificates[0].DNSNames, nil
}

// A changed certificate takes effect with the next handshake, also if a link to its folder is
// renamed, as Kubernetes does. A broken one does not, and is logged once.
func TestCertificatesAreReadAgain(t *testing.T) {
	ca, log := testca.New(t), &records{}
	folder := t.TempDir()
	write := func(version string, certificate, key []byte) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(folder, version), 0o700); err != nil {
			t.Fatal(err)
		}
		testca.Replace(t, filepath.Join(folder, version, "tls.crt"), certificate)
		testca.Replace(t, filepath.Join(folder, version, "tls.key"), key)
		link := filepath.Join(folder, "..data.new")
		if err := errors.Join(os.Symlink(version, link), os.Rename(link, filepath.Join(folder, "..data"))); err != nil {
			t.Fatal(err)
		}
	}
	certificate, key := ca.Issue(t, "127.0.0.1", "one.test")
	write("1", certificate, key)
	set, _ := open(t, listen.Limits{}, log, listen.Config{Address: parse(t, "127.0.0.1:0"), TLS: &listen.TLS{
		Certificate: filepath.Join(folder, "..data", "tls.crt"), Key: filepath.Join(folder, "..data", "tls.key"),
	}})
	expect := func(what, want string) {
		t.Helper()
		set.Refresh()
		set.Refresh() // a fault is logged when it lasts
		set.Refresh()
		if names, err := served(t, set, ca); err != nil || len(names) != 1 || names[0] != want {
			t.Errorf("%s: the server shows %v, %v; want %s", what, names, err, want)
		}
	}
	expect("at first", "one.test")
	certificate, key = ca.Issue(t, "127.0.0.1", "two.test")
	write("2", certificate, key)
	expect("after a rename of the link", "two.test")
	_, stranger := ca.Issue(t, "127.0.0.1")
	write("3", certificate, stranger)
	expect("with the key of another certificate", "two.test")
	write("4", []byte("not PEM"), key)
	expect("with a broken certificate", "two.test")
	if err := os.Remove(filepath.Join(folder, "..data")); err != nil {
		t.Fatal(err)
	}
	expect("without files", "two.test")
	if n := log.count("the changed certificates cannot be used"); n != 3 {
		t.Errorf("%d faults are logged, want 3: %v", n, log.messages())
	}
	certificate, key = ca.Issue(t, "127.0.0.1", "five.test")
	write("5", certificate, key)
	expect("after the repair", "five.test")
}

// A named pipe in the place of a certificate does not block the server.
func TestAPipeIsNoCertificate(t *testing.T) {
	ca := testca.New(t)
	_, key := ca.Files(t, "127.0.0.1")
	_, err := listen.Open(t.Context(), "toolhost", []listen.Config{{
		Address: parse(t, "127.0.0.1:0"), TLS: &listen.TLS{Certificate: "/dev/zero", Key: key},
	}}, listen.Limits{}, nil)
	if err == nil || !strings.Contains(err.Error(), "/dev/zero is no file") {
		t.Errorf("got %v", err)
	}
}
