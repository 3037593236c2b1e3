package authz

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/identity"
)

// AllTenants in Binding.Tenants stands for every tenant.
const AllTenants = "all"

// Binding gives a role to principals.
type Binding struct {
	// Role is the name of a role.
	Role string
	// To are the subjects: name:KEY with the key of a principal, group:KEY, or tenant:NAME. The key of
	// a group has the form of a principal's: group:dev is in the default tenant, and group:red/dev in
	// the tenant red. A principal that matches one of them has the role.
	To []string
	// Tools are patterns of names of tools, as path.Match takes them. They limit the right to call
	// and see tools. Empty: all tools.
	Tools []string
	// Tenants are the tenants in which the principals have the role. Empty: only the tenant of the
	// principal. AllTenants: every tenant.
	Tenants []string
}

// Check returns why a binding is not valid, or nil.
func (b Binding) Check() error {
	if !IsRole(b.Role) {
		return fmt.Errorf("there is no role %q; the roles are %s", b.Role, strings.Join(Roles(), ", "))
	}
	if len(b.To) == 0 {
		return fmt.Errorf("the binding of the role %s is to no principal", b.Role)
	}
	for _, subject := range b.To {
		if err := checkSubject(subject); err != nil {
			return err
		}
	}
	for _, pattern := range b.Tools {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("%q is not a pattern of names of tools, such as fs_*", pattern)
		}
	}
	for _, tenant := range b.Tenants {
		if tenant == AllTenants {
			continue
		}
		if err := identity.CheckTenant(tenant); err != nil {
			return err
		}
	}
	return nil
}

func checkSubject(subject string) error {
	kind, name, _ := strings.Cut(subject, ":")
	switch kind {
	case "tenant":
		return identity.CheckTenant(name)
	case "name", "group":
		tenant, rest := identity.SplitKey(name)
		if err := identity.CheckTenant(tenant); err != nil {
			return err
		}
		if strings.Contains(rest, "*") && !strings.HasPrefix(rest, "dns:*.") { // the name in the certificate of a domain
			return fmt.Errorf("%q is a pattern, and a binding names principals and groups exactly; write members_of for all principals of a tenant", name)
		}
		return identity.CheckName(rest)
	}
	return fmt.Errorf("%q names no principal; write name:KEY, group:KEY or tenant:NAME", subject)
}

// applies reports whether the binding gives its role to a principal.
func (b Binding) applies(p identity.Principal) bool {
	return slices.ContainsFunc(b.To, func(subject string) bool {
		kind, name, _ := strings.Cut(subject, ":")
		switch kind {
		case "name":
			tenant, rest := identity.SplitKey(name)
			return tenant == p.Tenant && rest == p.Name
		case "group":
			tenant, rest := identity.SplitKey(name)
			return tenant == p.Tenant && slices.Contains(p.Groups, rest)
		case "tenant":
			return name == p.Tenant
		}
		return false
	})
}

func (b Binding) inTenant(p identity.Principal, tenant string) bool {
	if len(b.Tenants) == 0 {
		return tenant != "" && tenant == p.Tenant
	}
	return slices.Contains(b.Tenants, AllTenants) || tenant != "" && slices.Contains(b.Tenants, tenant)
}

func (b Binding) matchesTool(tool string) bool { return matchesTool(b.Tools, tool) }

// matchesTool reports whether one of the patterns matches a tool, or there is no pattern.
func matchesTool(patterns []string, tool string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, tool)
		return ok
	})
}

// CheckScope returns why the limit of a credential is not valid, or nil.
func CheckScope(s identity.Scope) error {
	for _, role := range s.Roles {
		if !IsRole(role) {
			return fmt.Errorf("there is no role %q; the roles are %s", role, strings.Join(Roles(), ", "))
		}
	}
	for _, pattern := range s.Tools {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("%q is not a pattern of names of tools, such as fs_*", pattern)
		}
	}
	return nil
}

// allowedByScope reports whether the credential of a principal permits the use of a right. A limit
// of tools concerns only the rights to call and see tools, as in Binding.Tools.
func allowedByScope(who identity.Principal, right Right) bool {
	return who.Scope == nil || len(who.Scope.Roles) == 0 ||
		slices.ContainsFunc(who.Scope.Roles, func(role string) bool { return Has(role, right) })
}

// Policy decides what principals may do. It is immutable. The zero value permits nothing.
type Policy struct{ bindings []Binding }

// New returns a policy of bindings that Binding.Check has accepted. It keeps the slice.
func New(bindings []Binding) *Policy { return &Policy{bindings} }

// Request is what a principal asks to do.
type Request struct {
	Right Right
	// Tenant is the tenant that the act concerns; empty: that of the principal. It has no meaning for
	// global rights, which concern all tenants.
	Tenant string
	// Tool is the tool that the act concerns; empty: none in particular. A binding that is limited to
	// tools gives a right without a particular tool too, because the single tools are decided later.
	Tool string
}

// Decision is the answer of a policy.
type Decision struct {
	Allowed bool
	// Reason says in a sentence which binding decided, or what is missing. It is for operators and
	// logs, not for the caller.
	Reason string
}

// Decide decides a request of a principal. A principal without a name may do nothing.
func (p *Policy) Decide(who identity.Principal, r Request) Decision {
	tenant := r.Tenant
	if tenant == "" {
		tenant = who.Tenant
	}
	if r.Right.Global() {
		tenant = ""
	}
	refusal := Decision{Reason: fmt.Sprintf("no binding gives %s a role", who.Key())}
	if p == nil || who.Name == "" {
		refusal.Reason = "the caller has no principal"
		return refusal
	}
	if r.Right.Innate() {
		return Decision{Allowed: true, Reason: fmt.Sprintf("every caller that the server has identified has the right %s", r.Right)}
	}
	if !allowedByScope(who, r.Right) {
		refusal.Reason = fmt.Sprintf("the scope of the token is the role %s, which does not have the right %s", strings.Join(who.Scope.Roles, ", "), r.Right)
		return refusal
	}
	if who.Scope != nil && r.Tool != "" && !matchesTool(who.Scope.Tools, r.Tool) {
		refusal.Reason = fmt.Sprintf("the scope of the token is the tools %s, not %s", strings.Join(who.Scope.Tools, ", "), r.Tool)
		return refusal
	}
	for i, b := range p.bindings {
		if !b.applies(who) {
			continue
		}
		switch at := fmt.Sprintf("binding %d gives %s the role %s", i+1, who.Key(), b.Role); {
		case !Has(b.Role, r.Right):
			if refusal.Reason == "" || strings.HasPrefix(refusal.Reason, "no binding") {
				refusal.Reason = fmt.Sprintf("%s, which does not have the right %s", at, r.Right)
			}
		case !b.inTenant(who, tenant) && r.Right.Global():
			refusal.Reason = fmt.Sprintf("%s, but the right %s concerns all tenants, and the binding does not say tenants: [all]", at, r.Right)
		case !b.inTenant(who, tenant):
			refusal.Reason = fmt.Sprintf("%s, but not in the tenant %s", at, tenant)
		case r.Tool != "" && !b.matchesTool(r.Tool):
			refusal.Reason = fmt.Sprintf("%s, but not for the tool %s", at, r.Tool)
		default:
			return Decision{Allowed: true, Reason: fmt.Sprintf("%s, which has the right %s", at, r.Right)}
		}
	}
	return refusal
}

// AllTools reports whether a principal may use every tool with a right in a tenant, so that a
// server can leave out the decision about single tools. An empty tenant is that of the principal.
func (p *Policy) AllTools(who identity.Principal, right Right, tenant string) bool {
	if !allowedByScope(who, right) || who.Scope != nil && len(who.Scope.Tools) > 0 {
		return false
	}
	return p != nil && who.Name != "" && slices.ContainsFunc(p.bindings, func(b Binding) bool {
		return len(b.Tools) == 0 && Has(b.Role, right) && b.applies(who) && b.inTenant(who, cmp.Or(tenant, who.Tenant))
	})
}

// Tenants returns the tenants in which a principal has a right, sorted. all reports whether it has
// the right in every tenant; the list is nil then.
func (p *Policy) Tenants(who identity.Principal, right Right) (tenants []string, all bool) {
	if p == nil || who.Name == "" || !allowedByScope(who, right) {
		return nil, false
	}
	for _, b := range p.bindings {
		switch {
		case !Has(b.Role, right) || !b.applies(who):
		case slices.Contains(b.Tenants, AllTenants):
			return nil, true
		case len(b.Tenants) == 0:
			tenants = append(tenants, who.Tenant)
		default:
			tenants = append(tenants, b.Tenants...)
		}
	}
	slices.Sort(tenants)
	return slices.Compact(tenants), false
}

// Grant is a role that a binding gives to a principal.
type Grant struct {
	Role    string
	Tenants []string // in which the principal has the role; nil if All is set
	All     bool     // whether it has the role in every tenant
	Tools   []string // as in Binding
}

// Grants returns the roles that bindings give to a principal, in the order of the bindings. It does
// not consider the scope of the principal.
func (p *Policy) Grants(who identity.Principal) []Grant {
	if p == nil || who.Name == "" {
		return nil
	}
	var grants []Grant
	for _, b := range p.bindings {
		if !b.applies(who) {
			continue
		}
		g := Grant{Role: b.Role, Tools: slices.Clone(b.Tools)}
		switch {
		case slices.Contains(b.Tenants, AllTenants):
			g.All = true
		case len(b.Tenants) == 0:
			g.Tenants = []string{who.Tenant}
		default:
			g.Tenants = slices.Clone(b.Tenants)
		}
		grants = append(grants, g)
	}
	return grants
}
