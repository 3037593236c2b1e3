package mcpauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// challenge is what a server said when it refused a request. The zero value says nothing.
type challenge struct {
	Metadata string   // the URL of the resource metadata; empty: not named
	Scopes   []string // what the request needs
	Error    string   // such as insufficient_scope
}

// parseChallenge returns the bearer challenge of an answer. A challenge that cannot be read is
// ignored: the metadata of the resource says the same.
func parseChallenge(header http.Header) challenge {
	var c challenge
	values := header.Values("WWW-Authenticate")
	size := 0
	for _, value := range values {
		size += len(value)
	}
	if size > 4*maxText {
		return c
	}
	parsed, err := oauthex.ParseWWWAuthenticate(values)
	if err != nil {
		return c
	}
	for _, p := range parsed {
		if p.Scheme != "bearer" {
			continue
		}
		c.Metadata, c.Error = p.Params["resource_metadata"], Foreign(p.Params["error"])
		c.Scopes, _ = parseScopes(p.Params["scope"])
		return c
	}
	return c
}

// authority is what the metadata says about a server and its authorization server.
type authority struct {
	Resource string   // the identifier of the server, for the parameter resource
	Scopes   []string // of the resource's metadata
	Issuer   string
	meta     metadata
}

// metadata is the metadata of an authorization server, as far as toolhost uses it.
type metadata struct {
	oauthex.AuthServerMeta
	DeviceAuthorizationEndpoint string `json:"device_authorization_endpoint"` // RFC 8628, section 4
}

// discover reads the metadata of a server and of its authorization server (RFC 9728, RFC 8414 and
// OpenID Connect Discovery). It uses nothing of a document whose identifier is not the one that
// led to it, because otherwise a server could pass off the authorization server of another one as
// its own.
func (l *Logins) discover(ctx context.Context, s Server, c challenge) (authority, error) {
	web := l.web(s.Plugin)
	resource, err := resourceMetadata(ctx, web, s, c)
	if err != nil {
		return authority{}, fmt.Errorf("reading how to log in to %s: %w", s.Plugin, err)
	}
	a := authority{Resource: resource.Resource}
	if a.Scopes, err = checkScopes(resource.ScopesSupported); err != nil {
		return authority{}, err
	}
	if a.Issuer, err = s.issuer(resource.AuthorizationServers); err != nil {
		return authority{}, err
	}
	if a.meta, err = serverMetadata(ctx, web, a.Issuer); err != nil {
		return authority{}, fmt.Errorf("reading the metadata of the authorization server %s: %w", shown(a.Issuer), err)
	}
	a.Issuer = a.meta.Issuer // as the authorization server itself writes it
	return a, nil
}

// sameIssuer reports whether two identifiers are of one authorization server. RFC 8414, section
// 3.3, demands that they are identical. But servers and operators write the last slash of an URL or
// leave it out, and libraries add it (python-sdk#1919). The origin and the rest of the path stay
// compared, and so does the parameter iss of an answer (RFC 9207), with what the authorization
// server itself writes.
func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// issuer returns the authorization server that toolhost uses of those that the metadata names.
func (s Server) issuer(named []string) (string, error) {
	switch {
	case len(named) == 0:
		return "", errors.New("the metadata of the server names no authorization server")
	case s.OAuth.Issuer == "":
		return named[0], checkEndpoint(named[0])
	case !slices.ContainsFunc(named, func(issuer string) bool { return sameIssuer(issuer, s.OAuth.Issuer) }):
		return "", fmt.Errorf("the server names the authorization server %s, and plugin.yaml permits only %s as mcp.oauth.issuer", shown(named[0]), s.OAuth.Issuer)
	}
	return s.OAuth.Issuer, checkEndpoint(s.OAuth.Issuer)
}

// resourceMetadata reads the metadata of a server: where its challenge says, or at the two
// well-known places. Only a document in the root of the origin may describe the whole origin,
// because only the owner of the origin can put it there.
func resourceMetadata(ctx context.Context, web *http.Client, s Server, c challenge) (oauthex.ProtectedResourceMetadata, error) {
	var none oauthex.ProtectedResourceMetadata
	u, err := url.Parse(s.URL)
	if err != nil {
		return none, errors.New("the URL of the server is not a URL")
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	root := &url.URL{Scheme: u.Scheme, Host: u.Host}
	places := []struct{ url, resource string }{
		{root.String() + wellKnown + strings.TrimSuffix(u.EscapedPath(), "/") + query(u), s.URL},
		{root.String() + wellKnown, root.String()},
	}
	if c.Metadata != "" {
		named, err := url.Parse(c.Metadata)
		if err != nil || origin(named) != origin(u) {
			return none, fmt.Errorf("the server names metadata of another origin (%s)", shown(c.Metadata))
		}
		places = append([]struct{ url, resource string }{{c.Metadata, s.URL}}, places...)
	}
	for _, place := range places {
		var found oauthex.ProtectedResourceMetadata
		err := getJSON(ctx, web, place.url, &found)
		atRoot := strings.TrimSuffix(place.url, "/") == root.String()+wellKnown && strings.TrimSuffix(found.Resource, "/") == root.String()
		switch {
		case errors.Is(err, errAbsent):
			continue
		case err != nil:
			return none, err
		case found.Resource != place.resource && !atRoot:
			return none, fmt.Errorf("the metadata is that of %s, and the server is %s; its URL in plugin.yaml must be the same", shown(found.Resource), shown(s.URL))
		}
		return found, nil
	}
	return none, errors.New("the server has no protected-resource metadata (RFC 9728), so toolhost cannot find its authorization server")
}

func query(u *url.URL) string {
	if u.RawQuery == "" {
		return ""
	}
	return "?" + u.RawQuery
}

// serverMetadata reads the metadata of an authorization server, in the order that MCP prescribes.
func serverMetadata(ctx context.Context, web *http.Client, issuer string) (metadata, error) {
	var none metadata
	u, err := url.Parse(issuer)
	if err != nil || u.RawQuery != "" {
		return none, errors.New("the issuer is not a URL without a query")
	}
	root, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	places := []string{
		root + "/.well-known/oauth-authorization-server" + path,
		root + "/.well-known/openid-configuration" + path,
	}
	if path != "" {
		places = append(places, root+path+"/.well-known/openid-configuration")
	}
	for _, place := range places {
		var found metadata
		switch err := getJSON(ctx, web, place, &found); {
		case errors.Is(err, errAbsent):
			continue
		case err != nil:
			return none, err
		}
		return found, found.check(issuer)
	}
	return none, errors.New("it has no metadata (RFC 8414, OpenID Connect Discovery)")
}

// check returns why toolhost does not use an authorization server.
func (m *metadata) check(issuer string) error {
	if !sameIssuer(m.Issuer, issuer) {
		return fmt.Errorf("the metadata is that of the issuer %s", shown(m.Issuer))
	}
	endpoints := map[string]string{
		"token_endpoint": m.TokenEndpoint, "authorization_endpoint": m.AuthorizationEndpoint, "registration_endpoint": m.RegistrationEndpoint,
		"revocation_endpoint": m.RevocationEndpoint, "device_authorization_endpoint": m.DeviceAuthorizationEndpoint,
	}
	for name, endpoint := range endpoints {
		if err := m.checkEndpoint(endpoint); endpoint != "" && err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if m.TokenEndpoint == "" {
		return errors.New("the metadata has no token_endpoint")
	}
	return nil
}

// checkEndpoint returns why an endpoint cannot belong to the authorization server. A server on
// another machine cannot have an endpoint on loopback: a browser would send requests to programs of
// the person's machine.
func (m *metadata) checkEndpoint(endpoint string) error {
	if err := checkEndpoint(endpoint); err != nil {
		return err
	}
	at, _ := url.Parse(endpoint)
	if issuer, err := url.Parse(m.Issuer); err == nil && loopback(at.Hostname()) && !loopback(issuer.Hostname()) {
		return errors.New("it is on loopback, and the authorization server is not")
	}
	return nil
}

// checkCode returns why a person cannot log in with a browser. A server that does not offer PKCE
// with S256 would accept a code that someone else got. operators says that plugin.yaml names the
// issuer.
//
// A hostile server could name the authorization endpoint of an honest one, and its own token
// endpoint: the person would log in at the honest server, and the code and its verifier would go to
// the hostile one. So the endpoint must be at the issuer, unless the operator chose the issuer, or
// each answer says which server it is from (RFC 9207).
func (m *metadata) checkCode(operators bool) error {
	switch {
	case m.AuthorizationEndpoint == "":
		return errors.New("the authorization server has no authorization_endpoint")
	case !slices.Contains(m.CodeChallengeMethodsSupported, "S256"):
		return errors.New("the authorization server does not offer PKCE with S256 (code_challenge_methods_supported), which OAuth 2.1 requires")
	case !operators && !m.AuthorizationResponseIssParameterSupported && !sameOrigin(m.AuthorizationEndpoint, m.Issuer):
		return m.elsewhere("authorization_endpoint", m.AuthorizationEndpoint)
	}
	return nil
}

// checkDevice returns why a person cannot log in on another device. The answer of the endpoint
// names no server, so it must come from the issuer or from where the code goes, or the operator
// chose the issuer.
func (m *metadata) checkDevice(operators bool) error {
	at := m.DeviceAuthorizationEndpoint
	if operators || sameOrigin(at, m.Issuer) || sameOrigin(at, m.TokenEndpoint) {
		return nil
	}
	return m.elsewhere("device_authorization_endpoint", at)
}

func (m *metadata) elsewhere(name, endpoint string) error {
	return fmt.Errorf("its %s is at another server (%s), so that the person would log in there and the code would go to this one; "+
		"if both belong together, write mcp.oauth.issuer: %s into plugin.yaml", name, shown(endpoint), shown(m.Issuer))
}

func sameOrigin(a, b string) bool {
	x, err := url.Parse(a)
	y, err2 := url.Parse(b)
	return err == nil && err2 == nil && origin(x) == origin(y)
}
