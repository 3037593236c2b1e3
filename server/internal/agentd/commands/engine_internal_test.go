package commands

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal/temporaltest"
	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// temporalSetup returns a setup with a section temporal, and its redactor.
func temporalSetup(t *testing.T, text string) *setup {
	t.Helper()
	c, err := agentconfig.Parse("/agentd.yaml", []byte("engine: temporal\njournal: postgres://a@db.example/runs\ntemporal: "+text))
	if err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"KEY": "of-the-environment"}[name] }
	return &setup{config: c, process: cli.Process{Getenv: getenv}, texts: texts{getenv: getenv}, redactor: &secrets.Redactor{}}
}

// told tells a service with a setup that a run is due.
func (s *setup) told(t *testing.T) error {
	t.Helper()
	e, err := s.openTemporal(nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer e.close()
	_, _, err = e.rebuild(t.Context(), func(yield func(string, error) bool) { yield("r", nil) })
	return err
}

// Connections have TLS with agentd's certificate, and each RPC the API key of now.
func TestTemporalCredentials(t *testing.T) {
	ca := testca.New(t)
	certificate, private := ca.Issue(t, "127.0.0.1")
	pair, err := tls.X509KeyPair(certificate, private)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.PEM())
	s := temporaltest.Start(t, grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert})))
	cert, key := ca.Files(t, "agentd")
	apiKey := filepath.Join(t.TempDir(), "key")
	testca.Replace(t, apiKey, []byte("of-the-file\n"))
	section := func(more string) string { return `{address: "` + s.Address + `", ` + more + "}" }
	mutual := "tls: {ca: " + ca.Path + ", certificate: " + cert + ", key: " + key
	for _, text := range []string{"tls: {ca: " + ca.Path + "}", "tls: {server_name: other}", mutual + ", server_name: other}"} {
		if err := temporalSetup(t, section(text)).told(t); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	if err := temporalSetup(t, section(mutual+"}")).told(t); err != nil {
		t.Fatal(err)
	}
	if keys := s.Keys(); !slices.Equal(keys, []string{""}) {
		t.Errorf("without an API key, %q is presented", keys)
	}
	if err := temporalSetup(t, section(mutual+"}, api_key: {env: KEY}")).told(t); err != nil || !slices.Contains(s.Keys(), "Bearer of-the-environment") {
		t.Errorf("with a key of the environment: %q, %v", s.Keys(), err)
	}
	withFile := temporalSetup(t, section(mutual+"}, api_key: {file: "+apiKey+"}"))
	e, err := withFile.openTemporal(nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	presents := func(want string) {
		t.Helper()
		eventually.Shows(t, "the key is presented", func() (bool, any) {
			_, _, err := e.rebuild(t.Context(), func(func(string, error) bool) {})
			return err == nil && slices.Contains(s.Keys(), "Bearer "+want), err
		})
	}
	presents("of-the-file")
	testca.Replace(t, apiKey, []byte("of-the-next-file\n"))
	if err := os.Chtimes(apiKey, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	presents("of-the-next-file")
	for _, key := range []string{"of-the-file", "of-the-next-file"} {
		if got := withFile.redactor.Text("it was " + key); strings.Contains(got, key) {
			t.Errorf("the log would have the key: %s", got)
		}
	}
}

// What is wrong with the files of Temporal stops agentd at its start, with the key that names the
// file.
func TestTemporalFiles(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	testca.Replace(t, empty, nil)
	for section, want := range map[string]string{
		"tls: {ca: /none.pem}":                        "temporal.tls: open /none.pem",
		"tls: {ca: " + empty + "}":                    "has no certificate in PEM",
		"tls: {certificate: /none.pem, key: /no.pem}": "temporal.tls: open /none.pem",
		"api_key: {file: " + empty + "}":              "temporal.api_key",
		"api_key: {env: NONE}":                        "temporal.api_key",
	} {
		_, err := temporalSetup(t, `{address: "127.0.0.1:1", `+section+"}").openTemporal(nil, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", section, err)
		}
	}
}
