// Package authconfig defines the keys of toolhost.yaml and agentd.yaml that say who may connect and
// what each caller may do. docs/adr/0030-identity.md describes their meaning.
package authconfig

import (
	"fmt"

	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// Auth is the section auth: how callers are identified, and what they may do. The comment of a
// field is its documentation.
type Auth struct {
	// Rules that map credentials to principals, each for one kind of credential. The first rule that
	// matches a credential decides. Tokens have their name, tenant and groups from `token create`.
	Principals []Principal `yaml:"principals" is:"rule" unset:"the names in the credentials, in the tenant default" hint:"write each on separate lines, the first after a dash"`
	// The OpenID Connect issuers whose JWTs the server accepts.
	Issuers []Issuer `yaml:"issuers" is:"issuer" unset:"no JWT is accepted" hint:"write each on separate lines, the first after a dash"`
	// The roles of principals. Principals without a binding have no right. Without any binding, this
	// user and root have all rights at the unix socket, and no other principal has any.
	Bindings []Binding `yaml:"bindings" is:"binding" hint:"write each on separate lines, the first after a dash"`
}

// Binding gives a role to principals.
type Binding struct {
	// The role.
	Role string `yaml:"role" required:"true" oneof:"caller,builder,approver,author,operator,auditor,admin,delegate"`
	// The principals that have the role: `ada` in the tenant default, or `TENANT/ada`.
	Principals []string `yaml:"principals" is:"principal" unset:"none" hint:"write a list such as [ada, red/bob]"`
	// The groups whose members have the role: `dev` in the tenant default, or `TENANT/dev`.
	Groups []string `yaml:"groups" is:"group" unset:"none" hint:"write a list such as [dev, red/dev]"`
	// The tenants all of whose principals have the role.
	MembersOf []string `yaml:"members_of" is:"tenant" unset:"none" hint:"write a list of tenants, such as [red]"`
	// The names of the tools that the role permits to see and call, with `*` for any characters.
	Tools []string `yaml:"tools" is:"tool" unset:"all tools" hint:"write a list of names or patterns, such as [fs_*]"`
	// The tenants in which the principals have the role; `all` stands for every tenant. Acts on the
	// server itself, such as a restart of a plugin, need `[all]`.
	Tenants []string `yaml:"tenants" is:"tenant" unset:"the tenant of the principal" hint:"write a list of tenants, or [all]"`
}

// Grants returns the bindings as package authz has them. Those of a file that was read without an
// error are valid.
func (a *Auth) Grants() []authz.Binding {
	bindings := make([]authz.Binding, len(a.Bindings))
	for i, b := range a.Bindings {
		bindings[i] = b.binding()
	}
	return bindings
}

// binding returns the binding as package authz has it.
func (b Binding) binding() authz.Binding {
	out := authz.Binding{Role: b.Role, Tools: b.Tools, Tenants: b.Tenants}
	for kind, names := range map[string][]string{"name:": b.Principals, "group:": b.Groups, "tenant:": b.MembersOf} {
		for _, name := range names {
			out.To = append(out.To, kind+name)
		}
	}
	return out
}

// Check reports rules, issuers and bindings that cannot be used. parent is the key of the section.
func Check(d *yamldoc.Decoder, parent string, a *Auth) {
	checkCredentials(d, parent, a)
	for i, b := range a.Bindings {
		key := fmt.Sprintf("%s.bindings[%d]", parent, i)
		if d.Failed(key) || d.Failed(key+".role") || b.Role == "" {
			continue // reported already
		}
		bound := b.binding()
		if len(bound.To) == 0 {
			d.Fail(d.At[key+".role"], key, "the binding is for no principal; write principals, groups or members_of")
		} else if err := bound.Check(); err != nil {
			d.Fail(d.At[key+".role"], key, "%v", err)
		}
	}
}
