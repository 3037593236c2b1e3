package hostserver_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// approvalBook records the requests for standing approvals that reach the host.
type approvalBook struct {
	created []tool.ApprovalRequest
	listed  []tool.ApprovalQuery
	revoked []tool.ApprovalRevocation
}

var someApproval = tool.StandingApproval{
	ID: "approval-1", Principal: "red/ada", Via: "agentd", Agent: "writer", Tool: "echo", Plugin: "p", DefinitionSHA256: "d", Rule: "r", Scope: tool.ScopeRun,
	Run: "run-1", Session: "s", Patterns: []tool.ArgumentPattern{{Argument: "a", PathPrefix: "docs"}, {Argument: "b", Origin: "https://a.example"}, {Argument: "c", Any: true}},
	Arguments: json.RawMessage(`{"d":1}`), Approver: "red/olga", ApprovedBy: "Olga", Reason: "sure", CallID: "call-1",
	Created: time.Unix(1, 0).UTC(), Expires: time.Unix(2, 0).UTC(), Ended: time.Unix(3, 0).UTC(), End: tool.ApprovalRevoked, RevokedBy: "red/olga",
}

func (b *approvalBook) CreateApproval(_ context.Context, r tool.ApprovalRequest) (tool.StandingApproval, error) {
	b.created = append(b.created, r)
	return someApproval, nil
}

func (b *approvalBook) Approvals(_ context.Context, q tool.ApprovalQuery) (tool.ApprovalPage, error) {
	b.listed = append(b.listed, q)
	return tool.ApprovalPage{Approvals: []tool.StandingApproval{someApproval}, NextPageToken: "next"}, nil
}

func (b *approvalBook) RevokeApproval(_ context.Context, r tool.ApprovalRevocation) (tool.StandingApproval, error) {
	if !r.May(someApproval.Principal) {
		return tool.StandingApproval{}, tool.Errorf(tool.KindNotFound, "there is none")
	}
	r.May = nil
	b.revoked = append(b.revoked, r)
	return someApproval, nil
}

var someApprovalRequest = tool.ApprovalRequest{
	RequestID: "decision-1", Tool: "echo", Arguments: json.RawMessage(`{"a":"docs/x"}`), DefinitionSHA256: "d", Agent: "writer", Run: "run-1", Session: "s",
	Scope: tool.ScopeRun, Patterns: someApproval.Patterns, Expires: time.Unix(9, 0).UTC(), CallID: "call-1", ApprovedBy: "Olga", Reason: "sure",
	Context: map[string]json.RawMessage{"tenant": json.RawMessage(`"acme"`)},
}

// approvalClient returns a client of a server that knows every caller as one principal.
func approvalClient(t *testing.T, who identity.Principal, bindings ...authz.Binding) (remote, *approvalBook, func() int) {
	t.Helper()
	book := &approvalBook{}
	admitting, refusals := as(t, who, bindings...)
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Gate: admitting, Approvals: book})
	return dial(t, a), book, func() int { return len(*refusals) }
}

// A delegate creates, lists and revokes for the principal that it names, with the approver that it
// has verified. Nothing of the request and of the answer is lost on the way.
func TestApprovalsOfADelegate(t *testing.T) {
	bindings := append([]authz.Binding{{Role: "delegate", To: []string{"name:agentd"}}}, delegates...)
	c, book, _ := approvalClient(t, agentd, bindings...)
	ctx := client.OnBehalfOf(bounded(t), client.Principal{Tenant: "red", Name: "ada", Groups: []string{"dev"}})
	got, err := c.CreateApproval(ctx, someApprovalRequest, client.Principal{Tenant: "red", Name: "olga", Groups: []string{"leads"}})
	if diff := cmp.Diff(someApproval, got); err != nil || diff != "" {
		t.Fatalf("%v (-want +got)\n%s", err, diff)
	}
	want := someApprovalRequest
	want.Principal, want.Groups, want.Via, want.Approver, want.From = "red/ada", []string{"dev"}, "agentd", "red/olga", "unix"
	want.ApproverGroups = []string{"leads"}
	if diff := cmp.Diff([]tool.ApprovalRequest{want}, book.created); diff != "" {
		t.Errorf("the host got (-want +got)\n%s", diff)
	}
	page, err := c.Approvals(ctx, tool.ApprovalQuery{Tool: "echo", Run: "run-1", Ended: true, PageSize: 3, PageToken: "t"})
	if err != nil || len(page.Approvals) != 1 || page.NextPageToken != "next" {
		t.Errorf("%+v, %v", page, err)
	}
	if diff := cmp.Diff([]tool.ApprovalQuery{{Principal: "red/ada", Tool: "echo", Run: "run-1", Ended: true, PageSize: 3, PageToken: "t"}}, book.listed); diff != "" {
		t.Errorf("the host got (-want +got)\n%s", diff)
	}
	if _, err := c.RevokeApproval(ctx, "approval-1", "enough"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]tool.ApprovalRevocation{{ID: "approval-1", By: "red/ada", Via: "agentd", From: "unix", Reason: "enough"}}, book.revoked); diff != "" {
		t.Errorf("the host got (-want +got)\n%s", diff)
	}
}

// None of these callers creates an approval. Each would approve a call that it may not approve.
func TestWhoCannotCreateApprovals(t *testing.T) {
	ada, admin := identity.Principal{Tenant: "red", Name: "ada"}, authz.Binding{Role: "admin", To: []string{"name:red/ada"}}
	red := client.Principal{Tenant: "red", Name: "ada"}
	for name, attack := range map[string]struct {
		caller             identity.Principal
		onBehalf, approver client.Principal
		bindings           []authz.Binding
	}{
		"a caller for itself":                    {ada, client.Principal{}, client.Principal{}, delegates},
		"a caller names an approver":             {ada, client.Principal{}, client.Principal{Tenant: "red", Name: "olga"}, delegates},
		"a caller names itself as the approver":  {ada, client.Principal{}, red, append([]authz.Binding{admin}, delegates...)},
		"an approver for another principal":      {ada, client.Principal{Tenant: "red", Name: "bob"}, client.Principal{}, append([]authz.Binding{admin}, delegates...)},
		"an approver that may not call tools":    {ada, red, client.Principal{}, []authz.Binding{{Role: "approver", To: []string{"name:red/ada"}}}},
		"a delegate without an approver":         {agentd, red, client.Principal{}, delegates},
		"a delegate in another tenant":           {agentd, client.Principal{Tenant: "blue", Name: "eve"}, client.Principal{Tenant: "red", Name: "olga"}, delegates},
		"an approver of another tenant":          {agentd, red, client.Principal{Tenant: "blue", Name: "olga"}, delegates},
		"the principal may not call tools":       {agentd, red, red, delegates[1:2]},
		"an anonymous caller":                    {identity.Principal{Tenant: "default", Name: authn.Anonymous, Credential: authn.None}, client.Principal{}, client.Principal{}, []authz.Binding{{Role: "admin", To: []string{"name:anonymous"}}}},
		"a limited token":                        {identity.Principal{Tenant: "red", Name: "ada", Scope: &identity.Scope{Tools: []string{"*"}}}, client.Principal{}, client.Principal{}, []authz.Binding{admin}},
		"the approver of another tenant, itself": {identity.Principal{Tenant: "blue", Name: "ada"}, red, client.Principal{}, []authz.Binding{{Role: "admin", To: []string{"name:blue/ada"}}, {Role: "caller", To: []string{"tenant:red"}}}},
	} {
		c, book, _ := approvalClient(t, attack.caller, attack.bindings...)
		_, err := c.CreateApproval(client.OnBehalfOf(bounded(t), attack.onBehalf), someApprovalRequest, attack.approver)
		if tool.KindOf(err) != tool.KindDenied || len(book.created) != 0 {
			t.Errorf("%s: %v, %+v", name, err, book.created)
		}
	}
	c, book, _ := approvalClient(t, ada, admin)
	if _, err := c.CreateApproval(bounded(t), someApprovalRequest, client.Principal{}); err != nil || book.created[0].Approver != "red/ada" || book.created[0].Via != "" {
		t.Errorf("a caller with the right calls.approve: %v, %+v", err, book.created)
	}
}

// A caller sees and revokes what it may; the rest does not exist for it.
func TestApprovalsOfOthers(t *testing.T) {
	olga := identity.Principal{Tenant: "red", Name: "olga"}
	for name, test := range map[string]struct {
		who      identity.Principal
		bindings []authz.Binding
		query    tool.ApprovalQuery
		tenants  tool.Tenants // that are listed
		revokes  bool
	}{
		"an approver":            {olga, []authz.Binding{{Role: "approver", To: []string{"name:red/olga"}}}, tool.ApprovalQuery{}, tool.Tenants{"red"}, true},
		"an auditor":             {olga, []authz.Binding{{Role: "auditor", To: []string{"name:red/olga"}}, {Role: "caller", To: []string{"name:red/olga"}}}, tool.ApprovalQuery{}, tool.Tenants{"red"}, false},
		"an admin of all":        {olga, []authz.Binding{{Role: "admin", To: []string{"name:red/olga"}, Tenants: []string{authz.AllTenants}}}, tool.ApprovalQuery{Tenants: tool.Tenants{"blue"}}, tool.Tenants{"blue"}, true},
		"a caller":               {olga, []authz.Binding{{Role: "caller", To: []string{"tenant:red"}}}, tool.ApprovalQuery{}, tool.Tenants{}, false},
		"an approver of another": {identity.Principal{Tenant: "blue", Name: "olga"}, []authz.Binding{{Role: "approver", To: []string{"name:blue/olga"}}}, tool.ApprovalQuery{Tenants: tool.Tenants{"red"}}, tool.Tenants{}, false},
		"the principal itself":   {identity.Principal{Tenant: "red", Name: "ada"}, []authz.Binding{{Role: "caller", To: []string{"tenant:red"}}}, tool.ApprovalQuery{}, tool.Tenants{}, true},
	} {
		c, book, refusals := approvalClient(t, test.who, test.bindings...)
		test.query.AllPrincipals = true
		if _, err := c.Approvals(bounded(t), test.query); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := test.query
		want.Tenants = test.tenants
		if diff := cmp.Diff([]tool.ApprovalQuery{want}, book.listed); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		_, err := c.RevokeApproval(bounded(t), "approval-1", "")
		if (err == nil) != test.revokes || (len(book.revoked) == 1) != test.revokes {
			t.Errorf("%s: %v, %+v", name, err, book.revoked)
		}
		if !test.revokes && (tool.KindOf(err) != tool.KindNotFound && tool.KindOf(err) != tool.KindDenied || refusals() != 1) {
			t.Errorf("%s: %v with %d refusals", name, err, refusals())
		}
	}
}

// A delegate lists and revokes the approvals that a person gave, as far as the person and the
// delegate may in the tenant of the calls. Its own rights add nothing.
func TestApprovalsThatAPersonGave(t *testing.T) {
	role := func(name, to string, tenants ...string) authz.Binding {
		return authz.Binding{Role: name, To: []string{"name:" + to}, Tenants: tenants}
	}
	everywhere := role("delegate", "agentd", authz.AllTenants)
	for name, test := range map[string]struct {
		person        client.Principal
		bindings      []authz.Binding
		kind          tool.Kind // of the list
		sees, revokes bool
	}{
		"an approver":                       {client.Principal{Tenant: "red", Name: "olga"}, []authz.Binding{everywhere, role("approver", "red/olga")}, "", true, true},
		"an approver of another tenant":     {client.Principal{Tenant: "blue", Name: "olga"}, []authz.Binding{everywhere, role("approver", "blue/olga")}, "", false, false},
		"a former approver":                 {client.Principal{Tenant: "red", Name: "olga"}, []authz.Binding{everywhere, role("caller", "red/olga")}, "", false, false},
		"an auditor":                        {client.Principal{Tenant: "red", Name: "olga"}, []authz.Binding{everywhere, role("auditor", "red/olga")}, "", true, false},
		"the principal":                     {client.Principal{Tenant: "red", Name: "ada"}, []authz.Binding{everywhere, role("caller", "red/ada")}, "", true, true},
		"a person without a role":           {client.Principal{Tenant: "red", Name: "ada"}, []authz.Binding{everywhere}, "", false, false},
		"the rights of the delegate":        {client.Principal{Tenant: "red", Name: "eve"}, []authz.Binding{everywhere, role("admin", "agentd", authz.AllTenants), role("caller", "red/eve")}, "", false, false},
		"a delegate without the tenant":     {client.Principal{Tenant: "blue", Name: "root"}, []authz.Binding{role("delegate", "agentd", "blue"), role("approver", "blue/root", "red")}, "", false, false},
		"a delegate of none of its tenants": {client.Principal{Tenant: "blue", Name: "root"}, []authz.Binding{role("delegate", "agentd", "red"), role("approver", "blue/root", "red")}, tool.KindDenied, false, false},
		"no delegate":                       {client.Principal{Tenant: "red", Name: "olga"}, []authz.Binding{role("admin", "agentd", authz.AllTenants), role("approver", "red/olga")}, tool.KindDenied, false, false},
	} {
		c, book, refusals := approvalClient(t, agentd, test.bindings...)
		ctx := client.OnBehalfOf(bounded(t), test.person)
		_, err := c.Approvals(ctx, tool.ApprovalQuery{Approved: true})
		if tool.KindOf(err) != test.kind {
			t.Errorf("%s lists: %v", name, err)
		}
		if err == nil && (book.listed[0].Principal != test.person.Tenant+"/"+test.person.Name || book.listed[0].May(someApproval.Principal) != test.sees) {
			t.Errorf("%s: the host got %+v", name, book.listed[0])
		}
		before := refusals()
		_, err = c.RevokeApproval(ctx, someApproval.ID, "")
		if (err == nil) != test.revokes || (len(book.revoked) == 1) != test.revokes || (refusals() > before) == test.revokes {
			t.Errorf("%s revokes: %v, %+v, %d refusals", name, err, book.revoked, refusals()-before)
		}
	}
	c, _, _ := approvalClient(t, agentd, role("admin", "agentd"))
	if _, err := c.Approvals(bounded(t), tool.ApprovalQuery{Approved: true, AllPrincipals: true}); tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("both: %v", err)
	}
}

func TestServerWithoutApprovals(t *testing.T) {
	admitting, _ := as(t, agentd, authz.Binding{Role: "admin", To: []string{"name:agentd"}})
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Gate: admitting})
	c := dial(t, a)
	_, creating := c.CreateApproval(bounded(t), someApprovalRequest, client.Principal{})
	_, listing := c.Approvals(bounded(t), tool.ApprovalQuery{})
	_, revoking := c.RevokeApproval(bounded(t), "approval-1", "")
	for _, err := range []error{creating, listing, revoking} {
		if tool.KindOf(err) != tool.KindUnsupported {
			t.Errorf("%v", err)
		}
	}
}
