package intruders_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// world is a toolhost and an agentd with callers of two tenants. ada of the tenant red has a call
// in progress, a call that has ended, an artifact, and a run that waits for an approval.
type world struct {
	home      string
	addresses map[string]string // of the listeners, by name
	ca        *testca.CA
	issuer    *issuer
	toolhost  *tokenstore.Store
	agentd    *tokenstore.Store
	tokens    map[string]string
	canary    string // part of ada's arguments and results; an answer that has it shows what belongs to ada
	handle    string // of ada's artifact
	run       string // ada's run
}

// settings is the configuration of toolhost.
const settings = `
listen: unix://%[1]s/t.sock
listeners:
  - {address: "%[2]s", tls: {certificate: cert.pem, key: key.pem, client_ca: %[7]s, client_certificate: optional}}
  - {address: "%[3]s", tls: {certificate: cert.pem, key: key.pem, client_ca: %[7]s}, authentication: [certificate]}
  - {address: "%[4]s", tls: {certificate: cert.pem, key: key.pem, client_ca: %[7]s, client_certificate: optional}, authentication: [token]}
  - {address: "%[5]s", admits: caller}
  - {address: "unix://%[1]s/tokens.sock", authentication: [token]}
network: {failures_per_minute: 100000}
calls: {default_timeout: 5m} # ada's call is in progress during all attacks
new_plugins: allow
audit: {log: all}
auth:
  issuers:
    - {issuer: %[8]s/ids, audience: [toolhost], ca: %[9]s}
    - {issuer: %[8]s/names, audience: [toolhost], ca: %[9]s, name_claim: preferred_username, tenant: red}
    - {issuer: %[8]s/mails, audience: [toolhost], ca: %[9]s, name_claim: email, tenant: red}
  principals:
    - {certificate: "uri:spiffe://acme/ns/*", tenant: red, groups: [machines]}
    - {issuer: %[8]s/ids, claims: {repository: acme/*}, name: ci, tenant: red}
  bindings:
    - {role: admin, principals: ["uid:%[6]d", boss], tenants: [all]}
    - {role: caller, members_of: [red, blue]}
    - {role: approver, principals: [red/bob, blue/bea]}
    - {role: operator, principals: [red/olga]}
    - {role: auditor, principals: [red/olga]}
    - {role: delegate, principals: [agent], tenants: [red]}
`

// settingsOfAgentd is the configuration of agentd.
const settingsOfAgentd = `
listen: unix://%[1]s/a.sock
listeners: [{address: "%[2]s", tls: {certificate: cert.pem, key: key.pem}}]
network: {failures_per_minute: 100000}
state: %[1]s/agentd
model: scripted:script.yaml
approvals: {headless: never}
auth:
  issuers: [{issuer: %[4]s/ids, audience: [agentd], ca: %[5]s}]
  bindings:
    - {role: admin, principals: ["uid:%[3]d"], tenants: [all]}
    - {role: caller, members_of: [red, blue]}
    - {role: approver, principals: [red/bob, blue/bea]}
    - {role: operator, principals: [red/olga], tenants: [all]}
`

// script lets each run ask for a call that needs an approval.
const script = `
attachments: [text/*]
turns:
  - calls: [{id: one, tool: counterplugin_drop, arguments: {key: '{{prompt}}'}}]
  - text: 'done'
`

func newWorld(t *testing.T) *world {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "int-") // short, because socket paths are bounded
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	w := &world{home: home, ca: testca.New(t), issuer: newIssuer(t), tokens: map[string]string{}, canary: "canary-" + rand.Text()}
	w.addresses = freePorts(t, "tls", "mutual", "tokens", "plain", "agentd")
	w.addresses["tls without TLS"] = w.addresses["tls"]
	w.addresses["unix"], w.addresses["unix-tokens"] = "unix://"+home+"/t.sock", "unix://"+home+"/tokens.sock"
	for _, dir := range []string{"workspace", "plugins", "agentd", "state"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(bin, "counterplugin"), filepath.Join(home, "plugins", "counterplugin")); err != nil {
		t.Fatal(err)
	}
	certificate, key := w.ca.Issue(t, "127.0.0.1")
	w.file(t, "cert.pem", string(certificate))
	w.file(t, "key.pem", string(key))
	at := w.addresses
	w.trusted(t, "toolhost.yaml", fmt.Sprintf(settings, home, at["tls"], at["mutual"], at["tokens"], at["plain"], os.Getuid(), w.ca.Path, w.issuer.url, w.issuer.ca))
	w.trusted(t, "agentd.yaml", fmt.Sprintf(settingsOfAgentd, home, at["agentd"], os.Getuid(), w.issuer.url, w.issuer.ca))
	w.file(t, "script.yaml", script)
	w.createTokens(t)
	w.serve(t, "toolhost", nil, "serve", "--plugins", home+"/plugins", "--state", home+"/state", "--workspace", home+"/workspace")
	w.serve(t, "agentd", []string{"TOOLHOST_ADDR=" + at["tls"], "TOOLHOST_TLS_CA=" + w.ca.Path, "TOOLHOST_TOKEN_FILE=" + home + "/agent.token"}, "serve", "--journal", home+"/runs.db")
	return w
}

// freePorts returns addresses on loopback that are free now, by name. It keeps all ports until it
// has the last one, because the system may give a released port again.
func freePorts(t *testing.T, names ...string) map[string]string {
	t.Helper()
	addresses := map[string]string{}
	for _, name := range names {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addresses[name] = l.Addr().String()
	}
	return addresses
}

func (w *world) file(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.home, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// trusted writes a configuration file that the user has agreed to.
func (w *world) trusted(t *testing.T, name, content string) {
	t.Helper()
	w.file(t, name, content)
	if err := trust.NewStore(filepath.Join(w.home, ".local", "state", "toolhost")).TrustFile(filepath.Join(w.home, name), []byte(content)); err != nil {
		t.Fatal(err)
	}
}

// createTokens creates the tokens of the callers.
func (w *world) createTokens(t *testing.T) {
	t.Helper()
	w.toolhost = tokenstore.New("toolhost", filepath.Join(w.home, "state"))
	w.agentd = tokenstore.New("agentd", filepath.Join(w.home, "agentd"))
	t.Cleanup(func() { _, _ = w.toolhost.Close(), w.agentd.Close() })
	create := func(as string, store *tokenstore.Store, r tokenstore.Record) {
		t.Helper()
		token, _, err := store.Create(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		w.tokens[as] = token
	}
	for _, name := range []string{"red/ada", "red/bob", "red/olga", "blue/eve", "blue/bea", "default/agent", "default/boss", "default/ghost"} {
		tenant, bare, _ := strings.Cut(name, "/")
		create(bare, w.toolhost, tokenstore.Record{Tenant: tenant, Name: bare})
		create(bare+" at agentd", w.agentd, tokenstore.Record{Tenant: tenant, Name: bare})
	}
	create("limited", w.toolhost, tokenstore.Record{Tenant: "red", Name: "lea", Tools: []string{"counterplugin_read"}})
	create("limited at agentd", w.agentd, tokenstore.Record{Tenant: "red", Name: "lea", Tools: []string{"counterplugin_read"}})
	create("auditing boss", w.toolhost, tokenstore.Record{Tenant: "default", Name: "boss", Roles: []string{"auditor"}})
	create("short", w.toolhost, tokenstore.Record{Tenant: "red", Name: "ada", Expires: time.Now().Add(2 * time.Second)})
	create("lost", w.toolhost, tokenstore.Record{Tenant: "red", Name: "ada"})
	elsewhere := tokenstore.New("toolhost", t.TempDir())
	defer elsewhere.Close()
	create("elsewhere", elsewhere, tokenstore.Record{Tenant: "red", Name: "ada"})
	w.file(t, "agent.token", w.tokens["agent"])
}

// serve starts a server, and stops it at the end of the test.
func (w *world) serve(t *testing.T, name string, env []string, args ...string) {
	t.Helper()
	log := &syncbuf.Buffer{}
	cmd := exec.CommandContext(context.Background(), filepath.Join(bin, name), args...)
	cmd.Env = append([]string{"HOME=" + w.home, "PATH=/usr/bin:/bin", "TMPDIR=" + w.home}, env...)
	cmd.Dir, cmd.Stderr = w.home, log
	line, exited, err := programs.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-exited
		text := log.String()
		for who, token := range w.tokens {
			if strings.Contains(text, token) || strings.Contains(text, token[len(token)-40:]) {
				t.Errorf("the log of %s has the token of %s", name, who)
			}
		}
		if t.Failed() {
			t.Logf("the log of %s ends with\n%s", name, text[max(0, len(text)-10_000):])
		}
	})
	if !strings.Contains(line, "ready at") {
		t.Fatalf("%s says %q\n%s", name, line, log)
	}
}

// tls returns the settings of a client with a certificate, or none.
func (w *world) tls(t *testing.T, certificate *tls.Certificate) *tls.Config {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(w.ca.PEM())
	config := &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", NextProtos: []string{"h2"}}
	if certificate != nil { // whatever CAs the server asks for
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certificate, nil }
	}
	return config
}

// at sends a request to a listener.
func (w *world) at(t *testing.T, listener string, certificate *tls.Certificate, r request) answer {
	t.Helper()
	var config *tls.Config
	if listener == "tls" || listener == "mutual" || listener == "tokens" || listener == "agentd" {
		config = w.tls(t, certificate)
	}
	return send(t, w.addresses[listener], config, r)
}

// executions returns the number of calls that plugins have executed.
func (w *world) executions(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(w.home, "workspace", "*"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			n += strings.Count(string(text), "\n")
		}
	}
	return n
}

// line is the part of a line of an audit log that the tests look at.
type line struct {
	Kind, Tenant, Principal, Via, From, Credential, Act, Target, Decision, Reason, Tool string
	CallID                                                                              string `json:"call_id"`
}

// audit returns the lines of the audit log of a server.
func (w *world) audit(t *testing.T, server string) []line {
	t.Helper()
	path := filepath.Join(w.home, "state", "audit.jsonl")
	if server == "agentd" {
		path = filepath.Join(w.home, "agentd", "agentd-audit.jsonl")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []line
	for text := range strings.Lines(string(text)) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err == nil { // the last line may be incomplete
			lines = append(lines, l)
		}
	}
	return lines
}
