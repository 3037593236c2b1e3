package hostserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/tool"
)

// decider is the principal that an RPC about decisions, or about the approvals that a person gave,
// is for: its caller, or the principal that a delegate has verified. What the principal may do
// decides. The rights of the delegate add nothing; it only needs to be a delegate in the tenants of
// the principal and of the decision.
type decider struct {
	who    identity.Principal
	key    string
	via    string // the key of the delegate; empty: none
	caller remote
	policy *authz.Policy
	seen   tool.Tenants // whose decisions the principal sees besides its own; nil: all
	// blind is whether the gate would not admit the principal. It sees nothing then. That is no error:
	// a delegate lists for all its callers, and some have to do with it only.
	blind bool
}

// deciderOf returns the principal that a request is for. A caller may name itself, also one that is
// no delegate: it keeps the groups that toolhost has verified.
func (s *toolService) deciderOf(ctx context.Context, named *toolv1.Principal) (*decider, error) {
	caller := callerOf(ctx)
	d := &decider{who: caller.who, key: caller.Principal, caller: caller, policy: gate.PolicyOf(ctx)}
	if named != nil {
		p, err := principalOf(named)
		if err != nil {
			return nil, s.invalid(ctx, "on_behalf_of", err)
		}
		if p.Key() != d.key {
			d.who, d.key, d.via = p, p.Key(), caller.Principal
		}
	}
	if d.via != "" {
		needed := authz.Request{Right: authz.Delegate, Tenant: d.who.Tenant}
		if err := s.require(ctx, &caller, d.key, caller.who, needed, "act on behalf of another principal"); err != nil {
			return nil, err
		}
		d.blind = !slices.ContainsFunc([]authz.Right{authz.CallsOwn, authz.CallsList, authz.CallsApprove}, d.has)
	}
	d.seen = both(d.tenants(authz.CallsList), d.tenants(authz.CallsApprove))
	return d, nil
}

// tenants returns the tenants in which the principal has a right; nil: all.
func (p *decider) tenants(right authz.Right) tool.Tenants {
	in, all := p.policy.Tenants(p.who, right)
	if all {
		return nil
	}
	return append(tool.Tenants{}, in...)
}

// has reports whether the principal has a right in any tenant.
func (p *decider) has(right authz.Right) bool {
	in := p.tenants(right)
	return in == nil || len(in) > 0
}

// sees reports whether the principal may see a decision. ctx is that of the RPC.
func (p *decider) sees(ctx context.Context, of *held.Decision) bool {
	tenant := identity.TenantOf(of.Principal)
	return !p.blind && authz.FromContext(ctx).InScope(of.Tool) && (of.Principal == p.key || p.seen.Contain(tenant)) && p.reaches(tenant)
}

// reaches reports whether the delegate, if there is one, may act in a tenant.
func (p *decider) reaches(tenant string) bool {
	return p.via == "" || p.policy.Decide(p.caller.who, authz.Request{Right: authz.Delegate, Tenant: tenant}).Allowed
}

// seesApproval reports whether the principal may see an approval that it gave, by the key of the
// principal whose calls it approves.
func (p *decider) seesApproval(of string) bool {
	tenant := identity.TenantOf(of)
	return !p.blind && (of == p.key || p.seen.Contain(tenant)) && p.reaches(tenant)
}

// revokes reports whether the principal may revoke an approval of a principal with a key.
func (p *decider) revokes(of string) bool {
	tenant := identity.TenantOf(of)
	return !p.blind && (of == p.key || p.policy.Decide(p.who, authz.Request{Right: authz.CallsApprove, Tenant: tenant}).Allowed) && p.reaches(tenant)
}

// refusal returns the report of what the principal wanted and may not do.
func (p *decider) refusal(r gate.Refusal) gate.Refusal {
	if r.Via = p.via; p.via != "" {
		r.Principal = p.who
		r.Principal.Credential = p.caller.who.Credential
	}
	return r
}

// whyNot returns why the principal cannot approve or reject a call; empty if it can.
func (p *decider) whyNot(of *held.Decision, approve bool) string {
	own, tenant := of.Principal == p.key, identity.TenantOf(of.Principal)
	may := p.policy.Decide(p.who, authz.Request{Right: authz.CallsApprove, Tenant: tenant}).Allowed
	switch scope := p.caller.who.Scope; {
	case scope != nil && len(scope.Tools) > 0:
		return "the token is limited to some tools, and makes no decisions"
	case approve && of.FourEyes && own:
		return "another principal than that of the call has to approve"
	case approve && !identity.InGroups(p.key, p.who.Groups, of.ApproverGroups):
		return "the rule names the groups of the approver, and the caller is in none of them: " + strings.Join(of.ApproverGroups, ", ")
	case !may && (approve || !own):
		return fmt.Sprintf("this needs the right %s in the tenant %s", authz.CallsApprove, tenant)
	}
	return ""
}
