package mcpauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// entry is the login of one account in memory, with what its requests have in common.
//
// A rotated refresh token exists once: the answer that contains it. So one goroutine at a time
// renews a login, it does not end with the request that needs the token, and it stores the answer
// before any request uses it. Requests wait for the goroutine, each until its own context ends.
type entry struct {
	mu      sync.Mutex
	loaded  bool
	login   *login // nil: there is none. Do not change a login, replace it.
	asked   challenge
	missing []string  // scopes that a request lacked since the login
	renewal *renewal  // nil: nothing renews the login
	tried   time.Time // of the last renewal that failed
	failed  error     // of that renewal
}

const (
	// expirySkew is how long before its expiry a token is renewed, so that it does not expire on the
	// way.
	expirySkew = 30 * time.Second
	// retryPause is how long a failed renewal is remembered, so that the requests of a busy plugin do
	// not flood an authorization server that is down or refuses a secret.
	retryPause = 5 * time.Second
	// maxEntries bounds the accounts in memory. Those without a login make room.
	maxEntries = 10_000
)

// entry returns the entry of an account. It does not read the file of the login.
func (l *Logins) entry(who account) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[who]
	if e == nil {
		if len(l.entries) >= maxEntries {
			l.evict()
		}
		e = &entry{}
		l.entries[who] = e
	}
	return e
}

// evict removes the entries without a login. The caller holds l.mu, and may not wait for an entry.
func (l *Logins) evict() {
	for who, e := range l.entries {
		if e.mu.TryLock() {
			if e.login == nil && e.renewal == nil {
				delete(l.entries, who)
			}
			e.mu.Unlock()
		}
	}
}

// load reads the file of a login once.
func (l *Logins) load(who account) (*entry, error) {
	e := l.entry(who)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.loaded {
		return e, nil
	}
	found, err := l.store.load(who)
	if err != nil {
		return nil, err
	}
	if found != nil {
		l.learnLogin(who, found)
	}
	e.login, e.loaded = found, true
	return e, nil
}

// usable returns why a login is not one for a server as the operator describes it now. The operator
// may have changed the URL or the issuer since, and a token must not follow.
func (g *login) usable(s Server) string {
	switch {
	case g == nil:
		return noLogin
	case g.URL != s.URL:
		return "the login is for another URL of the server"
	case s.OAuth.Issuer != "" && !sameIssuer(g.Issuer, s.OAuth.Issuer):
		return "the login is at another authorization server"
	case s.OAuth.ClientID != "" && g.Client.ID != s.OAuth.ClientID:
		return "the login is of another client"
	}
	return ""
}

// token returns the access token of an account for a server, or "" if it has no login there. not is
// an access token that the server has refused; empty: none.
func (l *Logins) token(ctx context.Context, s Server, who account, not string) (string, error) {
	e, err := l.load(who)
	if err != nil {
		return "", err
	}
	for renewals := range 3 { // a renewal that another request began may bring the refused token
		e.mu.Lock()
		g, now := e.login, l.cfg.Now()
		reason := g.usable(s)
		// some tokens live for less than expirySkew
		fresh := reason == "" && g.AccessToken != not && (renewals > 0 || g.Expires.IsZero() || now.Before(g.Expires.Add(-expirySkew)))
		switch {
		case fresh:
			e.mu.Unlock()
			return g.AccessToken, nil
		case s.OAuth.Grant != GrantClient && g == nil && not == "":
			e.mu.Unlock()
			return "", nil // the server may not require a login, and says what it requires
		case s.OAuth.Grant != GrantClient && (reason != "" || g.RefreshToken == ""):
			e.mu.Unlock()
			return "", &LoginError{Plugin: who.plugin, Principal: who.principal, Reason: cmp.Or(reason, "the login has expired")}
		case e.failed != nil && now.Sub(e.tried) < retryPause:
			failed := e.failed
			e.mu.Unlock()
			return "", failed
		}
		r := l.renew(e, s, who)
		e.mu.Unlock()
		if r == nil {
			return "", errors.New("toolhost is stopping")
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-r.done:
		}
		if r.err != nil {
			return "", r.err
		}
	}
	return "", &LoginError{Plugin: who.plugin, Principal: who.principal, Reason: "the server refuses each new token"}
}

// refresh exchanges the refresh token of a login (RFC 6749, section 6). A *LoginError means that
// the login is over.
func (l *Logins) refresh(ctx context.Context, s Server, who account, g *login) (*login, error) {
	how, err := l.credentials(s, who, g.Issuer, g.Client)
	if err != nil {
		return nil, err
	}
	how.params.Set("grant_type", "refresh_token")
	how.params.Set("refresh_token", g.RefreshToken)
	how.params.Set("resource", g.Resource)
	token, err := l.tokenRequest(ctx, who, g.TokenEndpoint, how, nil)
	if refused(err, "invalid_grant", "invalid_client", "unauthorized_client") {
		return nil, &LoginError{Plugin: who.plugin, Principal: who.principal, Reason: "the authorization server has ended the login"}
	}
	if err != nil {
		return nil, fmt.Errorf("renewing the login of %s at %s: %w", who.principal, who.plugin, err)
	}
	next := *g
	next.take(token, g.Scopes, l.cfg.Now())
	return &next, nil
}

// grantClient requests a token for the client itself. The caller must not hold e.mu.
func (l *Logins) grantClient(ctx context.Context, s Server, who account, e *entry) (*login, error) {
	e.mu.Lock()
	asked, missing := e.asked, e.missing
	e.mu.Unlock()
	a, err := l.discover(ctx, s, asked)
	if err != nil {
		return nil, err
	}
	c, err := s.configuredClient(a)
	if err != nil {
		return nil, err
	}
	how, err := l.credentials(s, who, a.Issuer, c)
	if err != nil {
		return nil, err
	}
	scopes, err := s.request(nil, union(asked.Scopes, missing), a.Scopes, nil)
	if err != nil {
		return nil, err
	}
	how.params.Set("resource", a.Resource)
	token, err := l.tokenRequest(ctx, who, a.meta.TokenEndpoint, how, scopes)
	if err != nil {
		return nil, fmt.Errorf("getting a token for %s: %w", who.plugin, err)
	}
	g := &login{
		Version: loginVersion, Plugin: who.plugin, Principal: who.principal, URL: s.URL, Resource: a.Resource, Issuer: a.Issuer, Client: c,
		TokenEndpoint: a.meta.TokenEndpoint, RevocationEndpoint: a.meta.RevocationEndpoint, Created: l.cfg.Now(),
	}
	g.take(token, scopes, l.cfg.Now())
	g.RefreshToken = "" // the client can always get another token
	return g, nil
}

// tokenRequest makes a request to a token endpoint that has no code: x/oauth2's client credentials
// with another grant_type, because its refresh cannot send the parameter resource.
func (l *Logins) tokenRequest(ctx context.Context, who account, endpoint string, how credentials, scopes []string) (*oauth2.Token, error) {
	config := clientcredentials.Config{
		ClientID: how.id, ClientSecret: how.secret, TokenURL: endpoint, Scopes: scopes, AuthStyle: how.style, EndpointParams: url.Values(how.params),
	}
	token, err := config.Token(l.through(ctx, who.plugin))
	if err != nil {
		return nil, tokenError(err)
	}
	return l.accept(who, token)
}

// accept checks a token of an authorization server, and teaches it to the redactor.
func (l *Logins) accept(who account, token *oauth2.Token) (*oauth2.Token, error) {
	l.learn(who, secretAccess, token.AccessToken)
	l.learn(who, secretRefresh, token.RefreshToken)
	plain := func(text string) bool {
		return len(text) <= maxToken && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f })
	}
	switch {
	case token.AccessToken == "" || !plain(token.AccessToken) || !plain(token.RefreshToken):
		return nil, errors.New("the authorization server sent a token that cannot be used: it is empty, too long or has characters that OAuth does not permit")
	case !strings.EqualFold(token.Type(), "Bearer"):
		return nil, fmt.Errorf("the authorization server sent a token of the type %q, and toolhost uses bearer tokens", Foreign(token.Type()))
	}
	return token, nil
}

// take replaces the tokens of a login. scopes are those that were requested: a server need not
// repeat them.
func (g *login) take(token *oauth2.Token, scopes []string, now time.Time) {
	g.AccessToken, g.Expires, g.Scopes = token.AccessToken, time.Time{}, scopes
	if !token.Expiry.IsZero() {
		g.Expires = now.Add(time.Until(token.Expiry)).UTC()
	}
	if token.RefreshToken != "" {
		g.RefreshToken = token.RefreshToken
	}
	if text, ok := token.Extra("scope").(string); ok {
		if granted, err := parseScopes(text); err == nil && len(granted) > 0 {
			g.Scopes = slices.Clone(granted)
		}
	}
}
