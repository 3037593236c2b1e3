package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
)

func TestOAuth(t *testing.T) {
	m, err := manifest.Parse("f", []byte("name: docs\nmcp: {url: https://docs.example/mcp, oauth: {}}\n"))
	if err != nil || m.MCP.OAuth == nil || !cmp.Equal(*m.MCP.OAuth, manifest.OAuth{}) {
		t.Errorf("without keys: %+v, %v", m, err)
	}
	m, err = manifest.Parse("f", []byte("name: docs\nmcp: {url: https://docs.example/mcp, oauth: {grant: client_credentials, issuer: https://id.example/a, client_id: c, private_key: KEY, scopes: [a, 'b:c']}}\n"))
	want := &manifest.OAuth{Grant: manifest.GrantClient, Issuer: "https://id.example/a", ClientID: "c", PrivateKey: "KEY", Scopes: []string{"a", "b:c"}}
	if err != nil || !cmp.Equal(m.MCP.OAuth, want) || len(m.MCP.SecretNames()) != 0 {
		t.Errorf("with keys: %+v, %v", m, err)
	}
	if m, err := manifest.Parse("f", []byte("name: docs\nmcp: {url: https://docs.example/mcp}\n")); err != nil || m.MCP.OAuth != nil {
		t.Errorf("without oauth: %+v, %v", m, err)
	}
	for text, reason := range map[string]string{
		"url: https://x.example, oauth: {client_id: c, client_secret: S}":                                            "mcp.oauth.issuer: it cannot be left out with a secret",
		"url: https://x.example, oauth: {issuer: https://i.example, client_secret: S}":                               "mcp.oauth.client_id: it cannot be left out",
		"url: https://x.example, oauth: {issuer: https://i.example, client_id: c, client_secret: S, private_key: K}": "not both",
		"url: https://x.example, oauth: {grant: client_credentials, client_id: c, issuer: https://i.example}":        "client credentials need",
		"url: https://x.example, oauth: {grant: password}":                                                           "mcp.oauth.grant",
		"url: https://x.example, oauth: {issuer: 'javascript:alert(1)'}":                                             "mcp.oauth.issuer",
		"url: https://x.example, oauth: {issuer: 'https://i.example/?a=b'}":                                          "has no query",
		"url: https://x.example, oauth: {client_metadata: http://x.example/c}":                                       "begins with https://",
		"url: https://x.example, oauth: {client_metadata: https://x.example/c, client_id: c}":                        "not both",
		"url: https://x.example, oauth: {scopes: ['a b']}":                                                           "a scope is a word",
		"url: https://x.example, headers: {authorization: x}, oauth: {}":                                             "would replace the token",
		"command: [x], oauth: {}": "a server with a command gets no requests over HTTP",
	} {
		if _, err := manifest.Parse("f", []byte("name: docs\nmcp: {"+text+"}\n")); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v; want an error with %q", text, err, reason)
		}
	}
}
