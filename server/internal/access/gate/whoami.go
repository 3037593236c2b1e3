package gate

import (
	"context"
	"maps"
	"slices"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
	"github.com/toolhost/toolhost/tool"
)

// WhoAmI describes the caller of an RPC that was admitted, by the policy in force. table has the
// rights of the server's RPCs. A right that the server has no use for is left out.
func WhoAmI(ctx context.Context, table rpcright.Table) tool.CallerInfo {
	caller := callerOf(ctx)
	p, policy := caller.Principal, PolicyOf(ctx)
	info := tool.CallerInfo{
		Principal: p.Key(), Tenant: p.Tenant, Groups: p.Groups, Credential: p.Credential, CredentialID: caller.ID, Expires: caller.Expires, Address: p.From,
	}
	if p.Scope != nil {
		info.ScopeRoles, info.ScopeTools = p.Scope.Roles, p.Scope.Tools
	}
	for _, g := range policy.Grants(p) {
		info.Roles = append(info.Roles, tool.GrantedRole{Role: g.Role, Tenants: g.Tenants, AllTenants: g.All, Tools: g.Tools})
	}
	for _, right := range usable(table) {
		tenants, all := policy.Tenants(p, right)
		if all || len(tenants) > 0 && !right.Global() {
			info.Rights = append(info.Rights, tool.GrantedRight{Right: string(right), Tenants: tenants, AllTenants: all})
		}
	}
	return info
}

// callerOf returns the caller of an RPC that was admitted. An admission exists only if the
// credential can become invalid. Any other credential has no expiry and no id.
func callerOf(ctx context.Context) authn.Verified {
	if a, ok := ctx.Value(admissionKey{}).(*admission); ok {
		return a.caller
	}
	p, _ := identity.FromContext(ctx)
	return authn.Verified{Principal: p}
}

// usable returns the rights that a server has a use for and that depend on roles: those of its
// RPCs, and those that decide what an RPC may do.
func usable(table rpcright.Table) []authz.Right {
	used := map[authz.Right]bool{authz.ReflectionRead: true}
	for rights := range maps.Values(table) {
		for _, right := range rights {
			used[right] = true
		}
	}
	if used[authz.ToolsCall] {
		used[authz.CallsApprove], used[authz.Delegate] = true, true
	}
	return slices.DeleteFunc(authz.Rights(), func(r authz.Right) bool { return !used[r] || r.Innate() })
}
