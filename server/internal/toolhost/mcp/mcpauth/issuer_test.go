package mcpauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpauth"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpauth/authtest"
)

// The last slash of an issuer does not matter, whoever writes it (python-sdk#1919). Everything else
// does.
func TestTheLastSlashOfAnIssuer(t *testing.T) {
	for name, test := range map[string]struct {
		configured, named, own string // what is appended to the URL
		refused                string
	}{
		"nobody":                         {},
		"the resource":                   {named: "/"},
		"the authorization server":       {own: "/"},
		"all three":                      {configured: "/", named: "/", own: "/"},
		"the operator":                   {configured: "/"},
		"the operator and the resource":  {configured: "/", named: "/"},
		"a path of the resource":         {named: "/tenant", refused: "/tenant"},
		"a path of the server":           {own: "/tenant", refused: "is that of the issuer"},
		"two slashes":                    {own: "//", refused: "is that of the issuer"},
		"a path in the operator's words": {configured: "/tenant", refused: "permits only"},
	} {
		for _, by := range []string{"", "operator"} {
			if by == "" && test.configured != "" {
				continue
			}
			t.Run(strings.TrimSpace(name+" "+by), func(t *testing.T) {
				s := newSetup(t)
				if by != "" {
					s.server.OAuth.Issuer = s.issuer.URL + test.configured
				}
				s.resource.Metadata = func(m map[string]any) { m["authorization_servers"] = []string{s.issuer.URL + test.named} }
				s.issuer.Metadata = func(m map[string]any) { m["issuer"] = s.issuer.URL + test.own }
				if test.own == "/" {
					s.issuer.Redirect = func(q url.Values) { q.Set("iss", s.issuer.URL+"/") }
				}
				if test.refused != "" {
					s.refuses(test.refused)
					return
				}
				s.mustLogin("ada", "Ada")
				s.expect("ada", "Ada")
			})
		}
	}
}

// An authorization endpoint at another server is used if the operator chose the issuer, or if each
// answer says which server it is from.
func TestAnEndpointElsewhere(t *testing.T) {
	for _, operators := range []bool{true, false} {
		s := newSetup(t)
		front := authtest.New(t)
		front.Before = func(w http.ResponseWriter, r *http.Request) bool {
			s.issuer.ServeHTTP(w, r)
			return true
		}
		s.issuer.Metadata = func(m map[string]any) {
			m["authorization_endpoint"] = front.URL + "/authorize"
			if operators {
				delete(m, "authorization_response_iss_parameter_supported")
			}
		}
		if operators {
			s.server.OAuth.Issuer = s.issuer.URL
		}
		s.mustLogin("ada", "Ada")
	}
}

// A registration that fails names the status, whatever the answer is.
func TestFailedRegistrationNamesItsStatus(t *testing.T) {
	for body, status := range map[string]int{"": 502, "<html>bad gateway</html>": 503, "{}": 200, "null": 201, `"x"`: 429, "\x00": 599, `{"client_id":""}`: 201} {
		s := newSetup(t)
		s.issuer.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/register" {
				return false
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return true
		}
		_, err := s.logins.Begin(t.Context(), mcpauth.Request{Server: s.server, Principal: "ada", RedirectURI: callback})
		if err == nil || !strings.Contains(err.Error(), "registering toolhost") || !strings.Contains(err.Error(), http.StatusText(status)) {
			t.Errorf("%d %q: %v", status, body, err)
		}
	}
}
