package authtest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Resource is a server that requires tokens of an authorization server: an MCP server without MCP,
// or in front of one. Set its fields before the first request.
type Resource struct {
	URL    string // with the path /mcp
	Origin string
	Issuer *Server
	// Handler serves requests with a valid token. nil: the answer is the name of the person.
	Handler http.Handler
	// Scope returns the scope that a request needs. nil: none.
	Scope func(r *http.Request) string
	// Metadata changes the metadata of the resource before it is sent. nil: nothing is changed.
	Metadata func(document map[string]any)
	// Challenge returns the value of WWW-Authenticate in place of the usual one. nil: the usual one.
	Challenge func(usual string) string
	// Before sees each request, and answers it if it returns true. nil: no request.
	Before func(w http.ResponseWriter, r *http.Request) bool

	mu     sync.Mutex
	tokens []string
}

// NewResource starts a resource that ends with the test.
func NewResource(t testing.TB, issuer *Server) *Resource {
	r := &Resource{Issuer: issuer}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.Origin, r.URL = server.URL, server.URL+"/mcp"
	return r
}

// ServeHTTP implements http.Handler.
func (s *Resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	s.tokens = append(s.tokens, token)
	s.mu.Unlock()
	if s.Before != nil && s.Before(w, r) {
		return
	}
	if r.URL.Path == "/.well-known/oauth-protected-resource/mcp" {
		document := map[string]any{"resource": s.URL, "authorization_servers": []string{s.Issuer.URL}, "scopes_supported": []string{"read"}}
		if s.Metadata != nil {
			s.Metadata(document)
		}
		Write(w, http.StatusOK, document)
		return
	}
	if r.URL.Path != "/mcp" {
		http.NotFound(w, r)
		return
	}
	g, ok := s.Issuer.Introspect(token)
	if !ok || g.Resource != s.URL {
		s.challenge(w, http.StatusUnauthorized, `Bearer error="invalid_token"`)
		return
	}
	if s.Scope != nil {
		if need := s.Scope(r); need != "" && !slices.Contains(strings.Fields(g.Scope), need) {
			s.challenge(w, http.StatusForbidden, `Bearer error="insufficient_scope", scope="`+need+`"`)
			return
		}
	}
	if s.Handler != nil {
		r.Header.Set("User", g.User)
		s.Handler.ServeHTTP(w, r)
		return
	}
	_, _ = w.Write([]byte(g.User))
}

func (s *Resource) challenge(w http.ResponseWriter, status int, value string) {
	value += `, resource_metadata="` + s.Origin + `/.well-known/oauth-protected-resource/mcp"`
	if s.Challenge != nil {
		value = s.Challenge(value)
	}
	w.Header().Set("WWW-Authenticate", value)
	w.WriteHeader(status)
}

// Tokens returns the bearer token of each request that the server got, in order; "" for none.
func (s *Resource) Tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tokens)
}
