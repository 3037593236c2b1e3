package launch

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

// TestTLSOfURL checks that a connection to a server at a URL uses the operator's authorities,
// presents the operator's certificate, and fails without them.
func TestTLSOfURL(t *testing.T) {
	ca := testca.New(t)
	authorities := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authorities, ca.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	pair, err := tls.X509KeyPair(ca.Issue(t, "127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(ca.PEM())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	certificate, key := ca.Files(t, "toolhost")
	for name, test := range map[string]struct {
		settings config.HTTP
		want     string
	}{
		"with both":              {config.HTTP{Addresses: []string{"127.0.0.1"}, Authorities: authorities, Certificate: certificate, Key: key}, ""},
		"without authorities":    {config.HTTP{Addresses: []string{"127.0.0.1"}, Certificate: certificate, Key: key}, "unknown authority"},
		"without certificate":    {config.HTTP{Addresses: []string{"127.0.0.1"}, Authorities: authorities}, "certificate required"},
		"without grant":          {config.HTTP{Authorities: authorities, Certificate: certificate, Key: key}, "it leads to this host"},
		"without a file":         {config.HTTP{Addresses: []string{"127.0.0.1"}, Authorities: authorities + "x"}, "reading http.authorities"},
		"with a key for another": {config.HTTP{Addresses: []string{"127.0.0.1"}, Certificate: certificate, Key: authorities}, "reading http.certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			transport, err := remoteTransport(server.URL, test.settings)
			if err == nil {
				defer transport.CloseIdleConnections()
				var resp *http.Response
				if resp, err = (&http.Client{Transport: transport}).Get(server.URL); err == nil {
					_ = resp.Body.Close()
				}
			}
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v", err)
			}
		})
	}
}
