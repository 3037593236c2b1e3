// Package authn finds the principal of a caller: it maps the evidence of a connection or an RPC,
// such as the user at the other end of a unix socket, to an identity.Principal.
// docs/adr/0030-identity.md describes the rules.
//
// The package decides who a caller is, and server/internal/access/authz what the caller may do.
package authn

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
)

// The kinds of credentials, as Evidence.Accepts and Principal.Credential name them.
const (
	Peer        = "peer"        // the user at the other end of a unix socket
	Certificate = "certificate" // of a client, by mutual TLS
	Token       = "token"       // of this server; see tokenstore
	JWT         = "jwt"         // of an issuer; see oidc
	None        = "none"        // an anonymous caller
)

// Evidence is what a server knows about the caller of an RPC. The zero value identifies no caller.
type Evidence struct {
	// UID is the user at the other end of a unix socket, if HasUID is set.
	UID    int
	HasUID bool
	// Certificate is the verified certificate of a client. nil: none.
	Certificate *x509.Certificate
	// Bearer is the token in the RPC's metadata. Empty: none.
	Bearer string
	// Accepts are the kinds of credentials that the listener accepts. nil: all.
	Accepts []string
	// Listener is the address of the listener.
	Listener string
	// Plain says that the listener is a TCP port without TLS.
	Plain bool
	// Address is the address of the peer without a port; empty for a unix socket.
	Address string
}

func (e Evidence) accepts(kind string) bool {
	return e.Accepts == nil || slices.Contains(e.Accepts, kind)
}

// Verified is a caller that was identified.
type Verified struct {
	Principal identity.Principal
	// Expires is when the credential expires. Zero: it does not.
	Expires time.Time
	// ID names the credential for logs, such as the id of a token. Empty: it has no name.
	ID string
	// Claims are the claims of a JWT, for rules. nil: the credential is no JWT.
	Claims map[string]any
	// Current returns why the credential is not valid any more, or nil. nil: the credential is valid
	// until Expires.
	Current func(context.Context) error
}

// Lasting reports whether the credential can neither expire nor be revoked.
func (v Verified) Lasting() bool { return v.Expires.IsZero() && v.Current == nil }

// StillValid returns why the credential is not valid any more, or nil. A stream that runs calls it
// before it takes a new call. The error is for logs.
func (v Verified) StillValid(ctx context.Context) error {
	if !v.Expires.IsZero() && !time.Now().Before(v.Expires) {
		return fmt.Errorf("the credential expired at %s", v.Expires.Format(time.RFC3339))
	}
	if v.Current == nil {
		return nil
	}
	return v.Current(ctx)
}

// Verifier verifies bearer credentials of one kind. Its methods are safe for concurrent use.
type Verifier interface {
	// Verify returns the caller that the credential identifies, before any rule. Its errors are for
	// logs, and contain no secret. Verify may wait for other servers until ctx ends.
	Verify(ctx context.Context, bearer string) (Verified, error)
}

// Anonymous is the name of a caller on a plain TCP listener.
const Anonymous = "anonymous"

// ErrUnidentified is the error for evidence that identifies no caller. Use errors.Is.
var ErrUnidentified = errors.New("nothing identifies the caller")

// ErrMisdirected is the error for a request that another server should have got. Use errors.Is.
var ErrMisdirected = errors.New("the request is for another server")

// UncheckedError is the error for a credential that the server could not check, because it could
// not reach what it needs for that. It says nothing about the credential, so it counts as no failed
// attempt. Use errors.AsType.
type UncheckedError struct {
	// Missing says what cannot be reached, for the caller. It contains nothing that the caller does
	// not know.
	Missing string
	// Err is the cause, for logs.
	Err error
}

// Error implements error. The text is for logs.
func (e *UncheckedError) Error() string {
	return "the credential cannot be checked, because " + e.Missing + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *UncheckedError) Unwrap() error { return e.Err }

// Config configures an Authenticator. The zero value accepts no tokens.
type Config struct {
	// Rules map credentials to principals. The first rule that matches decides.
	Rules []Rule
	// Tokens verifies the server's own tokens, which begin with TokenPrefix and an underscore. nil:
	// the server accepts none.
	Tokens      Verifier
	TokenPrefix string
	// Issuers verifies JWTs. nil: the server accepts none.
	Issuers Verifier
}

// Authenticator identifies callers. The zero value knows the users of unix sockets, the
// certificates of clients and the anonymous caller. It is immutable, and its methods are safe for
// concurrent use.
type Authenticator struct{ config Config }

// New returns an authenticator. It keeps the slices.
func New(c Config) *Authenticator { return &Authenticator{c} }

// Authenticate returns the caller that the evidence identifies. Its errors are for logs: the
// stranger at the other end gets none of their text.
//
// A bearer credential decides if there is one, then a certificate, then the user of a unix socket.
// A credential that cannot be used is an error, even if another one could be: a caller would
// otherwise act as someone else than it says.
func (a *Authenticator) Authenticate(ctx context.Context, e Evidence) (Verified, error) {
	switch {
	case e.Bearer != "":
		return a.bearer(ctx, e)
	case e.Certificate != nil && e.accepts(Certificate):
		return a.certificate(e.Certificate)
	case e.HasUID && e.accepts(Peer):
		p := identity.Principal{Tenant: identity.DefaultTenant, Name: UserName(e.UID), Credential: Peer}
		return a.apply(Verified{Principal: p}, func(r *Rule) bool { return r.UID != nil && *r.UID == e.UID })
	case e.Plain:
		return Verified{Principal: identity.Principal{Tenant: identity.DefaultTenant, Name: Anonymous, Credential: None}}, nil
	}
	return Verified{}, ErrUnidentified
}

// bearer verifies a token or a JWT.
func (a *Authenticator) bearer(ctx context.Context, e Evidence) (Verified, error) {
	kind, verifier := JWT, a.config.Issuers
	switch {
	case a.config.Tokens != nil && strings.HasPrefix(e.Bearer, a.config.TokenPrefix+"_"):
		kind, verifier = Token, a.config.Tokens
	case strings.HasPrefix(e.Bearer, "toolhost_"), strings.HasPrefix(e.Bearer, "agentd_"):
		return Verified{}, errors.New("the token is of another program")
	}
	switch {
	case !e.accepts(kind):
		return Verified{}, fmt.Errorf("the listener does not accept a credential of the kind %s", kind)
	case verifier == nil:
		return Verified{}, errors.New("the bearer credential is no token of this server, and the server has no issuers of JWTs")
	}
	v, err := verifier.Verify(ctx, e.Bearer)
	if err != nil || kind == Token {
		return v, err // the record of a token has the name, the tenant and the groups
	}
	return a.apply(v, func(r *Rule) bool { return r.matchesClaims(v.Claims) })
}

// apply changes the principal as the first rule says for which matches returns true.
func (a *Authenticator) apply(v Verified, matches func(*Rule) bool) (Verified, error) {
	if i := slices.IndexFunc(a.config.Rules, func(r Rule) bool { return matches(&r) }); i >= 0 {
		v.Principal = a.config.Rules[i].principal(v.Principal)
	}
	if err := v.Principal.Check(); err != nil {
		return Verified{}, fmt.Errorf("the credential gives no principal: %w", err)
	}
	return v, nil
}

// UserName returns the name of the principal of a user of this machine, such as uid:1000.
func UserName(uid int) string { return "uid:" + strconv.Itoa(uid) }
