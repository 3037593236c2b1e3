package hostserver_test

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/client"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// as returns the gate of a server whose own user, which is the only user of the tests, has a name
// and roles.
func as(t *testing.T, who identity.Principal, bindings ...authz.Binding) (*gate.Gate, *[]gate.Refusal) {
	t.Helper()
	for _, b := range bindings {
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
	}
	refusals := &[]gate.Refusal{}
	var mutex sync.Mutex
	return gate.New(gate.Config{
		Rights: hostserver.Rights(), Authenticator: known{who}, Policy: gate.Always(authz.New(bindings)),
		Refused: func(_ context.Context, r gate.Refusal) {
			mutex.Lock()
			defer mutex.Unlock()
			*refusals = append(*refusals, r)
		},
	}), refusals
}

// known authenticates every caller as one principal.
type known struct{ principal identity.Principal }

func (k known) Authenticate(context.Context, authn.Evidence) (authn.Verified, error) {
	return authn.Verified{Principal: k.principal}, nil
}

var agentd = identity.Principal{Tenant: "default", Name: "agentd"}

// delegates are the bindings of a delegate for the tenant red, of its callers, and of a tenant in
// which it is no delegate.
var delegates = []authz.Binding{
	{Role: "caller", To: []string{"name:agentd"}}, {Role: "delegate", To: []string{"name:agentd"}, Tenants: []string{"red"}},
	{Role: "caller", To: []string{"tenant:red", "tenant:blue"}},
}

// A request on behalf of a principal concerns that principal in every RPC, and the call has both.
func TestOnBehalfOf(t *testing.T) {
	w := &watched{Toolhost: newHost(t)}
	admitting, refusals := as(t, agentd, delegates...)
	a, _ := serve(t, socket(t), hostserver.Config{Host: w, Gate: admitting})
	ada := &toolv1.Principal{Tenant: "red", Name: "ada", Groups: []string{"dev"}}
	for name, err := range requestsFor(t, toolhostv1.NewToolServiceClient(raw(t, a)), ada) {
		switch name {
		case "CancelCall", "ReadArtifact", "WatchCall":
			if status.Code(err) != codes.NotFound {
				t.Errorf("%s: %v", name, err)
			}
		default:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, v := range w.viewers {
		if v.Principal != "red/ada" {
			t.Errorf("tools were listed for %q", v.Principal)
		}
	}
	c := dial(t, a)
	ctx := client.OnBehalfOf(bounded(t), client.Principal{Tenant: "red", Name: "ada", Groups: []string{"dev"}})
	if _, err := c.Call(ctx, tool.Call{ID: "one", Tool: "echo", Arguments: []byte(`{"text":"x"}`)}); err != nil {
		t.Fatal(err)
	}
	if got := lastCall(t, w.Toolhost); got.Principal != "red/ada" || got.Via != "agentd" || !slices.Equal(got.Groups, []string{"dev"}) {
		t.Errorf("the call is for %q of %q via %q", got.Principal, got.Groups, got.Via)
	}
	for event, err := range c.WatchCall(ctx, tool.CallKey{ID: "one"}, 0) {
		if err != nil {
			t.Errorf("watching the call: %+v, %v", event, err)
		}
	}
	if err := c.CancelCall(bounded(t), tool.CallKey{ID: "one"}, ""); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("the delegate itself sees the call: %v", err)
	}
	for _, r := range *refusals { // ids that do not exist are reported as well
		if len(r.Rights) > 0 {
			t.Errorf("refused: %+v", r)
		}
	}
}

// A caller that is no delegate cannot make calls under the name of an agent.
func TestOnlyADelegateStatesItsAgent(t *testing.T) {
	w := &watched{Toolhost: newHost(t)}
	admitting, _ := as(t, agentd, delegates...)
	a, _ := serve(t, socket(t), hostserver.Config{Host: w, Gate: admitting})
	c := dial(t, a)
	call := tool.Call{Tool: "echo", Arguments: []byte(`{"text":"x"}`), Agent: "reviewer", Run: "r-1"}
	red := client.OnBehalfOf(bounded(t), client.Principal{Tenant: "red", Name: "ada"})
	if _, err := c.Call(red, call); err != nil {
		t.Fatal(err)
	}
	if got := lastCall(t, w.Toolhost); got.Agent != "reviewer" || got.Run != "r-1" {
		t.Errorf("the delegate's call is of the agent %q and the run %q", got.Agent, got.Run)
	}
	if _, err := c.Call(bounded(t), call); err != nil { // agentd is no delegate in its own tenant
		t.Fatal(err)
	}
	if got := lastCall(t, w.Toolhost); got.Agent != "" || got.Run != "" {
		t.Errorf("a caller without the right made a call as the agent %q in the run %q", got.Agent, got.Run)
	}
	call.Agent = "a name with spaces"
	if _, err := c.Call(red, call); tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("an ill-formed name: %v", err)
	}
}

// None of these requests has an effect, and each is reported.
func TestDelegationAttacks(t *testing.T) {
	ada := identity.Principal{Tenant: "red", Name: "ada"}
	red := &toolv1.Principal{Tenant: "red", Name: "ada"}
	for name, attack := range map[string]struct {
		caller   identity.Principal
		named    *toolv1.Principal
		bindings []authz.Binding
	}{
		"a caller names another principal of its tenant": {ada, &toolv1.Principal{Tenant: "red", Name: "bob"}, delegates},
		"a caller names itself with more groups":         {ada, &toolv1.Principal{Tenant: "red", Name: "ada", Groups: []string{"admins"}}, delegates},
		"a caller names the delegate":                    {ada, &toolv1.Principal{Name: "agentd"}, delegates},
		"a delegate names another tenant":                {agentd, &toolv1.Principal{Tenant: "blue", Name: "eve"}, delegates},
		"a delegate names its own tenant":                {agentd, &toolv1.Principal{Name: "uid:0"}, delegates},
		"an administrator is no delegate": {agentd, red, []authz.Binding{
			{Role: "admin", To: []string{"name:agentd"}, Tenants: []string{authz.AllTenants}}, {Role: "caller", To: []string{"tenant:red"}},
		}},
		"the principal has no role": {agentd, red, []authz.Binding{
			{Role: "delegate", To: []string{"name:agentd"}, Tenants: []string{authz.AllTenants}},
		}},
		"the delegate of a delegate": {identity.Principal{Tenant: "red", Name: "eve"}, &toolv1.Principal{Tenant: "red", Name: "agent2"}, append([]authz.Binding{
			{Role: "delegate", To: []string{"name:red/agent2"}},
		}, delegates...)},
		"a token that is limited to calling": {
			identity.Principal{Tenant: "default", Name: "agentd", Scope: &identity.Scope{Roles: []string{"caller"}}}, red, delegates,
		},
	} {
		t.Run(name, func(t *testing.T) {
			host := newHost(t)
			admitting, refusals := as(t, attack.caller, attack.bindings...)
			a, _ := serve(t, socket(t), hostserver.Config{Host: host, Gate: admitting})
			requests := requestsFor(t, toolhostv1.NewToolServiceClient(raw(t, a)), attack.named)
			for rpc, err := range requests {
				if status.Code(err) != codes.PermissionDenied {
					t.Errorf("%s: %v", rpc, err)
				}
			}
			if len(*refusals) != len(requests) {
				t.Errorf("%d of %d refusals were reported", len(*refusals), len(requests))
			}
			for _, r := range *refusals { // never the principal that the caller names
				if named := principalKey(attack.named); r.Principal.Key() != attack.caller.Key() || r.Target != named {
					t.Errorf("reported is %+v", r)
				}
			}
			if page, err := host.Calls(t.Context(), tool.CallQuery{}); err != nil || len(page.Calls) > 0 {
				t.Errorf("the host got %+v, %v", page.Calls, err)
			}
		})
	}
}

// principalKey returns the key of the principal that a message names.
func principalKey(m *toolv1.Principal) string {
	return identity.Principal{Tenant: cmp.Or(m.GetTenant(), identity.DefaultTenant), Name: m.GetName()}.Key()
}

// Names in metadata and in the context of a call are not an identity.
func TestForgedIdentity(t *testing.T) {
	host := newHost(t)
	admitting, _ := as(t, identity.Principal{Tenant: "red", Name: "ada"}, delegates...)
	a, _ := serve(t, socket(t), hostserver.Config{Host: host, Gate: admitting})
	c := toolhostv1.NewToolServiceClient(raw(t, a))
	ctx := metadata.AppendToOutgoingContext(bounded(t), "on-behalf-of", "root", "x-principal", "root", "toolhost-principal", "root", "via", "agentd")
	if _, err := c.Call(ctx, &toolhostv1.CallRequest{Tool: "echo", Arguments: []byte(`{"text":"x"}`)}); err != nil {
		t.Fatal(err)
	}
	if got := lastCall(t, host); got.Principal != "red/ada" || got.Via != "" || len(got.Groups) > 0 {
		t.Errorf("the call is for %q of %q via %q", got.Principal, got.Groups, got.Via)
	}
	for _, p := range []*toolv1.Principal{
		{Tenant: "Red", Name: "ada"}, {Tenant: "red/../blue", Name: "ada"}, {Tenant: "red"}, {Tenant: "all", Name: "ada"},
		{Tenant: "red", Name: "ada\x00"}, {Tenant: "red", Name: "ada", Groups: make([]string, 65)},
	} {
		_, err := c.ListTools(ctx, &toolhostv1.ListToolsRequest{OnBehalfOf: p})
		if code := status.Code(err); code != codes.InvalidArgument {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// Who approved is what the server or a delegate verified, never what the caller claims.
func TestApprovers(t *testing.T) {
	ada := identity.Principal{Tenant: "red", Name: "ada", Groups: []string{"leads"}}
	bob := &toolv1.Principal{Tenant: "red", Name: "bob", Groups: []string{"leads"}}
	approvers := append([]authz.Binding{{Role: "approver", To: []string{"name:red/ada"}}}, delegates...)
	for name, test := range map[string]struct {
		caller      identity.Principal
		bindings    []authz.Binding
		named, from *toolv1.Principal // on whose behalf, and the approver
		want        string            // empty: refused
	}{
		"a caller approves":                              {ada, delegates, nil, nil, ""},
		"an approver approves":                           {ada, approvers, nil, nil, "red/ada"},
		"an approver names another one":                  {ada, approvers, nil, bob, ""},
		"an approver names itself":                       {ada, approvers, nil, &toolv1.Principal{Tenant: "red", Name: "ada"}, ""},
		"a delegate names an approver":                   {agentd, delegates, bob, bob, "red/bob"},
		"a delegate names an approver of another tenant": {agentd, delegates, bob, &toolv1.Principal{Tenant: "blue", Name: "eve"}, ""},
		"a delegate approves":                            {agentd, delegates, bob, nil, ""},
		"an approver of another tenant approves": {agentd, append([]authz.Binding{
			{Role: "approver", To: []string{"name:agentd"}, Tenants: []string{"blue"}},
		}, delegates...), bob, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			host := newHost(t)
			admitting, _ := as(t, test.caller, test.bindings...)
			a, _ := serve(t, socket(t), hostserver.Config{Host: host, Gate: admitting})
			_, err := toolhostv1.NewToolServiceClient(raw(t, a)).Call(bounded(t), &toolhostv1.CallRequest{
				Tool: "danger", Arguments: []byte(`{}`), Options: &toolhostv1.CallOptions{
					OnBehalfOf: test.named, Approval: &toolhostv1.Approval{ApprovedBy: "root", Approver: test.from},
				},
			})
			if test.want == "" {
				if page, _ := host.Calls(t.Context(), tool.CallQuery{}); status.Code(err) != codes.PermissionDenied || len(page.Calls) > 0 {
					t.Errorf("%v, and the host got %+v", err, page.Calls)
				}
				return
			}
			if got := lastCall(t, host); err != nil || got.Approval.Approver != test.want || !slices.Equal(got.Approval.ApproverGroups, []string{"leads"}) || got.Approval.ApprovedBy != "root" {
				t.Errorf("%v, and the approval is %+v", err, got.Approval)
			}
		})
	}
}

// requestsFor sends one request of each RPC that can be made on behalf of a principal, and returns
// the errors by RPC. The outcome of a call on a stream counts as the error of its RPC.
func requestsFor(t *testing.T, c toolhostv1.ToolServiceClient, p *toolv1.Principal) map[string]error {
	t.Helper()
	ctx, errs := bounded(t), map[string]error{}
	options := &toolhostv1.CallOptions{OnBehalfOf: p, OutcomeOnly: true}
	start := &toolhostv1.StartCall{Tool: "echo", Arguments: []byte(`{"text":"x"}`), Complete: true, Options: options}
	_, errs["ListTools"] = c.ListTools(ctx, &toolhostv1.ListToolsRequest{OnBehalfOf: p})
	_, errs["GetTool"] = c.GetTool(ctx, &toolhostv1.GetToolRequest{Name: "echo", OnBehalfOf: p})
	_, errs["SearchTools"] = c.SearchTools(ctx, &toolhostv1.SearchToolsRequest{Query: "echo", OnBehalfOf: p})
	_, errs["RenderTools"] = c.RenderTools(ctx, &toolhostv1.RenderToolsRequest{Format: toolhostv1.ToolFormat_TOOL_FORMAT_MCP, OnBehalfOf: p})
	_, errs["CancelCall"] = c.CancelCall(ctx, &toolhostv1.CancelCallRequest{CallId: "c", OnBehalfOf: p})
	_, errs["ReadArtifact"] = c.ReadArtifact(ctx, &toolhostv1.ReadArtifactRequest{Handle: "h", OnBehalfOf: p})
	_, errs["Call"] = c.Call(ctx, &toolhostv1.CallRequest{Tool: "echo", Arguments: start.Arguments, Options: options})
	watch, err := c.WatchCall(ctx, &toolhostv1.WatchCallRequest{CallId: "c", OnBehalfOf: p})
	if err == nil {
		_, err = watch.Recv()
	}
	errs["WatchCall"] = err
	execute, err := c.Execute(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_ = execute.Send(&toolhostv1.ExecuteRequest{Frame: &toolhostv1.ExecuteRequest_Start{Start: start}})
	executed, err := lastOf(execute, func(m *toolhostv1.ExecuteResponse) *toolhostv1.CallEvent { return m.GetEvent() })
	if err != nil {
		t.Fatal(err)
	}
	errs["Execute"] = outcomeError(executed)
	connect, err := c.Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_ = connect.Send(&toolhostv1.ConnectRequest{Call: 1, Frame: &toolhostv1.ConnectRequest_Start{Start: start}})
	connected, err := lastOf(connect, func(m *toolhostv1.ConnectResponse) *toolhostv1.CallEvent { return m.GetEvent() })
	if err != nil {
		t.Fatal(err)
	}
	errs["Connect"] = outcomeError(connected)
	return errs
}

// lastOf returns the outcome of the call on a stream.
func lastOf[M any](stream interface{ Recv() (*M, error) }, event func(*M) *toolhostv1.CallEvent) (*toolhostv1.CallEnded, error) {
	for {
		m, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		if ended := event(m).GetEnded(); ended != nil {
			return ended, nil
		}
	}
}

// outcomeError returns the error of an outcome as an RPC would return it, or nil for a result.
func outcomeError(ended *toolhostv1.CallEnded) error {
	if ended.GetError() == nil {
		return nil
	}
	return toolpb.StatusError(toolpb.ToError(ended.GetError()))
}
