package mcphttp_test

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcphttp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var versions = []string{"2025-11-25", "2026-07-28"}

// tokens identifies the tokens ada and bob, and the anonymous caller of plain ports.
type tokens struct{ revoked atomic.Bool }

func (a *tokens) Authenticate(_ context.Context, e authn.Evidence) (authn.Verified, error) {
	switch {
	case e.Bearer == "ada" || e.Bearer == "bob":
		current := func(context.Context) error {
			if a.revoked.Load() {
				return errors.New("the token was revoked")
			}
			return nil
		}
		return authn.Verified{Principal: identity.Principal{Tenant: identity.DefaultTenant, Name: e.Bearer}, Current: current}, current(nil)
	case e.Bearer != "":
		return authn.Verified{}, errors.New("unknown token")
	case e.Plain:
		return authn.Verified{Principal: identity.Principal{Tenant: identity.DefaultTenant, Name: authn.Anonymous}}, nil
	}
	return authn.Verified{}, authn.ErrUnidentified
}

// fixture is a front on a TCP port.
type fixture struct {
	front  *mcphttp.Front
	host   *hosttest.Toolhost
	tokens *tokens
	url    string
	client *http.Client
}

// start starts a front. with changes its configuration and its listener.
func start(t *testing.T, with func(*mcphttp.Config, *listen.Config)) *fixture {
	t.Helper()
	f := &fixture{host: hosttest.New(t, nil, hosttest.Tools()...), tokens: &tokens{}, client: &http.Client{Transport: &http.Transport{}}}
	at, err := address.ParseListener("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	policy := authz.New([]authz.Binding{
		{Role: "caller", To: []string{"name:ada", "name:bob", "name:" + authn.Anonymous}}, {Role: "approver", To: []string{"name:ada"}},
	})
	config := mcphttp.Config{
		Host: f.host, Visible: func(s string) string { return s }, Issuers: []string{"https://issuer.example"},
		Gate: gate.New(gate.Config{Rights: mcphttp.Rights(), Authenticator: f.tokens, Policy: gate.Always(policy)}),
	}
	listener := listen.Config{Address: at, Admits: "caller", Web: true}
	if with != nil {
		with(&config, &listener)
	}
	set, err := listen.Open(t.Context(), "toolhost", []listen.Config{listener}, config.Limits, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.front = mcphttp.New(config)
	_, wait := set.Serve(f.front.Serve)
	scheme := "http://"
	if listener.TLS != nil {
		scheme = "https://"
	}
	f.url = scheme + set.First().String()
	t.Cleanup(func() {
		f.client.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := errors.Join(f.front.Shutdown(ctx), set.Close(), wait()); err != nil {
			t.Error(err)
		}
	})
	return f
}

// as is a transport that sends a token.
type as struct {
	token string
	inner http.RoundTripper
}

func (a as) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.inner.RoundTrip(r)
}

// connect connects a client of the SDK.
func (f *fixture) connect(t *testing.T, version, token string, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, options)
	transport := &mcp.StreamableClientTransport{Endpoint: f.url + mcphttp.Path, HTTPClient: &http.Client{Transport: as{token, f.client.Transport}}, MaxRetries: -1}
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("the version is %s, want %s", got, version)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func call(t *testing.T, s *mcp.ClientSession, name string, arguments map[string]any, meta mcp.Meta) *mcp.CallToolResult {
	t.Helper()
	params := &mcp.CallToolParams{Meta: meta, Name: name}
	if arguments != nil {
		params.Arguments = arguments
	}
	result, err := s.CallTool(t.Context(), params)
	if err != nil {
		t.Fatalf("calling %s: %v", name, err)
	}
	return result
}

func text(r *mcp.CallToolResult) string { return r.Content[0].(*mcp.TextContent).Text }

// Clients of both versions use one address, and each call belongs to the principal of its client.
func TestBothVersions(t *testing.T) {
	f := start(t, nil)
	for _, version := range versions {
		for _, token := range []string{"ada", "bob", ""} {
			s := f.connect(t, version, token, nil)
			listed, err := s.ListTools(t.Context(), nil)
			if err != nil || len(listed.Tools) != len(hosttest.Tools()) {
				t.Fatalf("%d tools, %v", len(listed.Tools), err)
			}
			if r := call(t, s, "echo", map[string]any{"text": "hello"}, nil); text(r) != "hello" {
				t.Errorf("echo: %+v", r)
			}
			opened := f.host.Opened()
			want := token
			if want == "" {
				want = authn.Anonymous
			}
			if last := opened[len(opened)-1]; last.Principal != want || last.From != "127.0.0.1" {
				t.Errorf("the call is of %q from %q, want %q", last.Principal, last.From, want)
			}
		}
	}
}

// A person approves a call if its principal has the right. Nobody else's approval counts: the call
// waits for a person who has it.
func TestApproval(t *testing.T) {
	f := start(t, nil)
	yes := &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
	}}
	for _, version := range versions {
		if r := call(t, f.connect(t, version, "ada", yes), "danger", nil, nil); r.IsError || text(r) != "done" {
			t.Errorf("%s: the approved call: %+v", version, r)
		}
		if opened := f.host.Opened(); opened[len(opened)-1].Approval.Approver != "ada" {
			t.Errorf("the approver is %q", opened[len(opened)-1].Approval.Approver)
		}
		if r := call(t, f.connect(t, version, "bob", yes), "danger", nil, nil); !r.IsError || !strings.Contains(text(r), "toolhost approvals approve calls/") {
			t.Errorf("%s: the approval of a principal without the right: %+v", version, r)
		}
	}
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// post sends a request, and returns the status and the header of its answer.
func (f *fixture) post(t *testing.T, body string, header http.Header) (int, http.Header) {
	t.Helper()
	status, h, _ := f.exchange(t, body, header)
	return status, h
}

// exchange posts a message, and returns the whole answer.
func (f *fixture) exchange(t *testing.T, body string, header http.Header) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+mcphttp.Path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for key, values := range header {
		r.Header[key] = values
		if key == "Host" {
			r.Host = values[0]
		}
	}
	answer, err := f.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(text)
}

// A session belongs to its principal.
func TestForeignSession(t *testing.T) {
	f := start(t, nil)
	id := f.connect(t, versions[0], "ada", nil).ID()
	for token, want := range map[string]int{"ada": http.StatusOK, "bob": http.StatusNotFound, "": http.StatusNotFound} {
		header := http.Header{"Mcp-Session-Id": {id}}
		if token != "" {
			header.Set("Authorization", "Bearer "+token)
		}
		if got, _ := f.post(t, ping, header); got != want {
			t.Errorf("%q: status %d, want %d", token, got, want)
		}
	}
}

// A stranger learns where it can get a token, and nothing else.
func TestStranger(t *testing.T) {
	f := start(t, nil)
	code, header := f.post(t, ping, http.Header{"Authorization": {"Bearer nonsense"}})
	challenge := header.Get("WWW-Authenticate")
	if code != http.StatusUnauthorized || !strings.HasPrefix(challenge, `Bearer resource_metadata="`) {
		t.Fatalf("status %d, challenge %q", code, challenge)
	}
	for _, url := range []string{strings.Trim(strings.TrimPrefix(challenge, "Bearer resource_metadata="), `"`), f.url + "/.well-known/oauth-protected-resource"} {
		answer, err := f.client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		var metadata struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
		}
		err = json.NewDecoder(answer.Body).Decode(&metadata)
		answer.Body.Close()
		if err != nil || metadata.Resource != f.url+"/mcp" || len(metadata.Servers) != 1 || metadata.Servers[0] != "https://issuer.example" {
			t.Errorf("%s: %+v, %v", url, metadata, err)
		}
	}
	if code, _ := f.post(t, ping, http.Header{"Authorization": {"Bearer ada", "Bearer bob"}}); code != http.StatusUnauthorized {
		t.Errorf("two tokens: status %d", code)
	}
}

// Requests that only a foreign web page makes a browser send are refused.
func TestForeignPages(t *testing.T) {
	f := start(t, func(c *mcphttp.Config, _ *listen.Config) { c.Origins = []string{"https://app.example"} })
	own := strings.TrimPrefix(f.url, "http://")
	port := own[strings.LastIndexByte(own, ':'):]
	for _, test := range []struct {
		host, origin string
		want         int
	}{
		{own, "", http.StatusOK},
		{"localhost" + port, "", http.StatusOK},
		{"localhost", "", http.StatusOK},
		{"[::1]" + port, "", http.StatusOK},
		{own, f.url, http.StatusOK},
		{own, "https://app.example", http.StatusOK},
		{"evil.example", "", http.StatusForbidden},
		{"evil.example" + port, "http://evil.example" + port, http.StatusForbidden},
		{"localhost.evil.example", "", http.StatusForbidden},
		{own, "http://evil.example", http.StatusForbidden},
		{own, "https://" + own, http.StatusForbidden},
		{own, "http://localhost:1", http.StatusForbidden},
		{own, "null", http.StatusForbidden},
		{own, "https://app.example.evil", http.StatusForbidden},
	} {
		header := http.Header{"Host": {test.host}}
		if test.origin != "" {
			header.Set("Origin", test.origin)
		}
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
		if got, answer := f.post(t, body, header); got != test.want || got == http.StatusOK && answer.Get("Access-Control-Allow-Origin") != test.origin {
			t.Errorf("host %q, origin %q: status %d, want %d; %v", test.host, test.origin, got, test.want, answer)
		}
	}
	named := start(t, func(c *mcphttp.Config, _ *listen.Config) { c.Hosts = []string{"toolhost.example"} })
	for host, want := range map[string]int{"toolhost.example:443": http.StatusNotFound, "localhost": http.StatusForbidden} {
		if got, _ := named.post(t, ping, http.Header{"Host": {host}, "Mcp-Session-Id": {"none"}}); got != want {
			t.Errorf("host %q: status %d, want %d", host, got, want)
		}
	}
}

// A session takes no request with a revoked token.
func TestRevokedToken(t *testing.T) {
	f := start(t, nil)
	for _, version := range versions {
		f.tokens.revoked.Store(false)
		s := f.connect(t, version, "ada", nil)
		call(t, s, "echo", map[string]any{"text": "hello"}, nil)
		f.tokens.revoked.Store(true)
		if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}}); err == nil {
			t.Error("a call with a revoked token was made")
		}
	}
}

func TestLimits(t *testing.T) {
	f := start(t, func(c *mcphttp.Config, _ *listen.Config) { c.Limits.StreamsPerSecond = 3 })
	if got, _ := f.post(t, strings.Repeat(" ", 5<<20), nil); got != http.StatusRequestEntityTooLarge {
		t.Errorf("5 MiB: status %d", got)
	}
	limited := 0
	for range 10 {
		if got, _ := f.post(t, ping, http.Header{"Mcp-Session-Id": {"none"}}); got == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited == 0 {
		t.Error("11 requests in a second were served, and the limit is 3")
	}
}

// TestBatches checks that one request cannot make many calls.
func TestBatches(t *testing.T) {
	f := start(t, nil)
	for _, version := range []string{"", "2025-03-26", "2025-11-25", "2026-07-28"} {
		header := http.Header{}
		if version != "" {
			header.Set("Mcp-Protocol-Version", version)
		}
		if got, _ := f.post(t, " \n["+ping+","+ping+"]", header); got != http.StatusBadRequest {
			t.Errorf("version %q: status %d", version, got)
		}
	}
}

// TestUnknownMethods checks that an unknown method fails its request, and that an unknown
// notification is accepted (n8n-mcp#994).
func TestUnknownMethods(t *testing.T) {
	f := start(t, nil)
	for _, version := range []string{"", "2025-03-26", "2025-06-18", "2025-11-25"} {
		header := http.Header{}
		if version != "" {
			header.Set("Mcp-Protocol-Version", version)
		}
		initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + cmp.Or(version, "2025-03-26") +
			`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
		_, began := f.post(t, initialize, header)
		header.Set("Mcp-Session-Id", began.Get("Mcp-Session-Id"))
		f.post(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header)
		for body, want := range map[string]string{
			`{"jsonrpc":"2.0","id":7,"method":"x/y","params":{}}`:                      `200 application/json {"error":{"code":-32601,"message":"this server has no method x/y"},"id":7,"jsonrpc":"2.0"}`,
			`{"jsonrpc":"2.0","id":"a","method":"tasks/list"}`:                         `200 application/json {"error":{"code":-32601,"message":"this server has no method tasks/list"},"id":"a","jsonrpc":"2.0"}`,
			`{"jsonrpc":"2.0","id":7,"method":""}`:                                     `200 application/json {"error":{"code":-32601,"message":"this server has no method "},"id":7,"jsonrpc":"2.0"}`,
			`{"jsonrpc":"2.0","method":"notifications/x"}`:                             `202  `,
			`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"a":1}}`: `202  `,
			`{"jsonrpc":"2.0","method":"x/y"}`:                                         `202  `,
			`{"jsonrpc":"2.0","method":"tools/call","params":{}}`:                      "400 text/plain; charset=utf-8 ",
			`{"jsonrpc":"2.0",`: "400 text/plain; charset=utf-8 ",
		} {
			status, h, text := f.exchange(t, body, header)
			if got := fmt.Sprintf("%d %s %s", status, h.Get("Content-Type"), text); !strings.HasPrefix(got, want) || status == http.StatusAccepted && text != "" {
				t.Errorf("version %q, %s: %s, want %s", version, body, got, want)
			}
		}
	}
}

// Clients with TLS speak HTTP/1.1 or HTTP/2.
func TestTLS(t *testing.T) {
	ca := testca.New(t)
	certificate, key := ca.Issue(t, "127.0.0.1")
	dir := t.TempDir()
	files := &listen.TLS{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	testca.Replace(t, files.Certificate, certificate)
	testca.Replace(t, files.Key, key)
	f := start(t, func(_ *mcphttp.Config, l *listen.Config) { l.TLS, l.Admits = files, "" })
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.PEM())
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: protocol == "HTTP/2.0"}
		f.client = &http.Client{Transport: transport}
		answer, err := f.client.Get(f.url + "/.well-known/oauth-protected-resource")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.Proto != protocol {
			t.Errorf("the protocol is %s, want %s", answer.Proto, protocol)
		}
		if got, _ := f.post(t, ping, nil); got != http.StatusUnauthorized {
			t.Errorf("without a token: status %d", got)
		}
		for _, version := range versions {
			if r := call(t, f.connect(t, version, "ada", nil), "echo", map[string]any{"text": "hello"}, nil); text(r) != "hello" {
				t.Errorf("echo: %+v", r)
			}
		}
		transport.CloseIdleConnections()
	}
}
