package tool

import "time"

// CallerInfo says how toolhost or agentd identified a caller, and what the caller may do there.
type CallerInfo struct {
	// Principal is the key of the principal: its name in the tenant default, and TENANT/NAME in
	// another tenant or if the name contains a slash.
	Principal string   `json:"principal"`
	Tenant    string   `json:"tenant"`
	Groups    []string `json:"groups,omitempty"` // in no order
	// Credential says how the server identified the caller: peer (the user of a unix socket),
	// certificate, token, jwt, or none (an anonymous caller).
	Credential   string `json:"credential"`
	CredentialID string `json:"credential_id,omitempty"` // such as the id of a token; empty: it has no name
	// Expires is when the credential expires. Zero: it does not expire.
	Expires time.Time `json:"expire_time,omitzero"`
	Address string    `json:"address"` // from where the caller reached the server: an IP address, or unix
	// ScopeRoles and ScopeTools are the roles, and the patterns of names of tools, to which the
	// token is limited. Empty: the token has no such limit.
	ScopeRoles []string `json:"scope_roles,omitempty"`
	ScopeTools []string `json:"scope_tools,omitempty"`
	// Roles are the roles that bindings give to the principal, in the order of the bindings. Rights
	// takes the limits of the token into account, and Roles does not.
	Roles []GrantedRole `json:"roles"`
	// Rights are the rights that the caller has, limited to those that the server knows a use for.
	Rights []GrantedRight `json:"rights"`
}

// GrantedRole is a role that one binding gives to a principal.
type GrantedRole struct {
	Role string `json:"role"`
	// Tenants are the tenants in which the principal has the role. Empty if AllTenants is set.
	Tenants    []string `json:"tenants,omitempty"`
	AllTenants bool     `json:"all_tenants,omitempty"`
	// Tools are the patterns of names of tools to which the binding is limited. Empty: all tools.
	Tools []string `json:"tools,omitempty"`
}

// GrantedRight is a right of a caller.
type GrantedRight struct {
	Right string `json:"right"` // such as tools.call
	// Tenants are the tenants in which the caller has the right. Empty if AllTenants is set.
	Tenants    []string `json:"tenants,omitempty"`
	AllTenants bool     `json:"all_tenants,omitempty"`
}
