package oidc

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Login is the login of a person at an issuer: the authorization code flow with PKCE, a state and a
// nonce (OpenID Connect Core, section 3.1; RFC 7636; RFC 9207). It keeps only the endpoints of the
// issuer, for a minute. All methods are safe for concurrent use.
type Login struct {
	// Issuer is the URL of the issuer. Required.
	Issuer string
	// CAFile is a PEM file with the CAs of the issuer's server. Empty: the CAs of the system.
	CAFile string
	// ClientID names this server at the issuer. Required.
	ClientID string
	// Secret returns the secret of this server at the issuer. nil: it has none.
	Secret func() (string, error)
	// Scopes are asked for beside openid. nil: none.
	Scopes []string
	// Transport sends the requests to the issuer. nil: a transport with CAFile.
	Transport http.RoundTripper

	known atomic.Pointer[endpoints]
}

// endpoints are those of the issuer's discovery document. A stranger can begin a login, and must
// not make this server ask the issuer each time.
type endpoints struct {
	oauth2.Endpoint
	ends time.Time
}

// discoveredFor is how long endpoints are used. They hardly ever change.
const discoveredFor = time.Minute

// secrets are what Finish compares the answer of the issuer with.
type secrets struct {
	State, Nonce, Verifier string
}

// Begin returns where the browser has to go, and a secret for Finish. redirect is the address to
// which the issuer sends the browser afterwards.
func (l *Login) Begin(ctx context.Context, redirect string) (to string, secret []byte, err error) {
	config, client, err := l.config(ctx, redirect)
	if err != nil {
		return "", nil, err
	}
	defer client.CloseIdleConnections()
	if err := checkURL(config.Endpoint.AuthURL); err != nil {
		return "", nil, fmt.Errorf("the place of the login: %w", err)
	}
	s := secrets{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	if secret, err = json.Marshal(s); err != nil {
		return "", nil, err
	}
	return config.AuthCodeURL(s.State, oidc.Nonce(s.Nonce), oauth2.S256ChallengeOption(s.Verifier)), secret, nil
}

// Finish returns the ID token for what the issuer sent to redirect. The token is not verified: only
// its nonce was compared. Its errors are for logs.
func (l *Login) Finish(ctx context.Context, redirect string, secret []byte, answer url.Values) (idToken string, err error) {
	var s secrets
	if err := json.Unmarshal(secret, &s); err != nil {
		return "", err
	}
	switch {
	case s.State == "" || answer.Get("state") != s.State:
		return "", errors.New("the answer has another state than the login")
	case answer.Has("iss") && answer.Get("iss") != l.Issuer:
		return "", fmt.Errorf("the answer is of the issuer %.200q", answer.Get("iss"))
	case answer.Has("error"):
		return "", fmt.Errorf("the issuer refused the login: %.200q", answer.Get("error"))
	case answer.Get("code") == "":
		return "", errors.New("the answer has no code")
	}
	config, client, err := l.config(ctx, redirect)
	if err != nil {
		return "", err
	}
	defer client.CloseIdleConnections()
	if err := checkURL(config.Endpoint.TokenURL); err != nil {
		return "", fmt.Errorf("the place of the tokens: %w", err)
	}
	if l.Secret != nil {
		if config.ClientSecret, err = l.Secret(); err != nil {
			return "", fmt.Errorf("reading the secret of this server at the issuer: %w", err)
		}
	}
	token, err := config.Exchange(oidc.ClientContext(ctx, client), answer.Get("code"), oauth2.VerifierOption(s.Verifier))
	if err != nil {
		return "", fmt.Errorf("exchanging the code: %w", short(err))
	}
	idToken, _ = token.Extra("id_token").(string)
	return idToken, checkNonce(idToken, s.Nonce)
}

// checkNonce returns an error if an ID token does not belong to the login with a nonce: it could be
// one of another login, which somebody put in its place.
func checkNonce(idToken, nonce string) error {
	if len(idToken) > maxToken || !Looks(idToken) {
		return errors.New("the issuer sent no usable ID token")
	}
	payload, err := decodePart(strings.Split(idToken, ".")[1])
	if err != nil {
		return fmt.Errorf("the payload of the ID token is ill-formed: %w", err)
	}
	var claims struct {
		Nonce string `json:"nonce"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return fmt.Errorf("the payload of the ID token is ill-formed: %w", err)
	}
	if claims.Nonce != nonce {
		return errors.New("the ID token has another nonce than the login")
	}
	return nil
}

// config returns the settings of the flow, with the endpoints of the issuer's discovery document,
// and the HTTP client for its requests.
func (l *Login) config(ctx context.Context, redirect string) (c *oauth2.Config, client *http.Client, err error) {
	client, err = (&source{caFile: l.CAFile, transport: l.Transport}).client()
	if err != nil {
		return nil, nil, err
	}
	at := l.known.Load()
	if at == nil || !time.Now().Before(at.ends) {
		provider, err := oidc.NewProvider(oidc.ClientContext(ctx, client), l.Issuer)
		if err != nil {
			client.CloseIdleConnections()
			return nil, nil, fmt.Errorf("discovery: %w", short(err))
		}
		at = &endpoints{provider.Endpoint(), time.Now().Add(discoveredFor)}
		l.known.Store(at)
	}
	return &oauth2.Config{
		ClientID: l.ClientID, Endpoint: at.Endpoint, RedirectURL: redirect, Scopes: append([]string{oidc.ScopeOpenID}, slices.Clone(l.Scopes)...),
	}, client, nil
}
