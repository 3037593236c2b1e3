package authz_test

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
)

func TestDecide(t *testing.T) {
	policy := authz.New([]authz.Binding{
		{Role: "admin", To: []string{"name:root"}, Tenants: []string{"all"}},
		{Role: "caller", To: []string{"tenant:red"}, Tools: []string{"fs_*", "add"}},
		{Role: "operator", To: []string{"name:red/olga"}},
		{Role: "auditor", To: []string{"group:red/audit"}, Tenants: []string{"red", "blue"}},
	})
	root := identity.Principal{Tenant: "default", Name: "root"}
	ada := identity.Principal{Tenant: "red", Name: "ada"}
	olga := identity.Principal{Tenant: "red", Name: "olga", Groups: []string{"audit"}}
	limited := identity.Principal{Tenant: "default", Name: "root", Scope: &identity.Scope{Roles: []string{"caller"}, Tools: []string{"add"}}}
	limitedAda := identity.Principal{Tenant: "red", Name: "ada", Scope: &identity.Scope{Roles: []string{"admin"}, Tools: []string{"shell"}}}
	impostor := identity.Principal{Tenant: "blue", Name: "root", Groups: []string{"audit"}}
	for _, test := range []struct {
		who    identity.Principal
		ask    authz.Request
		want   bool
		reason string
	}{
		{root, authz.Request{Right: authz.ConfigReload}, true, "role admin"},
		{root, authz.Request{Right: authz.CallsList, Tenant: "blue"}, true, "role admin"},
		{root, authz.Request{Right: authz.Delegate}, false, "does not have the right delegate"},
		{ada, authz.Request{Right: authz.ToolsCall, Tool: "fs_read"}, true, "role caller"},
		{ada, authz.Request{Right: authz.ToolsCall, Tool: "shell"}, false, "not for the tool shell"},
		{ada, authz.Request{Right: authz.ToolsCall}, true, "role caller"},
		{ada, authz.Request{Right: authz.ToolsCall, Tenant: "blue", Tool: "add"}, false, "not in the tenant blue"},
		{ada, authz.Request{Right: authz.CallsList}, false, "does not have the right calls.list"},
		{limited, authz.Request{Right: authz.ToolsCall, Tool: "add"}, true, "role admin"},
		{limited, authz.Request{Right: authz.ToolsCall}, true, "role admin"},
		{limited, authz.Request{Right: authz.ToolsCall, Tool: "fs_read"}, false, "scope of the token is the tools add, not fs_read"},
		{limited, authz.Request{Right: authz.ConfigReload}, false, "scope of the token is the role caller"},
		{limitedAda, authz.Request{Right: authz.ToolsCall, Tool: "shell"}, false, "not for the tool shell"},
		{limitedAda, authz.Request{Right: authz.ToolsCall, Tool: "add"}, false, "scope of the token is the tools shell"},
		{limitedAda, authz.Request{Right: authz.ConfigReload}, false, "does not have the right config.reload"},
		{olga, authz.Request{Right: authz.EventsRead}, true, "role operator"},
		{olga, authz.Request{Right: authz.PluginsOperate}, false, "concerns all tenants"},
		{olga, authz.Request{Right: authz.AuditRead, Tenant: "blue"}, true, "role auditor"},
		{olga, authz.Request{Right: authz.AuditRead, Tenant: "default"}, false, "not in the tenant default"},
		{impostor, authz.Request{Right: authz.AuditRead}, false, "no binding"},
		{identity.Principal{}, authz.Request{Right: authz.VersionRead}, false, "no principal"},
		{identity.Principal{Tenant: "red"}, authz.Request{Right: authz.ToolsList}, false, "no principal"},
	} {
		got := policy.Decide(test.who, test.ask)
		if got.Allowed != test.want || !strings.Contains(got.Reason, test.reason) {
			t.Errorf("%s, %+v: %+v; want %v, %q", test.who.Key(), test.ask, got, test.want, test.reason)
		}
	}
	if policy.AllTools(ada, authz.ToolsCall, "") || !policy.AllTools(root, authz.ToolsCall, "") {
		t.Error("AllTools does not follow the bindings")
	}
	if policy.AllTools(limited, authz.ToolsCall, "") {
		t.Error("a token for one tool may call all")
	}
	var none *authz.Policy
	if none.Decide(root, authz.Request{Right: authz.VersionRead}).Allowed {
		t.Error("a missing policy permits something")
	}
}

func TestCheck(t *testing.T) {
	for _, b := range []authz.Binding{
		{Role: "king", To: []string{"name:ada"}},
		{Role: "caller"},
		{Role: "caller", To: []string{"ada"}},
		{Role: "caller", To: []string{"name:"}},
		{Role: "caller", To: []string{"tenant:all"}},
		{Role: "caller", To: []string{"group:Red/dev"}},
		{Role: "caller", To: []string{"name:*"}},
		{Role: "caller", To: []string{"name:red/*"}},
		{Role: "caller", To: []string{"group:ops-*"}},
		{Role: "caller", To: []string{"name:default/uri:spiffe://acme/ns/*"}},
		{Role: "caller", To: []string{"name:ada"}, Tools: []string{"["}},
		{Role: "caller", To: []string{"name:ada"}, Tenants: []string{"Red"}},
	} {
		if b.Check() == nil {
			t.Errorf("%+v is accepted", b)
		}
	}
	ok := authz.Binding{Role: "caller", To: []string{"name:red/ada", "name:dns:*.example.org", "group:dev", "tenant:blue"}, Tools: []string{"fs_*"}, Tenants: []string{"all", "red"}}
	if err := ok.Check(); err != nil {
		t.Error(err)
	}
	for _, scope := range []identity.Scope{{Roles: []string{"king"}}, {Tools: []string{"["}}, {Tools: []string{""}}} {
		if authz.CheckScope(scope) == nil {
			t.Errorf("%+v is accepted", scope)
		}
	}
	if err := authz.CheckScope(identity.Scope{Roles: []string{"caller"}, Tools: []string{"fs_*"}}); err != nil {
		t.Error(err)
	}
}
