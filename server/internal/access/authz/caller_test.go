package authz_test

import (
	"slices"
	"testing"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
)

// A caller may use a tool only if its own principal and the one that it acts for may, and a new
// policy applies at once.
func TestCallerMayUse(t *testing.T) {
	policy := authz.New([]authz.Binding{
		{Role: "caller", To: []string{"name:root"}},
		{Role: "caller", To: []string{"tenant:red"}, Tools: []string{"fs_*"}},
		{Role: "caller", To: []string{"group:red/dev"}, Tools: []string{"add"}},
		{Role: "delegate", To: []string{"name:agentd"}, Tenants: []string{"all"}},
		{Role: "delegate", To: []string{"name:ofred"}, Tenants: []string{"red"}},
		{Role: "caller", To: []string{"tenant:blue"}},
		{Role: "delegate", To: []string{"name:narrow"}, Tools: []string{"add"}, Tenants: []string{"all"}},
	})
	caller := func(tenant, name string, groups ...string) *authz.Caller {
		return authz.NewCaller(identity.Principal{Tenant: tenant, Name: name, Groups: groups}, func() *authz.Policy { return policy })
	}
	agentd, narrow, ada := caller("default", "agentd"), caller("default", "narrow"), caller("red", "ada")
	for _, test := range []struct {
		who    *authz.Caller
		key    string
		groups []string
		tool   string
		want   bool
	}{
		{caller("default", "root"), "root", nil, "shell", true},
		{ada, "red/ada", nil, "fs_read", true},
		{ada, "red/ada", nil, "add", false},
		{ada, "red/ada", []string{"dev"}, "add", false}, // its groups come from the credential alone
		{caller("red", "eve", "dev"), "red/eve", nil, "add", true},
		{agentd, "red/ada", nil, "fs_read", true},
		{agentd, "red/ada", nil, "add", false},
		{agentd, "red/ada", []string{"dev"}, "add", true},
		{agentd, "blue/ada", nil, "fs_read", true},
		{agentd, "green/ada", nil, "fs_read", false},
		{caller("default", "ofred"), "red/ada", nil, "fs_read", true},
		{caller("default", "ofred"), "blue/ada", nil, "fs_read", false},
		{narrow, "red/ada", []string{"dev"}, "add", true},
		{narrow, "red/ada", nil, "fs_read", false},
		{caller("", ""), "", nil, "fs_read", false},
		{nil, "", nil, "fs_read", true},
	} {
		for range 2 { // the second answer is the kept one
			if got := test.who.MayUse(authz.ToolsCall, test.key, test.groups, test.tool); got != test.want {
				t.Errorf("for %s %v, %s: %v", test.key, test.groups, test.tool, got)
			}
		}
	}
	if !caller("default", "root").MayUseAll(authz.ToolsCall, "root", nil) || agentd.MayUseAll(authz.ToolsCall, "red/ada", nil) || ada.MayUseAll(authz.ToolsCall, "red/ada", nil) {
		t.Error("MayUseAll does not follow the bindings")
	}
	policy = authz.New(nil)
	if ada.MayUse(authz.ToolsCall, "red/ada", nil, "fs_read") {
		t.Error("a new policy does not apply")
	}
}

func TestTenants(t *testing.T) {
	policy := authz.New([]authz.Binding{
		{Role: "admin", To: []string{"name:root"}, Tenants: []string{"all"}},
		{Role: "operator", To: []string{"name:red/olga"}},
		{Role: "auditor", To: []string{"name:red/olga"}, Tenants: []string{"green", "blue", "red"}},
	})
	for _, test := range []struct {
		who   identity.Principal
		right authz.Right
		want  []string
		all   bool
	}{
		{identity.Principal{Tenant: "default", Name: "root"}, authz.CallsList, nil, true},
		{identity.Principal{Tenant: "default", Name: "root"}, authz.Delegate, nil, false},
		{identity.Principal{Tenant: "default", Name: "root", Scope: &identity.Scope{Roles: []string{"caller"}}}, authz.CallsList, nil, false},
		{identity.Principal{Tenant: "red", Name: "olga"}, authz.CallsList, []string{"blue", "green", "red"}, false},
		{identity.Principal{Tenant: "red", Name: "olga"}, authz.LogsRead, []string{"red"}, false},
		{identity.Principal{Tenant: "blue", Name: "olga"}, authz.CallsList, nil, false},
		{identity.Principal{}, authz.CallsList, nil, false},
	} {
		got, all := policy.Tenants(test.who, test.right)
		if !slices.Equal(got, test.want) || all != test.all {
			t.Errorf("%s, %s: %v, %v", test.who.Key(), test.right, got, all)
		}
	}
}
