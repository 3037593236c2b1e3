package mcpauth

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// The methods by which a client authenticates at a token endpoint.
const (
	methodNone  = "none"
	methodBasic = "client_secret_basic"
	methodPost  = "client_secret_post"
	methodKey   = "private_key_jwt"
)

// oauthClient is what toolhost is at one authorization server.
type oauthClient struct {
	ID     string `json:"id"`
	Method string `json:"method"`
	// Secret is the password of a client that toolhost registered.
	Secret string `json:"secret,omitempty"`
	// Configured says that secret or key are the operator's. They are read for each request and not
	// stored.
	Configured bool `json:"configured,omitempty"`
}

// resolveClient returns the client for an authorization server: the operator's, or a client id
// metadata document, or one that it registers.
func (l *Logins) resolveClient(ctx context.Context, s Server, a authority, who account, redirect string) (oauthClient, error) {
	switch o := s.OAuth; {
	case o.ClientID != "":
		return s.configuredClient(a)
	case o.ClientMetadata != "" && a.meta.ClientIDMetadataDocumentSupported:
		return oauthClient{ID: o.ClientMetadata, Method: methodNone}, nil
	case a.meta.RegistrationEndpoint != "":
		return l.register(ctx, a, who, redirect)
	}
	return oauthClient{}, fmt.Errorf("the authorization server %s does not register clients; register toolhost there and write mcp.oauth.client_id and mcp.oauth.issuer into plugin.yaml", shown(a.Issuer))
}

// configuredClient returns the operator's client, if it is one of this authorization server.
func (s Server) configuredClient(a authority) (oauthClient, error) {
	o := s.OAuth
	if secret := o.ClientSecret != "" || o.PrivateKey != ""; secret && o.Issuer == "" {
		return oauthClient{}, errors.New("plugin.yaml has a secret of a client without mcp.oauth.issuer, so it is not known who may have it")
	}
	c := oauthClient{ID: o.ClientID, Configured: true, Method: methodNone}
	switch supported := a.meta.TokenEndpointAuthMethodsSupported; {
	case o.PrivateKey != "":
		c.Method = methodKey
	case o.ClientSecret != "" && slices.Contains(supported, methodPost) && !slices.Contains(supported, methodBasic):
		c.Method = methodPost
	case o.ClientSecret != "":
		c.Method = methodBasic // the default of RFC 8414
	}
	return c, nil
}

// register registers a client for one login (RFC 7591).
func (l *Logins) register(ctx context.Context, a authority, who account, redirect string) (oauthClient, error) {
	grants := []string{GrantPerson, "refresh_token"}
	if a.meta.DeviceAuthorizationEndpoint != "" {
		grants = append(grants, grantDevice)
	}
	request := &oauthex.ClientRegistrationMetadata{
		ClientName: "toolhost", ApplicationType: "native", RedirectURIs: []string{redirect},
		GrantTypes: grants, ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: registeredMethod(a.meta.TokenEndpointAuthMethodsSupported),
	}
	web := *l.web(who.plugin)
	seen := &lastStatus{next: web.Transport}
	web.Transport = seen
	answer, err := oauthex.RegisterClient(ctx, a.meta.RegistrationEndpoint, request, &web)
	if err != nil {
		if refusal, ok := errors.AsType[*oauthex.ClientRegistrationError](err); ok {
			return oauthClient{}, fmt.Errorf("registering toolhost at %s: %w", shown(a.Issuer), &serverError{Code: Foreign(refusal.ErrorCode), Description: Foreign(refusal.ErrorDescription)})
		}
		if inner, ok := errors.AsType[*url.Error](err); ok {
			return oauthClient{}, fmt.Errorf("registering toolhost at %s: %w", shown(a.Issuer), webError(inner))
		}
		// the other errors of the library contain the answer, which can contain a secret
		return oauthClient{}, fmt.Errorf("registering toolhost at %s: it answered with the status %s and no registration", shown(a.Issuer), seen.text())
	}
	l.learn(who, secretClient, answer.ClientSecret)
	c := oauthClient{ID: answer.ClientID, Secret: answer.ClientSecret, Method: answer.TokenEndpointAuthMethod}
	if c.Method == "" {
		c.Method = request.TokenEndpointAuthMethod
	}
	return c, c.checkRegistered(answer, redirect)
}

// lastStatus is a RoundTripper that knows the status of the last answer. It empties an answer that
// is no JSON object: the library panics at null.
type lastStatus struct {
	next http.RoundTripper
	code int
}

// RoundTrip implements http.RoundTripper.
func (a *lastStatus) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := a.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	a.code = resp.StatusCode
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil || object == nil {
		body = nil
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// text returns the status in the words of HTTP, such as 502 Bad Gateway.
func (a *lastStatus) text() string {
	return strings.TrimSpace(strconv.Itoa(a.code) + " " + http.StatusText(a.code))
}

// registeredMethod returns the method for a new client. A client on a person's machine keeps a
// secret no better than its tokens, so it has none if the server permits that.
func registeredMethod(supported []string) string {
	for _, method := range []string{methodNone, methodBasic, methodPost} {
		if slices.Contains(supported, method) {
			return method
		}
	}
	return methodBasic // the default of RFC 8414
}

func (c oauthClient) checkRegistered(answer *oauthex.ClientRegistrationResponse, redirect string) error {
	graphic := func(text string) bool {
		return len(text) <= maxText && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r >= 0x7f })
	}
	switch {
	case !graphic(c.ID) || !graphic(c.Secret):
		return errors.New("the authorization server registered a client with characters that OAuth does not permit")
	case len(answer.RedirectURIs) > 0 && !slices.Contains(answer.RedirectURIs, redirect):
		return errors.New("the authorization server registered another redirect URI than toolhost's")
	case !slices.Contains([]string{methodNone, methodBasic, methodPost}, c.Method):
		return fmt.Errorf("the authorization server registered a client that authenticates by %q, which toolhost did not ask for", Foreign(c.Method))
	case c.Method != methodNone && c.Secret == "":
		return errors.New("the authorization server registered a client with a secret and sent none")
	}
	return nil
}

// credentials is how a client authenticates in one request.
type credentials struct {
	id, secret string
	style      oauth2.AuthStyle
	params     url.Values // further parameters; not nil
}

// credentials returns how the client of a login authenticates. It reads the operator's secrets.
func (l *Logins) credentials(s Server, who account, issuer string, c oauthClient) (credentials, error) {
	out := credentials{id: c.ID, secret: c.Secret, style: oauth2.AuthStyleInParams, params: url.Values{}}
	if c.Method == methodBasic {
		out.style = oauth2.AuthStyleInHeader
	}
	if !c.Configured || c.Method == methodNone {
		return out, nil
	}
	if c.ID != s.OAuth.ClientID || !sameIssuer(issuer, s.OAuth.Issuer) {
		return out, errors.New("the client in plugin.yaml is another one than that of the login")
	}
	name := s.OAuth.ClientSecret
	if c.Method == methodKey {
		name = s.OAuth.PrivateKey
	}
	if l.cfg.Secrets == nil || name == "" {
		return out, errors.New("the secret of the client is not configured")
	}
	values, err := l.cfg.Secrets(s.Plugin, who.principal, []string{name})
	if err != nil {
		return out, err
	}
	if c.Method != methodKey {
		out.secret = values[name]
		return out, nil
	}
	assertion, err := assertion(values[name], c.ID, issuer, l.cfg.Now())
	if err != nil {
		return out, fmt.Errorf("the secret %s: %w", name, err)
	}
	l.learn(who, secretAssertion, assertion)
	out.params.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	out.params.Set("client_assertion", assertion)
	return out, nil
}

// assertion returns a JWT by which a client authenticates (RFC 7523). Its audience is the issuer,
// so that it is worth nothing at another authorization server.
func assertion(key, client, issuer string, now time.Time) (string, error) {
	parsed, algorithm, err := parseKey(key)
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: parsed}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", errors.New("the key cannot sign")
	}
	claims, err := json.Marshal(map[string]any{
		"iss": client, "sub": client, "aud": issuer, "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	})
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		return "", errors.New("the key cannot sign")
	}
	return signed.CompactSerialize()
}

// parseKey reads a private key in PEM. Its errors do not contain the text.
func parseKey(text string) (crypto.PrivateKey, jose.SignatureAlgorithm, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, "", errors.New("it is not a private key in PEM")
	}
	var key any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, "", errors.New("it is not a private key that toolhost can read; write it as PKCS #8")
	}
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return k, jose.RS256, nil
	case *ecdsa.PrivateKey:
		if k.Curve == elliptic.P256() {
			return k, jose.ES256, nil
		}
	case ed25519.PrivateKey:
		return k, jose.EdDSA, nil
	}
	return nil, "", errors.New("the key is not RSA, Ed25519 or EC on the curve P-256")
}
