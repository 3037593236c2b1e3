// Package credentials puts together what a server identifies its callers with: its token store, the
// issuers of JWTs, and the rules of the configuration in force.
package credentials

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/oidc"
	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
)

// Credentials identifies the callers of one server. Authenticate is safe for concurrent use, also
// during a reload. One goroutine at a time may call Prepare, the functions that it returns, and
// Close.
type Credentials struct {
	tokens  *tokenstore.Store
	logger  *slog.Logger
	current atomic.Pointer[authn.Authenticator]

	// The issuers in force and their settings. A reload that does not change them keeps the verifier
	// with its keys and tokens.
	issuers *oidc.Verifier
	configs []oidc.Config
}

// New returns the credentials of a program with these tokens, which Close closes. It looks up the
// users that rules name. The caller must call Close.
func New(tokens *tokenstore.Store, auth *authconfig.Auth, logger *slog.Logger) (*Credentials, error) {
	c := &Credentials{tokens: tokens, logger: logger}
	apply, _, err := c.Prepare(auth)
	if err != nil {
		return nil, errors.Join(err, c.tokens.Close())
	}
	apply()
	return c, nil
}

// Close ends the fetching of keys. The caller must have stopped the server.
func (c *Credentials) Close() error { return errors.Join(c.issuers.Close(), c.tokens.Close()) }

// Authenticate identifies a caller; see authn.Authenticator.
//
// A stream may live longer than the settings by which its caller was identified. For tokens, JWTs
// and certificates, Verified.Current therefore identifies the caller again by the settings in
// force. Without that, the JWTs of an issuer that a reload removed, such as a compromised one,
// would be good for calls on open streams until they expire.
func (c *Credentials) Authenticate(ctx context.Context, e authn.Evidence) (authn.Verified, error) {
	v, err := c.identify(ctx, e)
	if err != nil || v.Lasting() {
		return v, err
	}
	began := v.Principal
	v.Current = func(ctx context.Context) error {
		now, err := c.identify(ctx, e)
		if err == nil && (now.Principal.Key() != began.Key() || !slices.Equal(now.Principal.Groups, began.Groups)) {
			err = fmt.Errorf("the credential stands for %s since a reload", now.Principal.Key())
		}
		return err
	}
	return v, nil
}

// identify identifies a caller by the settings in force. A reload ends what the issuers that it
// replaces are fetching. A caller whose credential is being verified at that moment must not be
// refused for it, so identify then asks the next settings.
func (c *Credentials) identify(ctx context.Context, e authn.Evidence) (authn.Verified, error) {
	for {
		asked := c.current.Load()
		v, err := asked.Authenticate(ctx, e)
		if err == nil || ctx.Err() != nil || c.current.Load() == asked {
			return v, err
		}
	}
}

// Prepare returns functions that put changed settings into force, or leave them. The caller calls
// one of the two. Open streams of unix sockets keep the principal that they have.
func (c *Credentials) Prepare(auth *authconfig.Auth) (apply, cancel func(), err error) {
	rules, err := auth.Rules()
	if err != nil {
		return nil, nil, err
	}
	next, configs := c.issuers, auth.OIDC()
	if next == nil || !reflect.DeepEqual(configs, c.configs) {
		if next, err = oidc.New(configs, c.logger); err != nil {
			return nil, nil, err
		}
	}
	apply = func() {
		c.current.Store(authn.New(authn.Config{Rules: rules, Tokens: c.tokens, TokenPrefix: c.tokens.Prefix(), Issuers: next}))
		if c.issuers != nil && c.issuers != next {
			_ = c.issuers.Close() // returns no error
		}
		c.issuers, c.configs = next, configs
	}
	cancel = func() {
		if next != c.issuers {
			_ = next.Close()
		}
	}
	return apply, cancel, nil
}
