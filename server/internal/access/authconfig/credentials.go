package authconfig

import (
	"fmt"
	"os/user"
	"strconv"
	"time"

	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/oidc"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// Principal is a rule that maps a credential to a principal. It has one of uid, user, certificate
// and issuer.
type Principal struct {
	// The number of a user of this machine, at the other end of a unix socket.
	UID *int `yaml:"uid" unset:"any other credential" min:"0"`
	// The name of a user of this machine.
	User string `yaml:"user" unset:"any other credential"`
	// A name in the SAN of a client's certificate: `uri:`, `dns:` or `mail:` and a pattern, in which
	// `*` stands for characters without a slash.
	Certificate string `yaml:"certificate" unset:"any other credential"`
	// The issuer of a JWT, as in `auth.issuers`.
	Issuer string `yaml:"issuer" unset:"any other credential"`
	// Patterns of claims of the JWT, in which `*` stands for characters without a slash. All must
	// match.
	Claims map[string]string `yaml:"claims" keys:"claim" is:"pattern" unset:"every JWT of the issuer" hint:"a mapping from names of claims to patterns"`
	// The name of the principal.
	Name string `yaml:"name" unset:"the name in the credential"`
	// The tenant of the principal.
	Tenant string `yaml:"tenant" unset:"the tenant of the issuer, or default"`
	// Groups of the principal, besides those that its credential gives.
	Groups []string `yaml:"groups" is:"group" unset:"none" hint:"write a list such as [dev]"`
}

// Issuer is an OpenID Connect issuer of JWTs.
type Issuer struct {
	// The URL of the issuer, exactly as in the claim `iss` of its tokens.
	Issuer string `yaml:"issuer" required:"true"`
	// The audiences that stand for this server. A token needs one of them in its claim `aud`.
	Audience []string `yaml:"audience" required:"true" is:"audience" hint:"write a list such as [toolhost]"`
	// The claim that names the principal.
	NameClaim string `yaml:"name_claim" unset:"the name is ISSUER#SUB"`
	// The tenant of the principals.
	Tenant string `yaml:"tenant" unset:"default"`
	// The claim with the tenant of the principal. The issuer then decides about tenants.
	TenantClaim string `yaml:"tenant_claim" unset:"the key tenant decides"`
	// The claim with the groups of the principal. Dots separate the names of members.
	GroupsClaim string `yaml:"groups_claim" unset:"the principals have no groups"`
	// How much the clocks of the issuer and of this machine can differ.
	ClockSkew time.Duration `yaml:"clock_skew" default:"30s" min:"0s" max:"5m"`
	// The longest accepted time between the issue and the expiry of a token.
	MaxLifetime time.Duration `yaml:"max_lifetime" default:"24h" min:"1m"`
	// A PEM file with the CAs of the issuer's server.
	CA string `yaml:"ca" is:"file" unset:"the CAs of the system"`
}

// rule returns the rule as package authn has it. It does not look up users.
func (p *Principal) rule() authn.Rule {
	return authn.Rule{
		UID: p.UID, Certificate: p.Certificate, Issuer: p.Issuer, Claims: p.Claims, Name: p.Name, Tenant: p.Tenant, Groups: p.Groups,
	}
}

// Rules returns the rules that map credentials to principals. It looks up the names of users.
func (a *Auth) Rules() ([]authn.Rule, error) {
	rules := make([]authn.Rule, len(a.Principals))
	for i, p := range a.Principals {
		rules[i] = p.rule()
		if p.User == "" {
			continue
		}
		found, err := user.Lookup(p.User)
		if err != nil {
			return nil, fmt.Errorf("auth.principals[%d].user: %w", i, err)
		}
		uid, err := strconv.Atoi(found.Uid)
		if err != nil {
			return nil, fmt.Errorf("auth.principals[%d].user: %w", i, err)
		}
		rules[i].UID = &uid
	}
	return rules, nil
}

// OIDC returns the issuers as package oidc has them.
func (a *Auth) OIDC() []oidc.Config {
	configs := make([]oidc.Config, len(a.Issuers))
	for i, issuer := range a.Issuers {
		configs[i] = oidc.Config{
			Issuer: issuer.Issuer, Audience: issuer.Audience, NameClaim: issuer.NameClaim, Tenant: issuer.Tenant, TenantClaim: issuer.TenantClaim,
			GroupsClaim: issuer.GroupsClaim, ClockSkew: issuer.ClockSkew, MaxLifetime: issuer.MaxLifetime, CAFile: issuer.CA,
		}
	}
	return configs
}

// checkCredentials reports rules and issuers that cannot be used.
func checkCredentials(d *yamldoc.Decoder, parent string, a *Auth) {
	issuers := map[string]bool{}
	for i, c := range a.OIDC() {
		key := fmt.Sprintf("%s.issuers[%d]", parent, i)
		if d.Failed(key) || d.Failed(key+".issuer") || d.Failed(key+".audience") || c.Issuer == "" {
			continue // reported already
		}
		if err := c.Check(); err != nil {
			d.Fail(d.At[key+".issuer"], key, "%v", err)
		} else if issuers[c.Issuer] {
			d.Fail(d.At[key+".issuer"], key, "the issuer is there twice")
		}
		issuers[c.Issuer] = true
	}
	for i := range a.Principals {
		p := &a.Principals[i]
		key := fmt.Sprintf("%s.principals[%d]", parent, i)
		if d.Failed(key) || d.Failed(key+".issuer") || d.Failed(key+".uid") {
			continue // reported already
		}
		rule := p.rule()
		if p.User != "" && rule.UID == nil {
			rule.UID = new(int) // stands for the user, whom Rules looks up
		} else if p.User != "" {
			rule.Certificate = p.User // two kinds, which Check reports
		}
		if err := rule.Check(); err != nil {
			d.Fail(d.At[key], key, "%v", err)
		} else if rule.Issuer != "" && !issuers[rule.Issuer] {
			d.Fail(d.At[key+".issuer"], key+".issuer", "auth.issuers does not have this issuer")
		}
	}
}
