package gate_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
	"github.com/toolhost/toolhost/tool"
)

// holder is an authenticator that knows one caller.
type holder struct{ authn.Verified }

func (h holder) Authenticate(context.Context, authn.Evidence) (authn.Verified, error) {
	return h.Verified, nil
}

func TestWhoAmI(t *testing.T) {
	const who = "/toolhost.v1.ToolService/WhoAmI"
	table := rpcright.Table{who: {authz.SelfRead}, call: {authz.ToolsCall}, reload: {authz.ConfigReload}, "/a/ListCalls": {authz.CallsList}}
	policy := authz.New([]authz.Binding{
		{Role: "caller", To: []string{"tenant:red"}, Tools: []string{"fs_*"}},
		{Role: "operator", To: []string{"group:red/dev"}, Tenants: []string{"red", "blue"}},
		{Role: "delegate", To: []string{"name:ada"}, Tenants: []string{authz.AllTenants}},
	})
	expires := time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		caller authn.Verified
		want   tool.CallerInfo
	}{
		"a token with a scope": {
			authn.Verified{
				Principal: identity.Principal{
					Tenant: "red", Name: "ci", Groups: []string{"dev"}, Credential: authn.Token,
					Scope: &identity.Scope{Roles: []string{"caller"}, Tools: []string{"fs_read"}},
				},
				Expires: expires, ID: "abc",
			},
			tool.CallerInfo{
				Principal: "red/ci", Tenant: "red", Groups: []string{"dev"}, Credential: "token", CredentialID: "abc", Expires: expires, Address: "192.0.2.1",
				ScopeRoles: []string{"caller"}, ScopeTools: []string{"fs_read"},
				Roles: []tool.GrantedRole{
					{Role: "caller", Tenants: []string{"red"}, Tools: []string{"fs_*"}}, {Role: "operator", Tenants: []string{"red", "blue"}},
				},
				// An operator may list calls, but the token is limited to callers. Reloading concerns
				// all tenants.
				Rights: []tool.GrantedRight{{Right: "tools.call", Tenants: []string{"red"}}, {Right: "reflection.read", Tenants: []string{"blue", "red"}}},
			},
		},
		"a user with a role in all tenants": {
			authn.Verified{Principal: identity.Principal{Tenant: "default", Name: "ada", Credential: authn.Peer}},
			tool.CallerInfo{
				Principal: "ada", Tenant: "default", Credential: "peer", Address: "192.0.2.1",
				Roles: []tool.GrantedRole{{Role: "delegate", AllTenants: true}},
				// The role also permits listing tools, which no RPC of this server needs.
				Rights: []tool.GrantedRight{{Right: "tools.call", AllTenants: true}, {Right: "delegate", AllTenants: true}},
			},
		},
		"a principal without a role": {
			authn.Verified{Principal: identity.Principal{Tenant: "blue", Name: "x", Credential: authn.Certificate}, Expires: expires, ID: "serial 1f"},
			tool.CallerInfo{Principal: "blue/x", Tenant: "blue", Credential: "certificate", CredentialID: "serial 1f", Expires: expires, Address: "192.0.2.1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := gate.New(gate.Config{Rights: table, Authenticator: holder{test.caller}, Policy: gate.Always(policy)})
			ctx, err := g.Admit(rpc(t, authn.Evidence{Address: "192.0.2.1"}), who, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, gate.WhoAmI(ctx, table)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
