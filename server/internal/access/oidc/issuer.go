package oidc

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"

	"github.com/toolhost/toolhost/server/internal/access/authn"
)

// Defaults of an issuer.
const (
	DefaultClockSkew = 30 * time.Second
	// MaxClockSkew bounds how long an expired token stays valid.
	MaxClockSkew       = 5 * time.Minute
	DefaultMaxLifetime = 24 * time.Hour
)

// algorithms are the accepted signatures. All have a public key. With HS256 and its like, the key
// that verifies a token can also create one, and an attacker can present a public key as the
// secret.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Config configures an issuer. Issuer and Audience are required.
type Config struct {
	// Issuer is the URL of the issuer, exactly as in its tokens. It begins with https://.
	Issuer string
	// Audience are the audiences that stand for this server. A token needs one of them.
	Audience []string
	// NameClaim is the claim that names the principal. Empty: the name is ISSUER#SUB.
	NameClaim string
	// Tenant is the tenant of all principals of the issuer; empty: the default tenant. TenantClaim is
	// the claim with the tenant instead; empty: Tenant.
	Tenant      string
	TenantClaim string
	// GroupsClaim is the claim with the groups. Empty: the principals have no groups.
	GroupsClaim string
	// ClockSkew is how much the clocks of the issuer and this server can differ. 0: DefaultClockSkew.
	ClockSkew time.Duration
	// MaxLifetime is the longest time between the issue and the expiry of a token. 0:
	// DefaultMaxLifetime.
	MaxLifetime time.Duration
	// CAFile is a PEM file with the CAs of the issuer's server. It is read with each fetch of keys.
	// Empty: the CAs of the system.
	CAFile string
	// Transport sends the requests to the issuer. nil: a transport with CAFile.
	Transport http.RoundTripper
}

func (c Config) withDefaults() Config {
	c.ClockSkew = cmp.Or(c.ClockSkew, DefaultClockSkew)
	c.MaxLifetime = cmp.Or(c.MaxLifetime, DefaultMaxLifetime)
	return c
}

// Check returns why a configuration cannot be used, or nil.
func (c Config) Check() error {
	u, err := url.Parse(c.Issuer)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return fmt.Errorf("the issuer %q is not a URL such as https://issuer.example.org", c.Issuer)
	case len(c.Audience) == 0 || slices.Contains(c.Audience, ""):
		return fmt.Errorf("the issuer %s needs an audience: the name of this server in its tokens", c.Issuer)
	case c.Tenant != "" && c.TenantClaim != "":
		return fmt.Errorf("the issuer %s has both tenant and tenant_claim", c.Issuer)
	case c.ClockSkew < 0 || c.ClockSkew > MaxClockSkew:
		return fmt.Errorf("the clock skew of the issuer %s must be from 0s to %v", c.Issuer, MaxClockSkew)
	case c.MaxLifetime < 0:
		return fmt.Errorf("the maximum lifetime of the issuer %s is negative", c.Issuer)
	}
	return nil
}

// issuer verifies the tokens of one issuer.
type issuer struct {
	config   Config
	keys     *keySet
	verifier *oidc.IDTokenVerifier
}

func newIssuer(ctx context.Context, c Config, tasks *sync.WaitGroup, logger *slog.Logger) *issuer {
	source := &source{issuer: c.Issuer, caFile: c.CAFile, transport: c.Transport}
	keys := newKeySet(ctx, source.fetch, tasks, logger.With("issuer", c.Issuer))
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		names[i] = string(a)
	}
	return &issuer{config: c, keys: keys, verifier: oidc.NewVerifier(c.Issuer, keys, &oidc.Config{
		SupportedSigningAlgs: names,
		SkipClientIDCheck:    true, // checkAudience accepts one of several
		SkipExpiryCheck:      true, // checkTimes uses the configured clock skew
	})}
}

// token is a verified token.
type token struct {
	verified authn.Verified
	expires  time.Time // without clock skew
	key      keyRef
}

// verify verifies a token of this issuer. go-oidc checks the issuer and the algorithm, and the key
// set checks the header and the signature.
func (i *issuer) verify(ctx context.Context, bearer string) (token, error) {
	var ref keyRef
	id, err := i.verifier.Verify(context.WithValue(ctx, keyRefKey{}, &ref), bearer)
	if ref.unfetched != nil {
		return token{}, &authn.UncheckedError{Missing: "the keys of its issuer cannot be fetched", Err: ref.unfetched}
	}
	if err != nil {
		return token{}, err
	}
	var payload rawJSON
	if err := id.Claims(&payload); err != nil {
		return token{}, err
	}
	var claims map[string]any
	if err := json.Unmarshal(payload, &claims); err != nil { // refuses a claim that is there twice
		return token{}, err
	}
	if err := i.checkAudience(id.Audience); err != nil {
		return token{}, err
	}
	expires, err := i.checkTimes(claims, time.Now())
	if err != nil {
		return token{}, err
	}
	principal, err := i.config.principal(claims)
	if err != nil {
		return token{}, err
	}
	jti, _ := claims["jti"].(string)
	return token{
		verified: authn.Verified{Principal: principal, Expires: expires.Add(i.config.ClockSkew), ID: jti, Claims: claims},
		expires:  expires, key: ref,
	}, nil
}

func (i *issuer) checkAudience(audience []string) error {
	if slices.ContainsFunc(audience, func(a string) bool { return slices.Contains(i.config.Audience, a) }) {
		return nil
	}
	return fmt.Errorf("its audience is %q, and this server is %q", audience, i.config.Audience)
}

// checkTimes returns when a token expires, or why it is not valid at a time.
func (i *issuer) checkTimes(claims map[string]any, now time.Time) (expires time.Time, err error) {
	expires, err = timeClaim(claims, "exp")
	if err != nil {
		return expires, err
	}
	issued, err := timeClaim(claims, "iat")
	if err != nil {
		return expires, err
	}
	skew := i.config.ClockSkew
	if !now.Before(expires.Add(skew)) {
		return expires, fmt.Errorf("it expired at %s", expires.Format(time.RFC3339))
	}
	if issued.After(now.Add(skew)) {
		return expires, fmt.Errorf("it was issued in the future, at %s", issued.Format(time.RFC3339))
	}
	if lifetime := expires.Sub(issued); lifetime > i.config.MaxLifetime {
		return expires, fmt.Errorf("it is valid for %v, and at most %v are accepted", lifetime, i.config.MaxLifetime)
	}
	if _, found := claims["nbf"]; !found {
		return expires, nil
	}
	from, err := timeClaim(claims, "nbf")
	if err == nil && from.After(now.Add(skew)) {
		err = fmt.Errorf("it is valid from %s", from.Format(time.RFC3339))
	}
	return expires, err
}

// maxTime is the last second of the year 9999. Later times cannot be printed.
const maxTime = 253402300799

// timeClaim returns a claim with a time in seconds since 1970, which must be there.
func timeClaim(claims map[string]any, name string) (time.Time, error) {
	seconds, ok := claims[name].(float64)
	if !ok || seconds < 0 || seconds > maxTime {
		return time.Time{}, fmt.Errorf("the claim %s is missing or is not a time", name)
	}
	return time.Unix(int64(seconds), 0).UTC(), nil
}

// rawJSON receives a JSON text unchanged.
type rawJSON []byte

// UnmarshalJSON implements the interface of encoding/json.
func (r *rawJSON) UnmarshalJSON(data []byte) error { *r = append((*r)[:0], data...); return nil }

// decodePart decodes one part of a token.
func decodePart(part string) ([]byte, error) {
	if strings.ContainsAny(part, "=\r\n") {
		return nil, errors.New("it is not base64url")
	}
	return base64.RawURLEncoding.Strict().DecodeString(part)
}
