package hostserver_test

import (
	"slices"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/tool"
)

// A delegate lists and decides with the rights of the principal that it names, and only where it is
// a delegate. Its own rights add nothing, and nobody else names a principal.
func TestDecidingOnBehalfOf(t *testing.T) {
	binding := func(role, to string, tenants ...string) authz.Binding {
		return authz.Binding{Role: role, To: []string{to}, Tenants: tenants}
	}
	bindings := []authz.Binding{
		binding("delegate", "name:agentd", "red"), binding("approver", "name:agentd", "red"), binding("delegate", "name:everywhere", authz.AllTenants),
		binding("caller", "name:red/ada"), binding("caller", "name:red/eve"), binding("approver", "name:red/olga"),
		binding("approver", "name:blue/bea", "red"), binding("admin", "name:red/boss"), binding("caller", "name:blue/cyd"),
	}
	everywhere := identity.Principal{Tenant: "default", Name: "everywhere"}
	limited := func(s identity.Scope) identity.Principal {
		return identity.Principal{Tenant: "default", Name: "everywhere", Scope: &s}
	}
	as := func(tenant, name string, groups ...string) client.Principal {
		return client.Principal{Tenant: tenant, Name: name, Groups: groups}
	}
	const ok, no, none = tool.Kind(""), tool.KindDenied, tool.KindNotFound
	for name, test := range map[string]struct {
		who                   identity.Principal
		subject               client.Principal
		fourEyes              bool
		groups                []string
		list, approve, reject tool.Kind
		sees                  bool
	}{
		"the caller of the call":            {agentd, as("red", "ada"), false, nil, ok, no, ok, true},
		"an approver":                       {agentd, as("red", "olga"), true, nil, ok, ok, ok, true},
		"an approver in no group":           {agentd, as("red", "olga"), false, []string{"red/leads"}, ok, no, ok, true},
		"an approver in a group":            {agentd, as("red", "olga", "leads"), false, []string{"red/leads"}, ok, ok, ok, true},
		"another caller":                    {agentd, as("red", "eve"), false, nil, ok, none, none, false},
		"one without rights":                {agentd, as("red", "nobody"), false, nil, ok, none, none, false},
		"an approver of another tenant":     {everywhere, as("blue", "bea"), false, nil, ok, ok, ok, true},
		"where the delegate is none":        {agentd, as("blue", "bea"), false, nil, no, no, no, false},
		"a caller of another tenant":        {everywhere, as("blue", "cyd"), false, nil, ok, none, none, false},
		"a caller that is no delegate":      {identity.Principal{Tenant: "red", Name: "eve"}, as("red", "olga"), false, nil, no, no, no, false},
		"an admin that is no delegate":      {identity.Principal{Tenant: "red", Name: "boss"}, as("red", "olga"), false, nil, no, no, no, false},
		"itself":                            {identity.Principal{Tenant: "red", Name: "olga"}, as("red", "olga"), false, nil, ok, ok, ok, true},
		"itself, with groups of its choice": {identity.Principal{Tenant: "red", Name: "olga"}, as("red", "olga", "leads"), false, []string{"red/leads"}, ok, no, ok, true},
		"a principal that cannot exist":     {agentd, as("RED", "ada"), false, nil, tool.KindInvalidArgument, tool.KindInvalidArgument, tool.KindInvalidArgument, false},
		"by a token for the tool":           {limited(identity.Scope{Tools: []string{"write"}}), as("red", "olga"), false, nil, ok, no, no, true},
		"by a token for another tool":       {limited(identity.Scope{Tools: []string{"read"}}), as("red", "olga"), false, nil, ok, none, none, false},
		"by a token that does not delegate": {limited(identity.Scope{Roles: []string{"caller"}}), as("red", "olga"), false, nil, no, no, no, false},
		"by a token that delegates":         {limited(identity.Scope{Roles: []string{"delegate"}}), as("red", "olga"), false, nil, ok, ok, ok, true},
	} {
		for _, verdict := range []client.Verdict{client.Approve, client.Reject} {
			b, d := holds(t, func(c *held.Call) { c.FourEyes, c.ApproverGroups = test.fourEyes, test.groups })
			c, refusals := decider(t, b, test.who, bindings...)
			ctx := client.OnBehalfOf(bounded(t), test.subject)
			page, err := c.InboxPage(ctx, client.InboxQuery{})
			if tool.KindOf(err) != test.list || (len(page.Decisions) == 1) != test.sees || test.sees && (page.Decisions[0].NotAllowed == "") != (test.approve == ok) {
				t.Errorf("%s is shown %+v, %v", name, page, err)
			}
			if got, err := c.InboxDecision(ctx, d.Name); (err == nil) != test.sees || test.sees && got.Etag != d.Etag {
				t.Errorf("%s gets %+v, %v", name, got, err)
			}
			if _, err := c.ExtendDecision(ctx, d.Name, d.Expires.Add(time.Hour)); tool.KindOf(err) != test.approve || (len(b.moved) == 1) != (test.approve == ok) {
				t.Errorf("%s extends: %v, %+v", name, err, b.moved)
			}
			want, before := map[client.Verdict]tool.Kind{client.Approve: test.approve, client.Reject: test.reject}[verdict], refusals()
			_, err = c.Decide(ctx, client.DecideRequest{Name: d.Name, Etag: d.Etag, Verdict: verdict})
			if tool.KindOf(err) != want || (len(b.made) == 1) != (want == ok) || (refusals() > before) != (want != ok) {
				t.Errorf("%s, %s: %v, %d verdicts, %d refusals", name, verdict, err, len(b.made), refusals()-before)
			}
			if want != ok {
				continue
			}
			key, via, groups := test.subject.Tenant+"/"+test.subject.Name, test.who.Key(), test.subject.Groups
			if key == via {
				via, groups = "", test.who.Groups
			}
			if got := b.made[0]; got.By != key || got.Via != via || test.approve == ok && (b.moved[0].By != key || b.moved[0].Via != via) || !slices.Equal(got.Groups, groups) {
				t.Errorf("%s, %s: the host got %+v", name, verdict, got)
			}
		}
	}
}
