package authn

import (
	"crypto/x509"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/identity"
)

// Rule maps credentials to a principal. One of UID, Certificate and Issuer is set and says which
// credentials it is for.
type Rule struct {
	// UID is a user of this machine. nil: the rule is for other credentials.
	UID *int
	// Certificate is a pattern of a name in the SAN of a client's certificate, such as
	// uri:spiffe://acme/ns/prod/*. As for path.Match, * does not match a slash.
	Certificate string
	// Issuer is the issuer of a JWT. Claims are patterns of its claims, by name; all must match. A
	// claim with a list matches if one of its values does.
	Issuer string
	Claims map[string]string
	// Name and Tenant replace those of the credential. Empty: they stay.
	Name   string
	Tenant string
	// Groups are added to the groups of the credential.
	Groups []string
}

// Check returns why a rule is not valid, or nil.
func (r *Rule) Check() error {
	kinds := 0
	for _, set := range []bool{r.UID != nil, r.Certificate != "", r.Issuer != ""} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		return errors.New("a rule needs exactly one of uid, user, certificate and issuer")
	}
	if len(r.Claims) > 0 && r.Issuer == "" {
		return errors.New("a rule with claims needs the issuer of the JWT")
	}
	patterns := []string{r.Certificate}
	for _, pattern := range r.Claims {
		patterns = append(patterns, pattern)
	}
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("%q is not a pattern such as uri:spiffe://acme/*", pattern)
		}
	}
	if kind, _, found := strings.Cut(r.Certificate, ":"); r.Certificate != "" && (!found || !slices.Contains([]string{"uri", "dns", "mail"}, kind)) {
		return fmt.Errorf("%q is not a name in a certificate; write uri:PATTERN, dns:PATTERN or mail:PATTERN", r.Certificate)
	}
	if r.Name == "" && r.Tenant == "" && len(r.Groups) == 0 {
		return errors.New("a rule needs a name, a tenant or groups, because it has no effect otherwise")
	}
	result := r.principal(identity.Principal{Tenant: identity.DefaultTenant, Name: "x"})
	return result.Check()
}

// principal returns the principal of a credential that the rule matches.
func (r *Rule) principal(p identity.Principal) identity.Principal {
	if r.Name != "" {
		p.Name = r.Name
	}
	if r.Tenant != "" {
		p.Tenant = r.Tenant
	}
	p.Groups = slices.Concat(p.Groups, r.Groups)
	return p
}

// matchesClaims reports whether the claims of a verified JWT match.
func (r *Rule) matchesClaims(claims map[string]any) bool {
	if r.Issuer == "" || claims["iss"] != r.Issuer {
		return false
	}
	for name, pattern := range r.Claims {
		if !slices.ContainsFunc(texts(Claim(claims, name)), func(text string) bool {
			ok, _ := path.Match(pattern, text)
			return ok
		}) {
			return false
		}
	}
	return true
}

// Claim returns the claim of a name, or nil. If no claim has the name, dots separate the names of
// members, as in realm_access.roles.
func Claim(claims map[string]any, name string) any {
	if value, found := claims[name]; found {
		return value
	}
	first, rest, found := strings.Cut(name, ".")
	inner, ok := claims[first].(map[string]any)
	if !found || !ok {
		return nil
	}
	return Claim(inner, rest)
}

// texts returns the values of a claim as texts. Claims of other kinds have none.
func texts(claim any) []string {
	switch claim := claim.(type) {
	case string:
		return []string{claim}
	case bool:
		return []string{strconv.FormatBool(claim)}
	case float64:
		return []string{strconv.FormatFloat(claim, 'f', -1, 64)}
	case []any:
		var all []string
		for _, value := range claim {
			if text, ok := value.(string); ok {
				all = append(all, text)
			}
		}
		return all
	}
	return nil
}

// certificate identifies a caller by the names in the SAN of its verified certificate. The
// subject's common name is ignored, as in TLS.
func (a *Authenticator) certificate(c *x509.Certificate) (Verified, error) {
	names := Names(c)
	if len(names) == 0 {
		return Verified{}, errors.New("the certificate has no URI, DNS or mail name in its SAN")
	}
	v := Verified{
		Principal: identity.Principal{Tenant: identity.DefaultTenant, Name: names[0], Credential: Certificate},
		Expires:   c.NotAfter, ID: "serial " + c.SerialNumber.Text(16),
	}
	return a.apply(v, func(r *Rule) bool {
		return r.Certificate != "" && slices.ContainsFunc(names, func(name string) bool {
			ok, _ := path.Match(r.Certificate, name)
			return ok
		})
	})
}

// Names returns the names in the SAN of a certificate with their kinds: URIs, then DNS names, then
// mail addresses.
func Names(c *x509.Certificate) []string {
	var names []string
	for _, u := range c.URIs {
		names = append(names, "uri:"+u.String())
	}
	for _, name := range c.DNSNames {
		names = append(names, "dns:"+strings.ToLower(name))
	}
	for _, address := range c.EmailAddresses {
		names = append(names, "mail:"+address)
	}
	return names
}
