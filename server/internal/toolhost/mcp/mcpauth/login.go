package mcpauth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/toolhost/toolhost/tool"
)

// grantDevice is the grant of a person that agrees on another device (RFC 8628).
const grantDevice = "urn:ietf:params:oauth:grant-type:device_code"

const (
	// deviceInterval is the pause between two questions whether a person has agreed, if the server
	// says nothing, and slowest bounds what it says.
	deviceInterval = 5
	slowest        = 60
)

// Request begins a login.
type Request struct {
	Server    Server
	Principal string // the key of the principal that logs in. Required.
	// RedirectURI is where the browser brings the answer: a port of this machine's loopback address.
	// Empty means that the person agrees on another device.
	RedirectURI string
	// Describes says that toolhost may read the definitions of the tools with the login.
	Describes bool
}

// attempt is a login in progress. It is used once.
type attempt struct {
	request   Request
	authority authority
	client    oauthClient
	scopes    []string
	state     string
	verifier  string
	expires   time.Time
	device    *oauth2.DeviceAuthResponse // nil: the person uses a browser
}

// Begin begins a login of a principal. It reads the metadata of the server, which may have changed
// since the last login, and gets a client: the operator's, or a client id metadata document if the
// authorization server supports it, or one that it registers.
//
// The error is a *tool.Error, whose kind toolhost.v1.LoginService describes.
func (l *Logins) Begin(ctx context.Context, r Request) (tool.LoginStart, error) {
	out, err := l.begin(ctx, r)
	return out, typed(err)
}

func (l *Logins) begin(ctx context.Context, r Request) (tool.LoginStart, error) {
	s := r.Server
	if s.OAuth.Grant == GrantClient {
		return tool.LoginStart{}, tool.Errorf(tool.KindUnsupported, "the MCP server %q gets its token with client credentials; no one has to log in", s.Plugin)
	}
	device := r.RedirectURI == ""
	if !device {
		if err := checkRedirect(r.RedirectURI); err != nil {
			return tool.LoginStart{}, err
		}
	}
	// A login that has no room must not register another client.
	if err := l.pending.room(r.Principal); err != nil {
		return tool.LoginStart{}, err
	}
	who := account{s.Plugin, r.Principal}
	e, err := l.load(who)
	if err != nil {
		return tool.LoginStart{}, err
	}
	e.mu.Lock()
	asked, missing, present := e.asked, e.missing, e.login
	e.mu.Unlock()
	if asked.Metadata == "" && len(asked.Scopes) == 0 {
		asked = l.probe(ctx, s)
	}
	a, err := l.discover(ctx, s, asked)
	if err != nil {
		return tool.LoginStart{}, err
	}
	var had []string
	if present != nil && sameIssuer(present.Issuer, a.Issuer) && len(missing) > 0 {
		had = present.Scopes
	}
	scopes, err := s.request(had, union(asked.Scopes, missing), a.Scopes, a.meta.ScopesSupported)
	if err != nil {
		return tool.LoginStart{}, err
	}
	if device && a.meta.DeviceAuthorizationEndpoint == "" {
		return tool.LoginStart{}, tool.Errorf(tool.KindUnsupported, "the authorization server %s does not support logging in on another device; leave out --device", shown(a.Issuer))
	}
	check := a.meta.checkCode
	if device {
		check = a.meta.checkDevice
	}
	if err := check(s.OAuth.Issuer != ""); err != nil {
		return tool.LoginStart{}, fmt.Errorf("%s: %w", shown(a.Issuer), err)
	}
	return l.start(ctx, r, a, scopes)
}

// start gets a client and asks the authorization server, or says what the browser asks.
func (l *Logins) start(ctx context.Context, r Request, a authority, scopes []string) (tool.LoginStart, error) {
	who, redirect := account{r.Server.Plugin, r.Principal}, r.RedirectURI
	if redirect == "" {
		redirect = "http://127.0.0.1/callback" // not used, but registrations need one
	}
	c, err := l.resolveClient(ctx, r.Server, a, who, redirect)
	if err != nil {
		return tool.LoginStart{}, err
	}
	t := &attempt{
		request: r, authority: a, client: c, scopes: scopes, state: rand.Text(), verifier: oauth2.GenerateVerifier(), expires: l.cfg.Now().Add(attemptTime),
	}
	l.learn(who, secretAttempt, t.verifier)
	out := tool.LoginStart{ID: rand.Text(), Plugin: who.plugin, URL: r.Server.URL, Issuer: a.Issuer, Scopes: scopes}
	resource := oauth2.SetAuthURLParam("resource", a.Resource)
	if r.RedirectURI != "" {
		out.State, out.BrowserURL = t.state, t.config().AuthCodeURL(t.state, oauth2.S256ChallengeOption(t.verifier), resource)
	} else if err := l.askDevice(ctx, t, &out, resource); err != nil {
		return tool.LoginStart{}, err
	}
	out.Expires = t.expires
	return out, l.pending.add(out.ID, t)
}

// askDevice gets the codes for a login on another device. It bounds what the server says, because
// the library does not: a negative interval would make it panic.
func (l *Logins) askDevice(ctx context.Context, t *attempt, out *tool.LoginStart, resource oauth2.AuthCodeOption) error {
	d, err := t.config().DeviceAuth(l.through(ctx, out.Plugin), resource)
	if err != nil {
		return tokenError(err)
	}
	l.learn(t.account(), secretAttempt, d.DeviceCode)
	for _, link := range []string{d.VerificationURI, d.VerificationURIComplete} {
		if err := t.authority.meta.checkEndpoint(link); link != "" && err != nil {
			return fmt.Errorf("the authorization server sends the person to a wrong place: %w", err)
		}
	}
	if d.DeviceCode == "" || d.UserCode == "" || d.VerificationURI == "" || len(d.DeviceCode) > maxToken {
		return errors.New("the authorization server sent an incomplete answer to the request for a device code")
	}
	if d.Interval == 0 {
		d.Interval = deviceInterval
	}
	d.Interval = min(max(d.Interval, 1), slowest)
	if !d.Expiry.IsZero() && d.Expiry.Before(t.expires) {
		t.expires = d.Expiry
	}
	d.Expiry = t.expires
	t.device = d
	out.UserCode, out.VerifyURL, out.VerifyURLComplete = Foreign(d.UserCode), d.VerificationURI, d.VerificationURIComplete
	return nil
}

func (t *attempt) account() account { return account{t.request.Server.Plugin, t.request.Principal} }

// config returns the login in the terms of the OAuth library, without a secret.
func (t *attempt) config() *oauth2.Config {
	m := t.authority.meta
	return &oauth2.Config{
		ClientID: t.client.ID, RedirectURL: t.request.RedirectURI, Scopes: t.scopes,
		Endpoint: oauth2.Endpoint{AuthURL: m.AuthorizationEndpoint, TokenURL: m.TokenEndpoint, DeviceAuthURL: m.DeviceAuthorizationEndpoint, AuthStyle: oauth2.AuthStyleInParams},
	}
}

// Finish ends a login: with the answer that the browser brought, or, for a login on another device,
// by waiting until the person has agreed or refused or ctx ends. Only the principal that began the
// login can finish it, and only once. The error is a *tool.Error.
func (l *Logins) Finish(ctx context.Context, plugin, principal, id string, answer tool.LoginAnswer) (tool.Login, error) {
	out, err := l.finish(ctx, id, account{plugin, principal}, answer)
	return out, typed(err)
}

func (l *Logins) finish(ctx context.Context, id string, who account, answer tool.LoginAnswer) (tool.Login, error) {
	t, err := l.pending.take(id, who)
	if err != nil {
		return tool.Login{}, err
	}
	l.learn(who, secretAttempt, answer.Code)
	how, err := l.credentials(t.request.Server, who, t.authority.Issuer, t.client)
	if err != nil {
		return tool.Login{}, err
	}
	config := t.config()
	config.ClientSecret, config.Endpoint.AuthStyle = how.secret, how.style
	options := []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("resource", t.authority.Resource)}
	for name := range how.params {
		options = append(options, oauth2.SetAuthURLParam(name, how.params.Get(name)))
	}
	var token *oauth2.Token
	if t.device != nil {
		token, err = config.DeviceAccessToken(l.through(ctx, who.plugin), t.device, options...)
	} else {
		if err := t.check(answer); err != nil {
			return tool.Login{}, err
		}
		token, err = config.Exchange(l.through(ctx, who.plugin), answer.Code, append(options, oauth2.VerifierOption(t.verifier))...)
	}
	if err != nil {
		return tool.Login{}, tokenError(err)
	}
	if token, err = l.accept(who, token); err != nil {
		return tool.Login{}, err
	}
	return l.establish(t, token)
}

// check checks the answer that a browser brought. The state shows that it belongs to this login,
// and the issuer (RFC 9207) that the code is of the authorization server to which it is now sent.
func (t *attempt) check(answer tool.LoginAnswer) error {
	switch {
	case subtle.ConstantTimeCompare([]byte(answer.State), []byte(t.state)) != 1:
		return tool.Errorf(tool.KindDenied, "the answer does not belong to this login (another state); begin again")
	case answer.Issuer != "" && answer.Issuer != t.authority.Issuer:
		return tool.Errorf(tool.KindDenied, "the answer is from another authorization server (%s); begin again", shown(answer.Issuer))
	case answer.Issuer == "" && t.authority.meta.AuthorizationResponseIssParameterSupported:
		return tool.Errorf(tool.KindDenied, "the answer does not name the authorization server (iss), as its metadata promises; begin again")
	case answer.Error != "":
		return &serverError{Code: Foreign(answer.Error), Description: Foreign(answer.ErrorDescription)}
	case answer.Code == "" || len(answer.Code) > maxToken:
		return tool.Errorf(tool.KindDenied, "the answer has no code; begin again")
	}
	return nil
}

// establish puts a new login in place of the former one.
func (l *Logins) establish(t *attempt, token *oauth2.Token) (tool.Login, error) {
	who, a := t.account(), t.authority
	g := &login{
		Version: loginVersion, Plugin: who.plugin, Principal: who.principal, URL: t.request.Server.URL, Resource: a.Resource, Issuer: a.Issuer,
		Client: t.client, TokenEndpoint: a.meta.TokenEndpoint, RevocationEndpoint: a.meta.RevocationEndpoint,
		Created: l.cfg.Now().UTC(), Describes: t.request.Describes,
	}
	g.take(token, t.scopes, l.cfg.Now())
	e := l.entry(who)
	e.mu.Lock()
	err := l.store.save(g)
	if err == nil {
		e.login, e.loaded, e.missing, e.asked, e.failed = g, true, nil, challenge{}, nil
	}
	e.mu.Unlock()
	if err != nil {
		return tool.Login{}, fmt.Errorf("storing the login: %w", err)
	}
	l.cfg.Changed(who.plugin, who.principal)
	return l.status(t.request.Server, g, nil), nil
}

// checkRedirect returns why a browser must not bring the answer to a URI. An address of loopback
// without a name is on the machine of the browser, whatever a resolver says.
func checkRedirect(text string) error {
	u, err := url.Parse(text)
	if err == nil && len(text) < maxText && u.Scheme == "http" && u.User == nil && u.RawQuery == "" && !strings.ContainsAny(text, "#?\\ ") {
		ip, notIP := netip.ParseAddr(u.Hostname())
		if port := u.Port(); notIP == nil && ip.IsLoopback() && !ip.Is4In6() && port != "" && port != "0" {
			return nil
		}
	}
	return tool.Errorf(tool.KindInvalidArgument, "the redirect URI %q is not a port on 127.0.0.1 or [::1], such as http://127.0.0.1:8912/callback", Foreign(text))
}

// probe asks a server what it requires, with a request that has no effect.
func (l *Logins) probe(ctx context.Context, s Server) challenge {
	body := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, body)
	if err != nil {
		return challenge{}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := l.web(s.Plugin).Do(req)
	if err != nil {
		return challenge{} // the metadata says why the server cannot be reached
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return challenge{}
	}
	return parseChallenge(resp.Header)
}
