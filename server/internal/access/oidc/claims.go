package oidc

import (
	"fmt"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
)

// principal returns the principal that verified claims give. A claim that is missing or cannot be a
// name fails: a default would give the rights of another principal.
func (c Config) principal(claims map[string]any) (identity.Principal, error) {
	p := identity.Principal{Tenant: identity.DefaultTenant, Credential: authn.JWT}
	var err error
	if p.Name, err = c.name(claims); err != nil {
		return p, err
	}
	if c.Tenant != "" {
		p.Tenant = c.Tenant
	}
	if c.TenantClaim != "" {
		if p.Tenant, err = textClaim(claims, c.TenantClaim); err != nil {
			return p, err
		}
	}
	if c.GroupsClaim != "" {
		p.Groups = groups(authn.Claim(claims, c.GroupsClaim))
	}
	return p, p.Check()
}

// name returns the name of the principal. A claim that a person can edit, such as a nickname, must
// not give the name of a caller with another kind of credential; see identity.CheckOwnName.
func (c Config) name(claims map[string]any) (string, error) {
	if c.NameClaim == "" {
		subject, err := textClaim(claims, "sub")
		return c.Issuer + "#" + subject, err
	}
	name, err := textClaim(claims, c.NameClaim)
	if err != nil {
		return "", err
	}
	if verified, found := claims["email_verified"]; c.NameClaim == "email" && found && verified != true {
		return "", fmt.Errorf("the issuer has not verified the mail address %q", name)
	}
	return name, identity.CheckOwnName(name)
}

// textClaim returns a claim that must be a text.
func textClaim(claims map[string]any, name string) (string, error) {
	text, ok := authn.Claim(claims, name).(string)
	if !ok || text == "" {
		return "", fmt.Errorf("the claim %s is missing or is not a text", name)
	}
	return text, nil
}

// groups returns the texts of a claim that can be groups. A group with a space, for example, cannot
// be in a binding, so it is left out.
func groups(claim any) []string {
	values, ok := claim.([]any)
	if !ok {
		values = []any{claim}
	}
	var names []string
	for _, value := range values {
		if name, ok := value.(string); ok && identity.CheckName(name) == nil {
			names = append(names, name)
		}
	}
	return names
}
