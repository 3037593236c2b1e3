package toolpb

import (
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/tool"
)

// FromCaller converts what a server knows about a caller. Its texts are those of valid principals
// and of the configuration, except for the id of the credential, which an issuer may have chosen.
func FromCaller(c tool.CallerInfo) *toolv1.CallerInfo {
	m := &toolv1.CallerInfo{
		Principal: c.Principal, Tenant: c.Tenant, Groups: c.Groups, Credential: c.Credential, CredentialId: validText(c.CredentialID),
		ExpireTime: FromTime(c.Expires), Address: c.Address, ScopeRoles: c.ScopeRoles, ScopeTools: validTexts(c.ScopeTools),
	}
	for _, role := range c.Roles {
		m.Roles = append(m.Roles, &toolv1.GrantedRole{Role: role.Role, Tenants: role.Tenants, AllTenants: role.AllTenants, Tools: validTexts(role.Tools)})
	}
	for _, right := range c.Rights {
		m.Rights = append(m.Rights, &toolv1.GrantedRight{Right: right.Right, Tenants: right.Tenants, AllTenants: right.AllTenants})
	}
	return m
}

// ToCaller converts what a server knows about a caller.
func ToCaller(m *toolv1.CallerInfo) tool.CallerInfo {
	c := tool.CallerInfo{
		Principal: m.GetPrincipal(), Tenant: m.GetTenant(), Groups: m.GetGroups(), Credential: m.GetCredential(), CredentialID: m.GetCredentialId(),
		Expires: ToTime(m.GetExpireTime()), Address: m.GetAddress(), ScopeRoles: m.GetScopeRoles(), ScopeTools: m.GetScopeTools(),
	}
	for _, role := range m.GetRoles() {
		c.Roles = append(c.Roles, tool.GrantedRole{Role: role.GetRole(), Tenants: role.GetTenants(), AllTenants: role.GetAllTenants(), Tools: role.GetTools()})
	}
	for _, right := range m.GetRights() {
		c.Rights = append(c.Rights, tool.GrantedRight{Right: right.GetRight(), Tenants: right.GetTenants(), AllTenants: right.GetAllTenants()})
	}
	return c
}
