package manifest

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// OAuth says how toolhost gets tokens for an MCP server. The zero value stands for principals that
// log in with a client that toolhost registers.
type OAuth struct {
	// Grant is how a token is granted. Empty means GrantPerson.
	Grant string `yaml:"grant" oneof:"authorization_code,client_credentials" unset:"authorization_code: each principal logs in"`
	// Issuer is the only authorization server that toolhost uses. Empty means the one that the MCP
	// server names. It is required with a secret of a client.
	Issuer string `yaml:"issuer" is:"issuer" unset:"the one that the MCP server names"`
	// ClientID is a client that is registered at Issuer. Empty means that toolhost registers one.
	ClientID string `yaml:"client_id" unset:"toolhost registers a client"`
	// ClientSecret and PrivateKey are the names of secrets: the password of the client, and a key in
	// PEM by which the client signs (private_key_jwt). At most one is set.
	ClientSecret string `yaml:"client_secret" unset:"none"`
	PrivateKey   string `yaml:"private_key" unset:"none"`
	// ClientMetadata is the URL of a client id metadata document.
	ClientMetadata string `yaml:"client_metadata" is:"URL" unset:"none"`
	// Scopes are the scopes that may be requested. Empty means those that the server asks for.
	Scopes []string `yaml:"scopes" is:"scope" unset:"those that the server asks for" hint:"write a list of scopes"`
}

// The values of OAuth.Grant.
const (
	GrantPerson = "authorization_code"
	GrantClient = "client_credentials"
)

// checkOAuth reports the keys that do not fit each other.
func (f *manifestFile) checkOAuth(d *yamldoc.Decoder) {
	o := f.MCP.OAuth
	if o == nil {
		return
	}
	refuse := func(wrong bool, key, why string) {
		at, given := d.At["mcp.oauth."+key]
		if !given {
			at = d.At["mcp.oauth"]
		}
		if wrong {
			d.Fail(at, "mcp.oauth."+key, "%s", why)
		}
	}
	secret := o.ClientSecret != "" || o.PrivateKey != ""
	refuse(o.ClientSecret != "" && o.PrivateKey != "", "private_key", "a client has mcp.oauth.client_secret or mcp.oauth.private_key, not both")
	refuse(secret && o.ClientID == "", "client_id", "it cannot be left out with a secret: it names the client to which the secret belongs")
	refuse(secret && o.Issuer == "", "issuer", "it cannot be left out with a secret: otherwise the MCP server would choose which authorization server gets the secret")
	refuse(o.Grant == GrantClient && !secret, "grant", "client credentials need mcp.oauth.client_id with mcp.oauth.client_secret or mcp.oauth.private_key")
	refuse(o.ClientMetadata != "" && !strings.HasPrefix(o.ClientMetadata, "https://"), "client_metadata", "the document has a URL that begins with https://")
	refuse(o.ClientMetadata != "" && o.ClientID != "", "client_metadata", "a client has mcp.oauth.client_id or mcp.oauth.client_metadata, not both")
	for name := range f.MCP.Headers {
		refuse(http.CanonicalHeaderKey(name) == "Authorization", "grant", "the header Authorization in mcp.headers would replace the token")
	}
}

// checkScope returns why a text is not a scope of OAuth.
func checkScope(text string) error {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' }) {
		return errors.New(`a scope is a word of ASCII characters without " and \`)
	}
	return nil
}

// checkIssuer returns why a text is not the URL of an authorization server.
func checkIssuer(text string) error {
	u, err := url.Parse(text)
	if err == nil && u.RawQuery != "" {
		return errors.New("the URL of an authorization server has no query")
	}
	return checkURL(text)
}
