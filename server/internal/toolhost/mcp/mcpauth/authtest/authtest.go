// Package authtest has an OAuth 2.1 authorization server and a protected resource for tests. Both
// are real HTTP servers on loopback. Fields change what they say, so that a test can make them lie.
//
// No other code than tests uses it. The authorization server of a library would check less than the
// tests need: most of them have no resource indicators, and none can be told to lie.
package authtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Server is an authorization server. Set its fields before the first request. The methods are safe
// for concurrent use.
type Server struct {
	URL string // the issuer

	// The hooks change a document, a redirect or an answer before it is sent. nil: nothing is
	// changed.
	Metadata     func(document map[string]any)
	Registration func(document map[string]any)
	Redirect     func(parameters url.Values)
	Token        func(document map[string]any)
	Device       func(document map[string]any)
	// Before sees each request, and answers it if it returns true. nil: no request.
	Before func(w http.ResponseWriter, r *http.Request) bool

	// Lifetime of access tokens in seconds. 0 means 3600.
	Lifetime int
	// Secrets are the passwords of registered clients, by client id. They use client_secret_basic.
	Secrets map[string]string
	// Assert verifies a client assertion and returns the client id. nil: none is accepted.
	Assert func(assertion string) (client string, ok bool)

	mu       sync.Mutex
	clients  map[string]client
	codes    map[string]*grant
	devices  map[string]*grant // by device code
	access   map[string]*grant
	refresh  map[string]*grant
	spent    map[string]*grant // refresh tokens that were rotated
	requests []Request
}

type client struct {
	redirects []string
	secret    string
}

// grant is what a person has granted to a client.
type grant struct {
	User, Client, Redirect, Challenge, Resource, Scope, UserCode string
	revoked, pending, denied                                     bool
}

// Request is a request that a server got.
type Request struct {
	Path  string
	Form  url.Values
	Basic string // the user of basic authentication; empty: there was none
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{
		clients: map[string]client{}, codes: map[string]*grant{}, devices: map[string]*grant{},
		access: map[string]*grant{}, refresh: map[string]*grant{}, spent: map[string]*grant{}, Secrets: map[string]string{},
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	user, _, _ := r.BasicAuth()
	s.mu.Lock()
	s.requests = append(s.requests, Request{r.URL.Path, maps.Clone(r.Form), user})
	s.mu.Unlock()
	if s.Before != nil && s.Before(w, r) {
		return
	}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		document := s.document()
		if s.Metadata != nil {
			s.Metadata(document)
		}
		Write(w, http.StatusOK, document)
	case "/register":
		s.register(w, r)
	case "/authorize":
		s.authorize(w, r)
	case "/device":
		s.device(w, r)
	case "/token":
		s.token(w, r)
	case "/revoke":
		s.revoke(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) document() map[string]any {
	return map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
		"registration_endpoint": s.URL + "/register", "revocation_endpoint": s.URL + "/revoke", "device_authorization_endpoint": s.URL + "/device",
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic"},
		"authorization_response_iss_parameter_supported": true, "scopes_supported": []string{"read", "write", "offline_access"},
	}
}

// Write writes a JSON document.
func Write(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document)
}

func refuse(w http.ResponseWriter, status int, code string) {
	Write(w, status, map[string]any{"error": code, "error_description": "refused by the test"})
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var in struct {
		RedirectURIs []string `json:"redirect_uris"`
		Method       string   `json:"token_endpoint_auth_method"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.RedirectURIs) == 0 {
		refuse(w, http.StatusBadRequest, "invalid_redirect_uri")
		return
	}
	id := "client-" + rand.Text()
	out := map[string]any{"client_id": id, "redirect_uris": in.RedirectURIs, "token_endpoint_auth_method": in.Method}
	c := client{redirects: in.RedirectURIs}
	if in.Method != "none" {
		c.secret = rand.Text()
		out["client_secret"] = c.secret
	}
	s.mu.Lock()
	s.clients[id] = c
	s.mu.Unlock()
	if s.Registration != nil {
		s.Registration(out)
	}
	Write(w, http.StatusCreated, out)
}

// authorize is what a browser sees. The header User says which person agrees.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	c, known := s.clients[q.Get("client_id")]
	s.mu.Unlock()
	_, configured := s.Secrets[q.Get("client_id")]
	redirect, err := url.Parse(q.Get("redirect_uri"))
	switch {
	case !known && !configured && !strings.HasPrefix(q.Get("client_id"), "https://"), known && !slices.Contains(c.redirects, q.Get("redirect_uri")), err != nil:
		http.Error(w, "unknown client or redirect", http.StatusBadRequest)
		return
	case q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("resource") == "" || q.Get("response_type") != "code":
		http.Error(w, "not a request of OAuth 2.1 with a resource", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	s.mu.Lock()
	s.codes[code] = &grant{
		User: r.Header.Get("User"), Client: q.Get("client_id"), Redirect: q.Get("redirect_uri"), Challenge: q.Get("code_challenge"),
		Resource: q.Get("resource"), Scope: q.Get("scope"),
	}
	s.mu.Unlock()
	answer := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {s.URL}}
	if s.Redirect != nil {
		s.Redirect(answer)
	}
	redirect.RawQuery = answer.Encode()
	http.Redirect(w, r, redirect.String(), http.StatusFound)
}

func (s *Server) device(w http.ResponseWriter, r *http.Request) {
	code, user := rand.Text(), rand.Text()[:8]
	s.mu.Lock()
	s.devices[code] = &grant{Client: r.Form.Get("client_id"), Resource: r.Form.Get("resource"), Scope: r.Form.Get("scope"), UserCode: user, pending: true}
	s.mu.Unlock()
	out := map[string]any{"device_code": code, "user_code": user, "verification_uri": s.URL + "/enter", "expires_in": 600, "interval": 1}
	if s.Device != nil {
		s.Device(out)
	}
	Write(w, http.StatusOK, out)
}

// Agree lets a person agree to, or refuse, a login on another device.
func (s *Server) Agree(userCode, user string, agrees bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.devices {
		if g.UserCode == userCode {
			g.User, g.pending, g.denied = user, false, !agrees
		}
	}
}

// Requests returns the requests to a path, in order.
func (s *Server) Requests(path string) (out []Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r.Path == path {
			out = append(out, r)
		}
	}
	return out
}

// Grant is what an access token stands for.
type Grant struct{ User, Client, Resource, Scope string }

// Introspect returns what an access token stands for, if it is valid.
func (s *Server) Introspect(token string) (Grant, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.access[token]
	if g == nil || g.revoked {
		return Grant{}, false
	}
	return Grant{g.User, g.Client, g.Resource, g.Scope}, true
}

// Forget makes all access tokens invalid, as if they had expired. Refresh tokens stay valid.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// Withdraw revokes everything that a person has granted.
func (s *Server) Withdraw(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tokens := range []map[string]*grant{s.access, s.refresh} {
		for _, g := range tokens {
			g.revoked = g.revoked || g.User == user
		}
	}
}

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
