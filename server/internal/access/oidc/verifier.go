// Package oidc verifies JSON web tokens of OpenID Connect issuers, such as the tokens of a person
// after a single sign-on, of a Kubernetes service account, or of a job of a CI service.
//
// The package decides whether a token is genuine and valid now, and which name, tenant and groups
// its claims give. It gives no rights. It uses go-oidc for discovery and go-jose for signatures.
package oidc

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4/json"

	"github.com/toolhost/toolhost/server/internal/access/authn"
)

const (
	// maxToken is the maximum size in bytes of a token. gRPC servers bound all headers of an RPC at
	// about this size, and parsing a token costs more than its signature if it is much larger.
	maxToken = 8 << 10
	// maxCached bounds the verified tokens in memory. Only valid tokens are cached, so a stranger
	// cannot fill the cache.
	maxCached = 4096
)

// Verifier verifies the tokens of some issuers. It implements authn.Verifier. All methods are safe
// for concurrent use.
//
// A client sends the same token with each RPC until it expires. So the verifier remembers verified
// tokens by their SHA-256. An entry is valid until the token expires, and only as long as the
// issuer still publishes the key that signed it.
type Verifier struct {
	issuers map[string]*issuer
	cancel  context.CancelFunc
	tasks   sync.WaitGroup // fetching of keys

	mu     sync.Mutex
	cached map[[sha256.Size]byte]cachedToken
}

type cachedToken struct {
	verified authn.Verified
	expires  time.Time // without clock skew
	key      keyRef
}

// New returns a verifier. It does no I/O: it fetches the keys of an issuer when the first token of
// the issuer arrives. An issuer that cannot be reached does not keep the server from starting. The
// caller must call Close.
func New(configs []Config, logger *slog.Logger) (*Verifier, error) {
	ctx, cancel := context.WithCancel(context.Background())
	v := &Verifier{issuers: map[string]*issuer{}, cancel: cancel, cached: map[[sha256.Size]byte]cachedToken{}}
	for _, c := range configs {
		c = c.withDefaults()
		if err := c.Check(); err != nil {
			cancel()
			return nil, err
		}
		if v.issuers[c.Issuer] != nil {
			cancel()
			return nil, fmt.Errorf("the issuer %s is there twice", c.Issuer)
		}
		v.issuers[c.Issuer] = newIssuer(ctx, c, &v.tasks, logger)
	}
	return v, nil
}

// Close cancels the fetching of keys and waits for its end. Verify fails afterwards.
func (v *Verifier) Close() error {
	v.cancel()
	for _, i := range v.issuers {
		i.keys.close()
	}
	v.tasks.Wait()
	return nil
}

// Looks reports whether a bearer credential has the form of a JWT: three parts in base64url.
func Looks(bearer string) bool {
	return strings.Count(bearer, ".") == 2 && strings.Trim(bearer, ".ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// Verify implements authn.Verifier. It fetches the keys of the issuer if it has none, or if it does
// not know the key of the token.
func (v *Verifier) Verify(ctx context.Context, bearer string) (authn.Verified, error) {
	if len(bearer) > maxToken {
		return authn.Verified{}, fmt.Errorf("the JWT has %d bytes, and at most %d are accepted", len(bearer), maxToken)
	}
	if !Looks(bearer) {
		return authn.Verified{}, errors.New("the credential is no JWT in compact form")
	}
	hash := sha256.Sum256([]byte(bearer))
	if verified, ok := v.lookup(ctx, hash); ok {
		return verified, nil
	}
	name, err := claimedIssuer(bearer)
	if err != nil {
		return authn.Verified{}, err
	}
	i := v.issuers[name]
	if i == nil {
		return authn.Verified{}, fmt.Errorf("the JWT is of the issuer %q, which the configuration does not have", name)
	}
	t, err := i.verify(ctx, bearer)
	if err != nil {
		return authn.Verified{}, fmt.Errorf("the JWT of %s: %w", i.config.Issuer, err)
	}
	verified := t.verified
	verified.Current = func(ctx context.Context) error { _, err := v.Verify(ctx, bearer); return err }
	v.remember(hash, cachedToken{verified: verified, expires: t.expires, key: t.key})
	return verified, nil
}

// lookup returns a token that was verified before and is still valid.
func (v *Verifier) lookup(ctx context.Context, hash [sha256.Size]byte) (authn.Verified, bool) {
	v.mu.Lock()
	c, found := v.cached[hash]
	v.mu.Unlock()
	if !found || !time.Now().Before(c.expires) || !c.key.inForce(ctx) {
		return authn.Verified{}, false
	}
	return c.verified, true
}

// remember adds a token to the cache. A full cache loses the expired tokens, and if there are none,
// an arbitrary eighth: which tokens are verified again does not matter.
func (v *Verifier) remember(hash [sha256.Size]byte, c cachedToken) {
	now := time.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.cached) >= maxCached {
		for key, other := range v.cached {
			if !now.Before(other.expires) {
				delete(v.cached, key)
			}
		}
		for key := range v.cached {
			if len(v.cached) <= maxCached-maxCached/8 {
				break
			}
			delete(v.cached, key)
		}
	}
	v.cached[hash] = c
}

// claimedIssuer returns the issuer in a token that is not verified. It only selects the keys.
func claimedIssuer(bearer string) (string, error) {
	payload, err := decodePart(strings.Split(bearer, ".")[1])
	if err != nil {
		return "", fmt.Errorf("the payload of the JWT is ill-formed: %w", err)
	}
	var claims map[string]any
	if err := json.Unmarshal(payload, &claims); err != nil {
		return "", fmt.Errorf("the payload of the JWT is ill-formed: %w", err)
	}
	name, ok := claims["iss"].(string)
	if !ok || name == "" {
		return "", errors.New("the JWT names no issuer")
	}
	return name, nil
}
