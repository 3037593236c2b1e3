package mcpauth_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpauth"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpauth/authtest"
	"github.com/toolhost/toolhost/tool"
)

const callback = "http://127.0.0.1:8912/callback"

// setup is an authorization server, an MCP server that requires its tokens, and logins.
type setup struct {
	t        *testing.T
	issuer   *authtest.Server
	resource *authtest.Resource
	server   mcpauth.Server
	folder   string
	logins   *mcpauth.Logins

	mu      sync.Mutex
	learned []string
	places  map[string]string // of the learned secrets, by value
	changed []string
	now     time.Time
}

func newSetup(t *testing.T) *setup {
	s := &setup{t: t, issuer: authtest.New(t), folder: filepath.Join(t.TempDir(), "logins"), places: map[string]string{}, now: time.Now()}
	s.resource = authtest.NewResource(t, s.issuer)
	s.server = mcpauth.Server{Plugin: "docs", URL: s.resource.URL}
	s.reopen()
	return s
}

// reopen replaces the logins, as a restart of toolhost does.
func (s *setup) reopen() {
	if s.logins != nil {
		s.logins.Close()
	}
	s.logins = mcpauth.New(mcpauth.Config{
		Folder: s.folder,
		HTTP:   func(string) http.RoundTripper { return http.DefaultTransport },
		Secrets: func(_, principal string, names []string) (map[string]string, error) {
			return map[string]string{names[0]: "the-secret-of-" + names[0]}, nil
		},
		Learn: func(name, place, value string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.learned = append(s.learned, value)
			s.places[value] = name + " " + place
		},
		Changed: func(plugin, principal string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.changed = append(s.changed, plugin+" "+principal)
		},
		Now: func() time.Time {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.now
		},
	})
	s.t.Cleanup(s.logins.Close)
}

func (s *setup) later(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// browse opens a URL as the browser of a person does, and returns what it brings to the redirect
// URI.
func browse(t *testing.T, from, user string) (to *url.URL, answer tool.LoginAnswer) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, from, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User", user)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	to, err = resp.Location()
	if err != nil {
		text, _ := io.ReadAll(resp.Body)
		t.Fatalf("the authorization server says %d %s", resp.StatusCode, text)
	}
	q := to.Query()
	return to, tool.LoginAnswer{Code: q.Get("code"), State: q.Get("state"), Issuer: q.Get("iss"), Error: q.Get("error"), ErrorDescription: q.Get("error_description")}
}

func (s *setup) begin(principal string) (tool.LoginStart, error) {
	return s.logins.Begin(s.t.Context(), mcpauth.Request{Server: s.server, Principal: principal, RedirectURI: callback})
}

func (s *setup) login(principal, user string) (tool.Login, error) {
	s.t.Helper()
	started, err := s.begin(principal)
	if err != nil {
		return tool.Login{}, err
	}
	_, answer := browse(s.t, started.BrowserURL, user)
	return s.logins.Finish(s.t.Context(), "docs", principal, started.ID, answer)
}

func (s *setup) mustLogin(principal, user string) tool.Login {
	s.t.Helper()
	status, err := s.login(principal, user)
	if err != nil {
		s.t.Fatal(err)
	}
	return status
}

// get makes a request with the login of a principal and returns the answer: the name of a person.
func (s *setup) get(principal string) (string, error) {
	return get(s.t.Context(), s.logins.Transport(s.server, principal, http.DefaultTransport), s.server.URL)
}

func get(ctx context.Context, through http.RoundTripper, at string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(`{"method":"tools/list"}`))
	if err != nil {
		return "", err
	}
	resp, err := through.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return "", errors.New(resp.Status)
	}
	return string(text), err
}

func (s *setup) expect(principal, user string) {
	s.t.Helper()
	if got, err := s.get(principal); err != nil || got != user {
		s.t.Errorf("a request of %s is one of %q, %v; want %q", principal, got, err, user)
	}
}

// expectRefusal expects that a request needs a login, and that the error says how to log in.
func (s *setup) expectRefusal(principal, reason string) {
	s.t.Helper()
	_, err := s.get(principal)
	e, ok := errors.AsType[*mcpauth.LoginError](err)
	if !ok || tool.KindOf(err) != tool.KindDenied || !strings.Contains(err.Error(), "toolhost mcp login docs") || !strings.Contains(e.Reason, reason) {
		s.t.Errorf("a request of %s fails with %v (%s); want a login error because %s", principal, err, tool.KindOf(err), reason)
	}
}

// Two principals, one of them in another tenant, have two logins, and each request has the token of
// its principal. They outlive a restart.
func TestTwoPrincipals(t *testing.T) {
	s := newSetup(t)
	s.expectRefusal("ada", "there is no login")
	status := s.mustLogin("ada", "Ada")
	if !status.LoggedIn || status.Issuer != s.issuer.URL || !status.Renews || !slices.Equal(status.Scopes, []string{"read", "offline_access"}) {
		t.Errorf("the status is %+v", status)
	}
	s.expectRefusal("red/bob", "there is no login")
	s.mustLogin("red/bob", "Bob")
	for range 2 {
		s.expect("ada", "Ada")
		s.expect("red/bob", "Bob")
		s.expectRefusal("red/ada", "there is no login")
		s.reopen()
	}
	tokens := s.resource.Tokens()
	for _, token := range tokens {
		if token != "" && !slices.Contains(s.learned, token) {
			t.Error("the redactor does not know a token")
		}
	}
	if want := []string{"docs ada", "docs red/bob"}; !slices.Equal(s.changed, want) {
		t.Errorf("changed: %v", s.changed)
	}
	s.checkFiles(2)
}

// The redactor forgets the oldest values of a place. Many new access tokens, and many logins that
// only begin, must not make it forget a refresh token.
func TestPlacesOfSecrets(t *testing.T) {
	s := newSetup(t)
	s.mustLogin("ada", "Ada")
	s.issuer.Forget() // the next request renews the login
	s.expect("ada", "Ada")
	requests := s.issuer.Requests("/token")
	kinds := map[string]string{
		"access token":  s.resource.Tokens()[len(s.resource.Tokens())-1],
		"refresh token": requests[1].Form.Get("refresh_token"),
		"verifier":      requests[0].Form.Get("code_verifier"),
	}
	taken := map[string]string{}
	for kind, value := range kinds {
		place := s.places[value]
		if place == "" || taken[place] != "" {
			t.Errorf("the place of the %s is %q, as that of the %s", kind, place, taken[place])
		}
		taken[place] = kind
	}
	if s.mustLogin("bob", "Bob"); taken[s.places[s.issuer.Requests("/token")[2].Form.Get("code_verifier")]] != "" {
		t.Error("two principals share a place")
	}
}

// checkFiles checks that only the owner can read the files of logins.
func (s *setup) checkFiles(want int) {
	s.t.Helper()
	files, _ := filepath.Glob(filepath.Join(s.folder, "*"))
	if len(files) != want {
		s.t.Errorf("the files are %v", files)
	}
	for _, file := range append(files, s.folder) {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
			s.t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
}

// An expired token is renewed once for all requests that wait, the rotated refresh token is the one
// that is used next, and the server never sees a spent one.
func TestRefresh(t *testing.T) {
	s := newSetup(t)
	s.mustLogin("ada", "Ada")
	for round := range 3 {
		s.later(2 * time.Hour)
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() { s.expect("ada", "Ada") })
		}
		wait.Wait()
		if n := len(s.issuer.Requests("/token")); n != round+2 {
			t.Errorf("%d token requests after %d renewals", n, round+1)
		}
		s.reopen()
	}
	for _, r := range s.issuer.Requests("/token")[1:] {
		if r.Form.Get("grant_type") != "refresh_token" || r.Form.Get("resource") != s.resource.URL {
			t.Errorf("a renewal is %v", r.Form)
		}
	}
}

// A token that the server refuses before its expiry is renewed, and the request sent again.
func TestRefusedTokenIsRenewed(t *testing.T) {
	s := newSetup(t)
	s.mustLogin("ada", "Ada")
	s.expect("ada", "Ada")
	s.issuer.Forget()
	s.expect("ada", "Ada")
	s.expect("ada", "Ada")
	if n := len(s.issuer.Requests("/token")); n != 2 {
		t.Errorf("%d token requests", n)
	}
}

// A request that ends while its token is renewed does not lose the new refresh token.
func TestRenewalOutlivesItsRequest(t *testing.T) {
	s := newSetup(t)
	s.mustLogin("ada", "Ada")
	s.later(2 * time.Hour)
	asked, answer := make(chan struct{}), make(chan struct{})
	s.issuer.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			close(asked)
			<-answer
		}
		return false
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := get(ctx, s.logins.Transport(s.server, "ada", http.DefaultTransport), s.server.URL)
		failed <- err
	}()
	<-asked
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("the request ends with %v", err)
	}
	s.issuer.Before = nil
	close(answer)
	s.expect("ada", "Ada")
	s.expect("ada", "Ada")
}

// When the authorization server ends a login, calls need another one, and its file is gone.
func TestWithdrawn(t *testing.T) {
	s := newSetup(t)
	s.mustLogin("ada", "Ada")
	s.mustLogin("bob", "Bob")
	s.issuer.Withdraw("Ada")
	s.expectRefusal("ada", "the authorization server has ended the login")
	s.expectRefusal("ada", "there is no login")
	s.expect("bob", "Bob")
	s.checkFiles(1)
}

// Logging out takes effect at once, removes the file, and revokes both tokens.
func TestLogout(t *testing.T) {
	s := newSetup(t)
	s.mustLogin("ada", "Ada")
	s.expect("ada", "Ada")
	tokens := s.resource.Tokens()
	s.reopen() // the file is read for the revocation
	out, err := s.logins.Logout(t.Context(), s.server, "ada")
	if !out.WasLoggedIn || out.RevocationProblem != "" || err != nil {
		t.Errorf("logging out: %+v, %v", out, err)
	}
	s.expectRefusal("ada", "there is no login")
	if _, valid := s.issuer.Introspect(tokens[len(tokens)-1]); valid {
		t.Error("the token is still valid")
	}
	if n := len(s.issuer.Requests("/revoke")); n != 2 {
		t.Errorf("%d tokens were revoked", n)
	}
	s.checkFiles(0)
	if out, err := s.logins.Logout(t.Context(), s.server, "ada"); out.WasLoggedIn || err != nil {
		t.Errorf("logging out again: %+v, %v", out, err)
	}
}

// A server that needs more scopes gets them with the next login, which asks for the old ones, too.
func TestStepUp(t *testing.T) {
	s := newSetup(t)
	s.mustLogin("ada", "Ada")
	s.resource.Scope = func(*http.Request) string { return "write" }
	s.expectRefusal("ada", "the login does not permit this")
	if status, err := s.logins.Status(s.server, "ada"); err != nil || !slices.Equal(status.MissingScopes, []string{"write"}) {
		t.Errorf("the status is %+v, %v", status, err)
	}
	if n := len(s.issuer.Requests("/token")); n != 1 {
		t.Errorf("%d token requests: nothing but a person may extend a login", n)
	}
	s.mustLogin("ada", "Ada")
	s.expect("ada", "Ada")
	asked := s.issuer.Requests("/authorize")
	if scope := strings.Fields(asked[1].Form.Get("scope")); !slices.Contains(scope, "write") || !slices.Contains(scope, "read") {
		t.Errorf("the second login asks for %v", scope)
	}
}

// A person can agree, or refuse, on another device.
func TestDevice(t *testing.T) {
	s := newSetup(t)
	for _, agrees := range []bool{true, false} {
		started, err := s.logins.Begin(t.Context(), mcpauth.Request{Server: s.server, Principal: "ada"})
		if err != nil || started.UserCode == "" || started.VerifyURL != s.issuer.URL+"/enter" || started.BrowserURL != "" {
			t.Fatalf("%+v, %v", started, err)
		}
		s.issuer.Agree(started.UserCode, "Ada", agrees)
		_, err = s.logins.Finish(t.Context(), "docs", "ada", started.ID, tool.LoginAnswer{})
		if agrees && err != nil || !agrees && (err == nil || !strings.Contains(err.Error(), "access_denied")) {
			t.Errorf("agrees %v: %v", agrees, err)
		}
	}
	s.expect("ada", "Ada")
}

// The operator's client is used with its secret, and a client id metadata document where the
// authorization server supports it.
func TestConfiguredClients(t *testing.T) {
	s := newSetup(t)
	s.issuer.Secrets["known"] = "the-secret-of-SECRET"
	s.server.OAuth = mcpauth.OAuth{ClientID: "known", ClientSecret: "SECRET", Issuer: s.issuer.URL}
	s.mustLogin("ada", "Ada")
	s.later(2 * time.Hour)
	s.expect("ada", "Ada")
	for _, r := range s.issuer.Requests("/token") {
		if r.Basic != "known" {
			t.Errorf("a token request is %+v", r)
		}
	}
	const document = "https://tools.example/client.json"
	s.server.OAuth = mcpauth.OAuth{ClientMetadata: document}
	s.issuer.Metadata = func(m map[string]any) { m["client_id_metadata_document_supported"] = true }
	s.mustLogin("bob", "Bob")
	s.expect("bob", "Bob")
	if n := len(s.issuer.Requests("/register")); n != 0 {
		t.Errorf("%d registrations", n)
	}
	s.issuer.Metadata = nil
	s.mustLogin("cleo", "Cleo")
	if n := len(s.issuer.Requests("/register")); n != 1 {
		t.Errorf("%d registrations without support of the document", n)
	}
}

// A client with credentials needs no person. It gets more scopes when the server asks for them.
func TestClientCredentials(t *testing.T) {
	s := newSetup(t)
	s.issuer.Secrets["robot"] = "the-secret-of-SECRET"
	s.server.OAuth = mcpauth.OAuth{Grant: mcpauth.GrantClient, ClientID: "robot", ClientSecret: "SECRET", Issuer: s.issuer.URL}
	s.expect("ada", "robot")
	s.expect("ada", "robot")
	if n := len(s.issuer.Requests("/token")); n != 1 {
		t.Errorf("%d token requests", n)
	}
	s.resource.Scope = func(*http.Request) string { return "write" }
	s.expect("ada", "robot")
	s.issuer.Forget()
	s.expect("ada", "robot")
	if files, _ := filepath.Glob(filepath.Join(s.folder, "*")); len(files) != 0 {
		t.Errorf("the folder has %v", files)
	}
	s.issuer.Secrets["robot"] = "another"
	s.issuer.Forget()
	for range 3 {
		if _, err := s.get("ada"); err == nil || !strings.Contains(err.Error(), "invalid_client") {
			t.Errorf("with a wrong secret: %v", err)
		}
	}
	before := len(s.issuer.Requests("/token"))
	if _, err := s.get("ada"); err == nil || len(s.issuer.Requests("/token")) != before {
		t.Errorf("a failed request is repeated at once: %v", err)
	}
	if _, err := s.begin("ada"); err == nil {
		t.Error("a person can log in as the client")
	}
}

// toolhost reads the tools with the oldest login of an operator, and says so if there is none.
func TestDescribing(t *testing.T) {
	s := newSetup(t)
	s.mustLogin("ada", "Ada")
	_, err := s.get("")
	if e, ok := errors.AsType[*mcpauth.LoginError](err); !ok || e.Principal != "" || !strings.Contains(err.Error(), "an operator has to run: toolhost mcp login docs") {
		t.Errorf("without an operator's login: %v", err)
	}
	started, err := s.logins.Begin(t.Context(), mcpauth.Request{Server: s.server, Principal: "op", RedirectURI: callback, Describes: true})
	if err != nil {
		t.Fatal(err)
	}
	_, answer := browse(t, started.BrowserURL, "Olga")
	if _, err := s.logins.Finish(t.Context(), "docs", "op", started.ID, answer); err != nil {
		t.Fatal(err)
	}
	s.expect("", "Olga")
	for _, body := range []string{`{"method":"tools/call"}`, `{"Method":"tools/list","method":"tools/call"}`, `[{"method":"tools/list"}]`, `{}`, `{`} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL, strings.NewReader(body))
		if _, err := s.logins.Transport(s.server, "", http.DefaultTransport).RoundTrip(req); tool.KindOf(err) != tool.KindDenied {
			t.Errorf("the operator's login is used for %s: %v", body, err)
		}
	}
}

// A client that tries an older version of MCP after a refusal gets the refusal again, until the
// principal has logged in.
func TestFirstRefusalIsRepeated(t *testing.T) {
	s := newSetup(t)
	requests := 0
	s.resource.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if requests++; requests == 2 && r.URL.Path == "/mcp" {
			w.WriteHeader(http.StatusBadRequest) // the server does not know the older version
			return true
		}
		return false
	}
	session := s.logins.Transport(s.server, "ada", http.DefaultTransport)
	for range 2 {
		if _, err := get(t.Context(), session, s.server.URL); tool.KindOf(err) != tool.KindDenied {
			t.Errorf("before the login: %v", err)
		}
	}
	s.resource.Before = nil
	s.mustLogin("ada", "Ada")
	if got, err := get(t.Context(), session, s.server.URL); err != nil || got != "Ada" {
		t.Errorf("after the login: %q, %v", got, err)
	}
}
