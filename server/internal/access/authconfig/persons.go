package authconfig

import (
	"cmp"
	"fmt"
	"maps"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
)

// credential is a way in which a person can be known to the server.
type credential struct {
	person string // the name of the person in it, such as that of the user of the machine
	as     identity.Principal
	rule   string // the beginning of a rule that maps it; empty: no rule can
}

// SamePerson returns a warning for each person that seems to have several principals, one of which
// may approve calls: a rule with four_eyes compares principals, so the person could approve its own
// calls. The evidence is the name of the person in the bindings, the rules and the principals of
// tokens, with that of a user of this machine for its number.
func SamePerson(a *Auth, tokens []identity.Principal) (warnings []string) {
	known := a.credentials(tokens)
	policy := authz.New(a.Grants())
	persons := map[string][]credential{}
	for _, c := range known {
		of := persons[c.person]
		if !slices.ContainsFunc(of, func(other credential) bool { return other.as.Key() == c.as.Key() }) {
			persons[c.person] = append(of, c)
		}
	}
	for _, person := range slices.Sorted(maps.Keys(persons)) {
		of := persons[person]
		// The same name in two tenants is no evidence: these are names that somebody chose.
		mapped := slices.IndexFunc(of, func(c credential) bool { return c.rule != "" })
		approver := slices.IndexFunc(of, func(c credential) bool { return mayApprove(policy, c.as) })
		if len(of) < 2 || mapped < 0 || approver < 0 {
			continue
		}
		warnings = append(warnings, describe(person, of, of[approver].as.Key()))
	}
	return warnings
}

func mayApprove(policy *authz.Policy, who identity.Principal) bool {
	for _, right := range []authz.Right{authz.CallsApprove, authz.RunsApprove} {
		if in, all := policy.Tenants(who, right); all || len(in) > 0 {
			return true
		}
	}
	return false
}

// describe says which principals a person has, and what to write so that there is one.
func describe(person string, of []credential, approver string) string {
	rank := func(c credential) int {
		switch {
		case c.rule == "": // no rule maps a token, so its name is the one to keep
			return 0
		case !strings.HasPrefix(c.rule, "uid:"):
			return 1
		}
		return 2 // a number says little
	}
	slices.SortStableFunc(of, func(a, b credential) int { return rank(a) - rank(b) })
	keep, keys, lines := of[0], []string{}, []string{}
	for i, c := range of {
		keys = append(keys, c.as.Key())
		if i == 0 {
			continue
		}
		if c.rule == "" {
			lines = append(lines, "create the tokens of "+c.as.Key()+" again with the name "+keep.as.Key())
			continue
		}
		line := "- {" + c.rule + ", name: " + strconv.Quote(keep.as.Name)
		if keep.as.Tenant != identity.DefaultTenant {
			line += ", tenant: " + keep.as.Tenant
		}
		lines = append(lines, "write under auth.principals: "+line+"}")
	}
	return fmt.Sprintf("auth: %s are principals of one person, as it seems (%s), and %s may approve calls: where a rule wants four eyes, this person alone has them. "+
		"If it is one person: %s; and name it %s in the bindings", strings.Join(keys, " and "), person, approver, strings.Join(lines, "; "), keep.as.Key())
}

// credentials returns the credentials that rules, bindings and tokens name. A credential that a
// rule gives another name is known by that name only.
func (a *Auth) credentials(tokens []identity.Principal) (all []credential) {
	replaced := map[string]bool{} // keys that no credential gives any more
	for _, p := range a.Principals {
		raw, ok := a.named(p)
		if !ok {
			continue
		}
		rule := p.rule()
		as := identity.Principal{Tenant: cmp.Or(rule.Tenant, raw.as.Tenant), Name: cmp.Or(rule.Name, raw.as.Name), Groups: rule.Groups}
		if as.Key() != raw.as.Key() {
			replaced[raw.as.Key()] = true
		}
		raw.as = as
		all = append(all, raw)
	}
	for _, b := range a.Bindings {
		for _, key := range b.Principals {
			if !replaced[key] {
				all = append(all, a.credentialOf(key))
			}
		}
	}
	for _, p := range tokens {
		all = append(all, credential{person: personIn(p.Name), as: identity.Principal{Tenant: p.Tenant, Name: p.Name, Groups: p.Groups}})
	}
	return all
}

// named returns the one credential that a rule is for. ok is false for a rule of several.
func (a *Auth) named(p Principal) (c credential, ok bool) {
	switch {
	case p.UID != nil:
		return a.credentialOf("uid:" + strconv.Itoa(*p.UID)), true
	case p.User != "":
		found, err := user.Lookup(p.User)
		if err != nil {
			return c, false
		}
		return a.credentialOf("uid:" + found.Uid), true
	case strings.HasPrefix(p.Certificate, "mail:") && !strings.ContainsAny(p.Certificate, `*?[\`):
		return a.credentialOf(p.Certificate), true
	}
	for _, claim := range []string{"email", "sub"} {
		if value := p.Claims[claim]; value != "" && !strings.ContainsAny(value, `*?[\`) {
			name := value
			if claim == "sub" {
				name = p.Issuer + "#" + value
			}
			return credential{personIn(name), identity.Principal{Tenant: identity.DefaultTenant, Name: name}, fmt.Sprintf("issuer: %s, claims: {%s: %q}", p.Issuer, claim, value)}, true
		}
	}
	return c, false
}

// credentialOf returns the credential that gives a key of a principal.
func (a *Auth) credentialOf(key string) credential {
	tenant, name := identity.SplitKey(key)
	c := credential{as: identity.Principal{Tenant: tenant, Name: name}, person: personIn(name)}
	issuer, sub, of := strings.Cut(name, "#")
	switch {
	case strings.HasPrefix(name, "uid:"):
		c.rule = "uid: " + strings.TrimPrefix(name, "uid:")
	case strings.HasPrefix(name, "mail:"):
		c.rule = fmt.Sprintf("certificate: %q", name)
	case of:
		c.rule = fmt.Sprintf("issuer: %s, claims: {sub: %q}", issuer, sub)
	case strings.Contains(name, "@"):
		for _, i := range a.Issuers {
			if i.NameClaim != "" {
				c.rule = fmt.Sprintf("issuer: %s, claims: {%s: %q}", i.Issuer, i.NameClaim, name)
			}
		}
	}
	return c
}

// personIn returns the name of a person in the name of a principal: that of a user of this machine
// for its number, what stands before the @ of an address, and the subject of a JWT.
func personIn(name string) string {
	if number, ok := strings.CutPrefix(name, "uid:"); ok {
		if found, err := user.LookupId(number); err == nil {
			name = found.Username
		}
		return strings.ToLower(name)
	}
	if _, subject, found := strings.Cut(name, "#"); found {
		name = subject
	}
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "mail:"), "@")
	return strings.ToLower(name)
}
