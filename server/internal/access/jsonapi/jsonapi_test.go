package jsonapi_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/clientlimit"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/jsonapi"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// maxBytes bounds requests in the tests.
const maxBytes = hostpb.MaxMessageBytes

// tokens identifies ada and bob of two tenants, and eve, who has no role.
type tokens struct {
	revoked atomic.Bool
	mu      sync.Mutex
	seen    []authn.Evidence
	refused []audit.Event
}

func (a *tokens) Authenticate(_ context.Context, e authn.Evidence) (authn.Verified, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, e)
	tenant, known := map[string]string{"ada": "red", "bob": "blue", "eve": "red"}[e.Bearer]
	if e.HasUID || e.Plain || !known || a.revoked.Load() {
		return authn.Verified{}, errors.New("the token is not valid")
	}
	return authn.Verified{Principal: identity.Principal{Tenant: tenant, Name: e.Bearer}}, nil
}

// Note implements gate.Auditor.
func (a *tokens) Note(_ context.Context, e audit.Event) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.Outcome == audit.Denied {
		a.refused = append(a.refused, e)
	}
	return nil
}

// backend is a gRPC server, as jsonapi uses it.
type backend interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error
}

// fixture is JSON over HTTP on top of a gRPC server.
type fixture struct {
	tokens *tokens
	url    string
	client *http.Client
	json   *jsonapi.Server
	pipes  *pipes // of a fixture in a bubble
}

// start serves the methods of a backend at a TCP port.
func start(t *testing.T, files *listen.TLS, methods []string, rights rpcright.Table, open func(*gate.Gate) backend) *fixture {
	t.Helper()
	f := &fixture{tokens: &tokens{}, client: &http.Client{Transport: &http.Transport{}}}
	at, err := address.ParseListener("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limits := listen.Limits{RequestTimeout: time.Minute, HeaderBytes: 16 << 10, FailuresPerMinute: 1000}
	set, err := listen.Open(t.Context(), "test", []listen.Config{{Address: at, TLS: files, Web: true, JSON: true}}, limits, nil)
	if err != nil {
		t.Fatal(err)
	}
	admitting := f.gate(rights, set.Failures())
	grpc := open(admitting)
	f.json = jsonapi.New(f.config(methods, grpc, admitting))
	_, wait := set.Serve(f.json.Serve)
	f.url = "http://" + set.First().String()
	if files != nil {
		f.url = "https://" + set.First().String()
	}
	t.Cleanup(func() {
		f.client.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := errors.Join(f.json.Shutdown(ctx), grpc.Shutdown(ctx), set.Close(), wait()); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) gate(rights rpcright.Table, failures *listen.Failures) *gate.Gate {
	policy := authz.New([]authz.Binding{{Role: "admin", To: []string{"name:red/ada", "name:blue/bob"}}})
	var identify gate.Authenticator = f.tokens
	if failures != nil {
		identify = &clientlimit.Authenticator{Inner: f.tokens, Failures: failures}
	}
	return gate.New(gate.Config{Rights: rights, Authenticator: identify, Policy: gate.Always(policy), Audit: f.tokens})
}

func (f *fixture) config(methods []string, grpc backend, by *gate.Gate) jsonapi.Config {
	return jsonapi.Config{Methods: methods, Serve: grpc.Serve, Gate: by, MaxBytes: maxBytes, Memory: budget.New(256<<20, 0), Limits: listen.Limits{RequestTimeout: time.Minute}}
}

// ofToolhost serves the methods of toolhost.
func ofToolhost(t *testing.T) (*fixture, *hosttest.Toolhost) { return ofToolhostAt(t, nil) }

// ofToolhostAt does so with a certificate.
func ofToolhostAt(t *testing.T, files *listen.TLS) (*fixture, *hosttest.Toolhost) {
	t.Helper()
	host := hosttest.New(t, nil, hosttest.Tools()...)
	return start(t, files, hostserver.HTTPMethods(), hostserver.Rights(), func(by *gate.Gate) backend {
		return hostserver.NewServer(hostserver.Config{Host: host, Gate: by, Budget: budget.New(256<<20, 0)})
	}), host
}

// run is an agent with one run of ada, which never ends.
type run struct{ agentserver.Agent }

func (run) OwnerOf(context.Context, string) (string, error) { return "red/ada", nil }

func (run) WatchRun(ctx context.Context, _ string, _ uint64) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		<-ctx.Done()
		yield(loop.Event{}, context.Cause(ctx))
	}
}

// body returns a request in the form of its RPC.
func body(method, text string) (kind string, data []byte) {
	if !strings.Contains(method, "Watch") {
		return "application/json", []byte(text)
	}
	return "application/connect+json", append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text))), text...)
}

// do sends a request as a token. change may change it.
func (f *fixture) do(t *testing.T, method, token, text string, change func(*http.Request)) (int, string) {
	t.Helper()
	kind, data := body(method, text)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+method, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if change != nil {
		change(r)
	}
	resp, err := f.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, name := range []string{"Access-Control-Allow-Origin", "Set-Cookie"} {
		if resp.Header.Get(name) != "" {
			t.Errorf("%s: the answer has the header %s", method, name)
		}
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(got)
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func content(data []byte) func(*http.Request) {
	return func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	}
}

// Each RPC refuses what is no request of a program with a token and the right.
func TestMatrix(t *testing.T) {
	toolhost, _ := ofToolhost(t)
	agentd := start(t, nil, agentserver.HTTPMethods(), agentserver.Rights(), func(by *gate.Gate) backend {
		return agentserver.NewServer(agentserver.Config{Agent: run{}, Gate: by})
	})
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	if _, err := w.Write(make([]byte, 64<<20)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name, token, text string
		change            func(*http.Request)
		status            int
		says              string
	}{
		{"no token", "", "{}", nil, 401, "unauthenticated"},
		{"a wrong token", "mallory", "{}", nil, 401, "unauthenticated"},
		{"two tokens", "ada", "{}", func(r *http.Request) { r.Header.Add("Authorization", "Bearer bob") }, 401, "unauthenticated"},
		{"no right", "eve", "{}", nil, 403, "does not have the right"},
		{"a cookie", "ada", "{}", header("Cookie", "a=b"), 403, "not for browsers"},
		{"a page", "ada", "{}", header("Origin", "https://evil.example"), 403, "not for browsers"},
		{"an empty origin", "ada", "{}", header("Origin", ""), 403, "not for browsers"},
		{"a browser", "ada", "{}", header("Sec-Fetch-Site", "none"), 403, "not for browsers"},
		{"a preflight", "ada", "", func(r *http.Request) { r.Method = http.MethodOptions }, 405, "POST"},
		{"GET", "ada", "", func(r *http.Request) { r.Method = http.MethodGet; content(nil)(r) }, 405, "POST"},
		{"a form", "ada", "{}", header("Content-Type", "application/x-www-form-urlencoded"), 415, "has to be"},
		{"a character set", "ada", "{}", header("Content-Type", "application/json; charset=utf-8"), 415, "has to be"},
		{"protobuf", "ada", "", header("Content-Type", "application/proto"), 415, "has to be"},
		{"gRPC", "ada", "", header("Content-Type", "application/grpc"), 415, "has to be"},
		{"a bomb", "ada", "", func(r *http.Request) { header("Content-Encoding", "gzip")(r); content(bomb.Bytes())(r) }, 415, "compressed"},
		{"a bomb in a stream", "ada", "", func(r *http.Request) { header("Connect-Content-Encoding", "gzip")(r); content(bomb.Bytes())(r) }, 415, "compressed"},
		{"a query", "ada", "{}", func(r *http.Request) { r.URL.RawQuery = "encoding=json" }, 400, "no query"},
		{"too large", "ada", "", content(make([]byte, maxBytes+1)), 413, "too large"},
		{"too many values", "ada", `{"tenants":[` + strings.Repeat(`"",`, 100_001) + `""]}`, nil, 413, "too many values"},
		{"an unknown field", "ada", `{"admin":true}`, nil, 400, "admin"},
		{"twice the same field", "ada", `{"onBehalfOf":{},"onBehalfOf":{}}`, nil, 400, "o"},
		{"no JSON", "ada", `{`, nil, 400, "invalid_argument"},
		{"no object", "ada", `[]`, nil, 400, "invalid_argument"},
	}
	for _, server := range []struct {
		*fixture
		methods []string
	}{{toolhost, hostserver.HTTPMethods()}, {agentd, agentserver.HTTPMethods()}} {
		for _, method := range server.methods {
			for _, row := range rows {
				status, answer := server.do(t, method, row.token, row.text, row.change)
				want := row.status
				if want == 400 && strings.Contains(method, "Watch") && row.name != "a query" {
					want = 200 // the last message of a stream has the error
				}
				if status != want || !strings.Contains(answer, row.says) {
					t.Errorf("%s with %s: %d %s, want %d", method, row.name, status, answer, want)
				}
			}
		}
		for _, other := range []string{"/toolhost.v1.AdminService/ListPlugins", "/toolhost.v1.ToolService/WhoAmI", "/agentd.v1.AgentService/DeleteRun", "/", server.methods[0] + "/"} {
			if status, _ := server.do(t, other, "ada", "{}", nil); status != http.StatusNotFound {
				t.Errorf("%s: %d", other, status)
			}
		}
		server.tokens.mu.Lock()
		for _, e := range server.tokens.seen {
			if e.Address != "127.0.0.1" {
				t.Errorf("the gate sees %+v", e)
				break
			}
		}
		if n := len(server.tokens.refused); n != 4*len(server.methods) || server.tokens.refused[0].From != "127.0.0.1" {
			t.Errorf("the audit log has %d refusals: %+v", n, server.tokens.refused)
		}
		server.tokens.mu.Unlock()
	}
}

// A stream does not accept a message that says it is compressed.
func TestCompressedMessage(t *testing.T) {
	f, _ := ofToolhost(t)
	status, answer := f.do(t, "/toolhost.v1.ToolService/WatchCall", "ada", "", content([]byte("\x01\x00\x00\x00\x02{}")))
	if status != http.StatusOK || !strings.Contains(answer, `"error"`) {
		t.Errorf("%d %s", status, answer)
	}
}

// A call has its arguments and its result as text, and belongs to the principal of its token.
// Another tenant does not see it.
func TestCall(t *testing.T) {
	f, host := ofToolhost(t)
	const service = "/toolhost.v1.ToolService/"
	status, answer := f.do(t, service+"Call", "ada", `{"tool":"echo","arguments":"{\"text\":\"hello\"}","options":{"callId":"c1"}}`, header("X-Forwarded-For", "1.2.3.4"))
	var called struct {
		CallID string
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(answer), &called); err != nil || status != http.StatusOK || called.CallID != "c1" || called.Result.Content[0].Text != "hello" {
		t.Fatalf("%d %s %v", status, answer, err)
	}
	if opened := host.Opened(); opened[0].Principal != "red/ada" || opened[0].From != "127.0.0.1" {
		t.Errorf("the call is %+v", opened[0])
	}
	if status, answer = f.do(t, service+"ListTools", "ada", `{"selection":{"names":["echo"]}}`, nil); status != http.StatusOK || !strings.Contains(answer, `{\"`) {
		t.Errorf("the schema is no text: %d %s", status, answer)
	}
	if status, answer = f.do(t, service+"Call", "ada", `{"tool":"nothing"}`, nil); status != http.StatusNotFound || !strings.Contains(answer, "toolhost.tool.v1.Error") {
		t.Errorf("an unknown tool: %d %s", status, answer)
	}
	if _, answer = f.do(t, service+"WatchCall", "ada", `{"callId":"c1"}`, nil); !strings.Contains(answer, `"ended"`) {
		t.Errorf("the events are %s", answer)
	}
	for _, method := range []string{"WatchCall", "CancelCall"} {
		if _, answer = f.do(t, service+method, "bob", `{"callId":"c1"}`, nil); !strings.Contains(answer, "not_found") {
			t.Errorf("%s of another tenant: %s", method, answer)
		}
	}
}

// pipes is a listener in memory, for tests in a bubble.
type pipes struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialed:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }
func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.dialed <- there
	return here, nil
}

// inBubble serves an agent in the bubble of a test.
func inBubble(t *testing.T, a agentserver.Agent, change ...func(*jsonapi.Config)) *fixture {
	f := &fixture{tokens: &tokens{}, pipes: &pipes{dialed: make(chan net.Conn), closed: make(chan struct{})}}
	by := f.gate(agentserver.Rights(), nil)
	grpc := agentserver.NewServer(agentserver.Config{Agent: a, Gate: by})
	config := f.config(agentserver.HTTPMethods(), grpc, by)
	for _, f := range change {
		f(&config)
	}
	f.json = jsonapi.New(config)
	f.url, f.client = "http://test", &http.Client{Transport: &http.Transport{DialContext: f.pipes.dial}}
	served := make(chan error, 1)
	go func() { served <- f.json.Serve(f.pipes) }() // ends with Shutdown
	t.Cleanup(func() {
		f.client.CloseIdleConnections()
		if err := errors.Join(f.json.Shutdown(context.Background()), grpc.Shutdown(context.Background()), <-served); err != nil {
			t.Error(err)
		}
	})
	return f
}

// A stream ends when its token is revoked, and when the server stops.
func TestEndOfStream(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*fixture)
		says string
	}{
		"revoked": {func(f *fixture) { f.tokens.revoked.Store(true) }, "unauthenticated"},
		"stopped": {func(f *fixture) { _ = f.json.Shutdown(context.Background()) }, "the server stops"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f, ended := inBubble(t, run{}), make(chan string, 1)
			go func() { // ends with the stream
				_, answer := f.do(t, "/agentd.v1.AgentService/WatchRun", "ada", `{"runId":"r"}`, nil)
				ended <- answer
			}()
			time.Sleep(time.Hour) // of the bubble
			select {
			case early := <-ended:
				t.Fatalf("%s: the stream ended before: %s", name, early)
			default:
			}
			began := time.Now()
			test.end(f)
			if answer := <-ended; !strings.Contains(answer, test.says) || time.Since(began) > 15*time.Second {
				t.Errorf("%s: the stream ended after %v with %s", name, time.Since(began), answer)
			}
		})
	}
}

// Over TLS, clients speak HTTP/1.1 or HTTP/2, also for streams, and the certificate of a client is
// not asked for.
func TestTLS(t *testing.T) {
	ca := testca.New(t)
	certificate, key := ca.Issue(t, "127.0.0.1")
	dir := t.TempDir()
	files := &listen.TLS{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	testca.Replace(t, files.Certificate, certificate)
	testca.Replace(t, files.Key, key)
	f, _ := ofToolhostAt(t, files)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.PEM())
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: protocol == "HTTP/2.0"}
		f.client = &http.Client{Transport: transport}
		call := fmt.Sprintf(`{"tool":"echo","arguments":"{\"text\":\"hello\"}","options":{"callId":"c%s"}}`, protocol[5:6])
		if status, answer := f.do(t, "/toolhost.v1.ToolService/Call", "ada", call, nil); status != http.StatusOK || !strings.Contains(answer, "hello") {
			t.Errorf("%s: %d %s", protocol, status, answer)
		}
		if _, answer := f.do(t, "/toolhost.v1.ToolService/WatchCall", "ada", fmt.Sprintf(`{"callId":"c%s"}`, protocol[5:6]), nil); !strings.Contains(answer, `"ended"`) {
			t.Errorf("%s: the events are %s", protocol, answer)
		}
		transport.CloseIdleConnections()
	}
}

// The document of each program describes the RPCs that it offers, and no others.
func TestDocuments(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for name, methods := range map[string][]string{"toolhost": hostserver.HTTPMethods(), "agentd": agentserver.HTTPMethods()} {
		data, err := os.ReadFile("../../../../api/openapi/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var document struct{ Paths map[string]any }
		if err := json.Unmarshal(data, &document); err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(document.Paths)); !slices.Equal(got, slices.Sorted(slices.Values(methods))) {
			t.Errorf("the document of %s has %q, want %q", name, got, methods)
		}
		for _, method := range methods {
			all[method] = true
			if !strings.Contains(string(page), "`"+method+"`") {
				t.Errorf("docs/http.md does not have %s", method)
			}
		}
	}
	if len(all) != 14 {
		t.Errorf("there are %d RPCs, want 14", len(all))
	}
}

// A request is not read while those that arrive take the whole budget.
func TestMemoryOfBodies(t *testing.T) {
	const path = "/agentd.v1.AgentService/SendMessage"
	synctest.Test(t, func(t *testing.T) {
		f := inBubble(t, run{}, func(c *jsonapi.Config) { c.Memory = budget.New(4<<20, 0) })
		c, err := f.pipes.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(c, "POST "+path+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ada\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", 1<<20); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if status, answer := f.do(t, path, "ada", "{}", nil); status != http.StatusTooManyRequests {
			t.Errorf("while another request arrives: %d %s", status, answer)
		}
		_ = c.Close()
		synctest.Wait()
		if status, answer := f.do(t, path, "ada", "{", nil); status != http.StatusBadRequest {
			t.Errorf("afterwards: %d %s", status, answer)
		}
	})
}

// talking is an agent with a run of ada whose events do not end.
type talking struct {
	run
	ended chan struct{}
}

func (a talking) WatchRun(context.Context, string, uint64) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		defer close(a.ended)
		for yield(loop.Event{Payload: &loop.CancelRequested{}}, nil) {
		}
	}
}

// A client has a minute to send its request, and a minute to read each message.
func TestSlowPrograms(t *testing.T) {
	const path = "/agentd.v1.AgentService/WatchRun"
	head := "POST " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ada\r\nContent-Type: application/connect+json\r\nContent-Length: %d\r\n\r\n"
	_, watch := body(path, `{"runId":"r"}`)
	send := func(t *testing.T, f *fixture, text string) net.Conn {
		c, err := f.pipes.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Second) // of the bubble
		return c
	}
	synctest.Test(t, func(t *testing.T) {
		c := send(t, inBubble(t, run{}), fmt.Sprintf(head, 100))
		defer c.Close()
		began := time.Now()
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || answer.StatusCode != http.StatusBadRequest || time.Since(began) != 10*time.Second {
			t.Errorf("a request that does not arrive: %v, %v after %v", answer, err, time.Since(began))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		agent := talking{ended: make(chan struct{})}
		c := send(t, inBubble(t, agent), fmt.Sprintf(head, len(watch))+string(watch))
		defer c.Close()
		began := time.Now()
		<-agent.ended
		if after := time.Since(began); after != 10*time.Second {
			t.Errorf("a stream that is not read ends after %v more", after)
		}
	})
}
