package agentserver_test

import (
	"context"
	"iter"
	"net"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// known authenticates every caller as one principal.
type known struct{ principal identity.Principal }

func (k known) Authenticate(context.Context, authn.Evidence) (authn.Verified, error) {
	return authn.Verified{Principal: k.principal}, nil
}

var roles = []authz.Binding{
	{Role: "caller", To: []string{"tenant:red", "tenant:blue"}},
	{Role: "approver", To: []string{"name:red/bob"}},
	{Role: "operator", To: []string{"name:red/olga"}},
	{Role: "auditor", To: []string{"name:carl"}, Tenants: []string{"default", "red"}},
	{Role: "admin", To: []string{"name:root"}, Tenants: []string{authz.AllTenants}},
	{Role: "auditor", To: []string{"name:dora"}, Tenants: []string{"red"}},
	{Role: "approver", To: []string{"name:paul"}, Tenants: []string{"red"}},
	{Role: "approver", To: []string{"name:red/dan"}, Tenants: []string{"default"}},
}

// as returns a client of an agent that is known as a principal.
func as(t *testing.T, a agentserver.Agent, tenant, name string) agentdv1.AgentServiceClient {
	t.Helper()
	return through(t, a, gate.New(gate.Config{
		Rights: agentserver.Rights(), Authenticator: known{identity.Principal{Tenant: tenant, Name: name, Groups: []string{"dev"}}},
		Policy: gate.Always(authz.New(roles)),
	}))
}

// through returns a client of an agent whose server has a gate.
func through(t *testing.T, a agentserver.Agent, g *gate.Gate) agentdv1.AgentServiceClient {
	t.Helper()
	return agentdv1.NewAgentServiceClient(connected(t, a, g))
}

// connected returns a connection with an agent whose server has a gate.
func connected(t *testing.T, a agentserver.Agent, g *gate.Gate) *grpc.ClientConn {
	t.Helper()
	return connectedTo(t, agentserver.Config{Agent: a, Gate: g})
}

// connectedTo returns a connection with a server.
func connectedTo(t *testing.T, c agentserver.Config) *grpc.ClientConn {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	server := agentserver.NewServer(c)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Shutdown
	conn, err := grpc.NewClient("passthrough:///agentd", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		_ = server.Shutdown(context.Background())
		<-served
	})
	return conn
}

// runs is an agent with the run of ada, who belongs to the tenant red, and one of an earlier
// version.
func runs() *fakeAgent {
	return &fakeAgent{
		owners: map[string]string{"red/r": "red/ada", "old": ""},
		run:    agent.Run{ID: "red/r", Principal: "red/ada", Pending: []loop.Pending{{DecisionRequested: loop.DecisionRequested{ID: "d1", Kind: loop.DecideApproval}}, {DecisionRequested: loop.DecisionRequested{ID: "d2", Kind: loop.DecideQuestion}}}},
	}
}

// attempts tries each RPC that names a run, and returns the errors by RPC.
func attempts(t *testing.T, c agentdv1.AgentServiceClient, runID, decision string) map[string]error {
	t.Helper()
	ctx, errs := t.Context(), map[string]error{}
	_, errs["GetRun"] = c.GetRun(ctx, &agentdv1.GetRunRequest{RunId: runID})
	_, errs["SendMessage"] = c.SendMessage(ctx, &agentdv1.SendMessageRequest{RunId: runID, Text: "x"})
	_, errs["CancelRun"] = c.CancelRun(ctx, &agentdv1.CancelRunRequest{RunId: runID})
	_, errs["DeleteRun"] = c.DeleteRun(ctx, &agentdv1.DeleteRunRequest{RunId: runID})
	_, errs["Respond"] = c.Respond(ctx, approve(runID, decision))
	watch, err := c.WatchRun(ctx, &agentdv1.WatchRunRequest{RunId: runID})
	if err == nil {
		if _, err = watch.Recv(); err != nil && err.Error() == "EOF" {
			err = nil
		}
	}
	errs["WatchRun"] = err
	return errs
}

func approve(runID, decision string) *agentdv1.RespondRequest {
	return &agentdv1.RespondRequest{
		RunId: runID, DecidedBy: "root", Decisions: []*agentdv1.Decision{{DecisionId: decision, Verdict: &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{}}}},
	}
}

// kindOf returns the kind of the error of an RPC, or "" for nil.
func kindOf(err error) tool.Kind {
	if err == nil {
		return ""
	}
	return toolpb.FromStatusError(err).Kind
}

// Which RPCs reach the run of ada. A caller that may not see the run gets the error for an unknown
// id, word for word.
func TestRunsBelongToTheirPrincipal(t *testing.T) {
	all := []string{"CancelRun", "DeleteRun", "GetRun", "Respond", "SendMessage", "WatchRun"}
	for name, test := range map[string]struct {
		tenant, name, runID string
		reaches             []string
	}{
		"the owner":                        {"red", "ada", "r", []string{"CancelRun", "DeleteRun", "GetRun", "SendMessage", "WatchRun"}},
		"the owner, with the tenant":       {"red", "ada", "red/r", []string{"CancelRun", "DeleteRun", "GetRun", "SendMessage", "WatchRun"}},
		"another principal":                {"red", "eve", "r", nil},
		"an approver":                      {"red", "bob", "r", []string{"CancelRun", "GetRun", "Respond", "WatchRun"}},
		"an operator":                      {"red", "olga", "r", []string{"GetRun", "WatchRun"}},
		"an auditor of two tenants":        {"default", "carl", "red/r", []string{"GetRun", "WatchRun"}},
		"an auditor of another tenant":     {"default", "dora", "red/r", []string{"GetRun", "WatchRun"}},
		"an auditor, without the tenant":   {"default", "dora", "r", nil},
		"an approver of another tenant":    {"default", "paul", "red/r", []string{"CancelRun", "GetRun", "Respond", "WatchRun"}},
		"an administrator":                 {"default", "root", "red/r", []string{"CancelRun", "DeleteRun", "GetRun", "Respond", "WatchRun"}},
		"an administrator, without tenant": {"default", "root", "r", nil},
		"another tenant":                   {"blue", "ada", "r", nil},
		"another tenant, by the whole id":  {"blue", "ada", "red/r", nil},
		"a path":                           {"blue", "ada", "../red/r", nil},
		"a run of an earlier version":      {"red", "ada", "old", nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := as(t, runs(), test.tenant, test.name)
			unknown := attempts(t, c, "never", "d1")
			for _, rpc := range all {
				err := attempts(t, c, test.runID, "d1")[rpc]
				switch {
				case slices.Contains(test.reaches, rpc):
					if err != nil {
						t.Errorf("%s: %v", rpc, err)
					}
				case test.name == "ada" && test.tenant == "red" && rpc == "Respond" && test.runID != "old":
					if kindOf(err) != tool.KindDenied {
						t.Errorf("the owner approves its own call: %v", err)
					}
				case status.Code(err) != status.Code(unknown[rpc]) || kindOf(err) != kindOf(unknown[rpc]):
					t.Errorf("%s: %v, and for an unknown run %v", rpc, err, unknown[rpc])
				}
			}
		})
	}
}

// The principal of the connection starts a run and makes a decision, whatever the request says.
func TestPrincipalOfARun(t *testing.T) {
	f := runs()
	ctx := metadata.AppendToOutgoingContext(t.Context(), "principal", "root", "on-behalf-of", "root")
	if _, err := as(t, f, "red", "ada").StartRun(ctx, &agentdv1.StartRunRequest{Prompt: "go"}); err != nil {
		t.Fatal(err)
	}
	if f.task.Principal != "red/ada" || !slices.Equal(f.task.Groups, []string{"dev"}) {
		t.Errorf("the run is for %q of %q", f.task.Principal, f.task.Groups)
	}
	for _, id := range []string{"d1", "r/d1", "red/r/d1"} {
		if _, err := as(t, f, "red", "bob").Respond(ctx, approve("r", id)); err != nil {
			t.Fatal(err)
		}
		if got := f.made[0]; got.Principal != "red/bob" || got.By != "root" || got.ID != map[string]string{"d1": "d1"}[id]+map[bool]string{true: "red/r/d1"}[id != "d1"] {
			t.Errorf("%s: the decision is %+v", id, got)
		}
	}
	ada := as(t, f, "red", "ada")
	for _, id := range []string{"d1", "r/d1", "red/r/d1"} {
		if _, err := ada.Respond(ctx, approve("r", id)); kindOf(err) != tool.KindDenied {
			t.Errorf("ada approves %s of her own run: %v", id, err)
		}
	}
	answer := &agentdv1.RespondRequest{RunId: "r", Decisions: []*agentdv1.Decision{{DecisionId: "d2", Verdict: &agentdv1.Decision_Answer{Answer: &agentdv1.Answer{Text: "yes"}}}}}
	if _, err := ada.Respond(ctx, answer); err != nil {
		t.Errorf("ada answers what her run asks: %v", err)
	}
	if _, err := ada.Respond(ctx, approve("r", "blue/x/d1")); kindOf(err) != tool.KindNotFound {
		t.Errorf("a decision of another tenant's run: %v", err)
	}
}

// A caller of another tenant names a run of the default tenant by the prefix default/, which is how
// the server names it to that caller.
func TestRunsOfTheDefaultTenant(t *testing.T) {
	f := waiting()
	f.owners, f.run.ID, f.run.Principal = map[string]string{"run-x": "eve"}, "run-x", "eve"
	for i := range f.inbox {
		f.inbox[i].Run = f.run
	}
	f.inbox[0].Run.Parent = &loop.Parent{RunID: "run-p"}
	c, inbox, ctx := as(t, f, "red", "dan"), inboxOf(t, f, identity.Principal{Tenant: "red", Name: "dan"}), t.Context()
	listed, err := inbox.ListDecisions(ctx, &decisionv1.ListDecisionsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if d := listed.GetDecisions()[0]; d.GetName() != "default/run-x/d1" || d.GetRunId() != "default/run-x" || d.GetParentRunId() != "default/run-p" || d.GetTenant() != "default" {
		t.Errorf("listed is %v", d)
	}
	if d, err := inbox.GetDecision(ctx, &decisionv1.GetDecisionRequest{Name: "default/run-x/d1"}); err != nil || d.GetDecision().GetNotAllowed() != "" {
		t.Errorf("the decision is %v, %v", d, err)
	}
	if _, err := c.GetRun(ctx, &agentdv1.GetRunRequest{RunId: "default/run-x"}); err != nil {
		t.Error(err)
	}
	for id, want := range map[string]string{"d1": "d1", "run-s/d1": "run-s/d1", "default/run-s/d1": "run-s/d1", "red/r/d1": "red/r/d1"} {
		if _, err := c.Respond(ctx, approve("default/run-x", id)); err != nil || f.made[0].ID != want {
			t.Errorf("%s: %+v, %v, want %s", id, f.made, err, want)
		}
	}
	runs, err := c.ListRuns(ctx, &agentdv1.ListRunsRequest{PageSize: 3, PageToken: "t"})
	if kindOf(err) != tool.KindInvalidArgument || f.query.Token != "red/t" {
		t.Errorf("%v, %v, token %q", runs, err, f.query.Token)
	}
	if runs, err = as(t, f, "default", "carl").ListRuns(ctx, &agentdv1.ListRunsRequest{PageSize: 3, PageToken: "t"}); err != nil || runs.GetRuns()[0].GetRunId() != "run-x" || runs.GetNextPageToken() != "next" {
		t.Errorf("the default tenant lists %v, %v", runs, err)
	}
	runs, err = c.ListRuns(ctx, &agentdv1.ListRunsRequest{PageSize: 3, PageToken: "default/t"})
	if err != nil || runs.GetRuns()[0].GetRunId() != "default/run-x" || runs.GetNextPageToken() != "default/next" {
		t.Errorf("another tenant lists %v, %v", runs, err)
	}
	for _, id := range []string{"run-x", "default/", "default/red/r", "default/default/run-x"} {
		if _, err := c.GetRun(ctx, &agentdv1.GetRunRequest{RunId: id}); kindOf(err) != tool.KindNotFound {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// A list has the runs that the caller may see.
func TestListsAreScoped(t *testing.T) {
	for name, want := range map[string]agent.RunQuery{
		"red/ada": {Principal: "red/ada"}, "red/olga": {Tenants: []string{"red"}}, "carl": {Tenants: []string{"default", "red"}}, "dora": {Tenants: []string{"red"}}, "root": {},
	} {
		tenant, bare := identity.SplitKey(name)
		f := runs()
		_, _ = as(t, f, tenant, bare).ListRuns(t.Context(), &agentdv1.ListRunsRequest{PageSize: 3, ParentRunId: "p"})
		if f.query.Principal != want.Principal || !slices.Equal(f.query.Tenants, want.Tenants) {
			t.Errorf("%s lists %+v", name, f.query)
		}
		if parent := agent.InTenant(tenant, "p"); f.query.Parent != parent {
			t.Errorf("%s lists the sub-runs of %q, want %q", name, f.query.Parent, parent)
		}
	}
}

// A list that names tenants has no runs of others, and none of tenants that the caller may not see.
func TestListsOfTenants(t *testing.T) {
	for name, want := range map[string]agent.RunQuery{
		"red/ada": {Principal: "red/ada", Tenants: []string{"blue", "red"}}, "red/olga": {Tenants: []string{"red"}},
		"carl": {Tenants: []string{"red"}}, "root": {Tenants: []string{"blue", "red"}},
	} {
		tenant, bare := identity.SplitKey(name)
		f := runs()
		_, _ = as(t, f, tenant, bare).ListRuns(t.Context(), &agentdv1.ListRunsRequest{PageSize: 3, Tenants: []string{"blue", "red"}})
		if f.query.Principal != want.Principal || !slices.Equal(f.query.Tenants, want.Tenants) || f.query.Size != 3 {
			t.Errorf("%s lists %+v", name, f.query)
		}
	}
	f := runs()
	page, err := as(t, f, "red", "olga").ListRuns(t.Context(), &agentdv1.ListRunsRequest{PageSize: 3, Tenants: []string{"blue"}})
	if err != nil || len(page.GetRuns()) != 0 || f.query.Size != 0 {
		t.Errorf("olga lists the runs of blue: %v, %v, %+v", page, err, f.query)
	}
}

// A credential that is limited to some tools starts and directs no run: the run would have all
// tools of its principal.
func TestACredentialLimitedToTools(t *testing.T) {
	ada := identity.Principal{Tenant: "red", Name: "ada", Scope: &identity.Scope{Roles: []string{"caller"}, Tools: []string{"fs_*"}}}
	f := runs()
	c := through(t, f, gate.New(gate.Config{Rights: agentserver.Rights(), Authenticator: known{ada}, Policy: gate.Always(authz.New(roles))}))
	_, started := c.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "go"})
	_, sent := c.SendMessage(t.Context(), &agentdv1.SendMessageRequest{RunId: "r", Text: "x"})
	_, responded := c.Respond(t.Context(), approve("r", "d2"))
	for _, err := range []error{started, sent, responded} {
		if kindOf(err) != tool.KindDenied {
			t.Errorf("a limited credential: %v", err)
		}
	}
	if f.task.Prompt != "" {
		t.Errorf("the run %+v was started", f.task)
	}
	if _, err := c.GetRun(t.Context(), &agentdv1.GetRunRequest{RunId: "r"}); err != nil {
		t.Errorf("reading its own run: %v", err)
	}
}

// endless is an agent whose runs always have news.
type endless struct{ *fakeAgent }

func (endless) WatchRun(context.Context, string, uint64) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		for yield(loop.Event{Payload: &loop.CancelRequested{}}, nil) {
		}
	}
}

// A stream with the events of a run ends when its caller loses the right to see the run.
func TestWatchingEndsWithTheRight(t *testing.T) {
	var access gate.Access
	access.Set(authz.New(roles))
	c := through(t, endless{runs()}, gate.New(gate.Config{
		Rights: agentserver.Rights(), Authenticator: known{identity.Principal{Tenant: "red", Name: "ada"}}, Policy: access.Policy,
	}))
	watch, err := c.WatchRun(t.Context(), &agentdv1.WatchRunRequest{RunId: "r"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}
	access.Set(authz.New(nil))
	for err == nil { // events that were sent before
		_, err = watch.Recv()
	}
	if kindOf(err) != tool.KindNotFound {
		t.Errorf("the stream ends with %v", err)
	}
}
