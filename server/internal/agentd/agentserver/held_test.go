package agentserver_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/toolhost/toolhost/client"
	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/tool"
)

const heldName = "calls/abcdefghijklmnop"

// holding is a toolhost that shows each principal all that it holds, as one that trusts agentd too
// much would, and records for whom it was asked.
type holding struct {
	decisionv1.UnimplementedDecisionServiceServer
	held []*decisionv1.Decision
	next string // page token
	// position is that of the first page
	position string
	err      error
	asked    []string
	groups   []string
	decided  *decisionv1.DecideRequest
	moved    *decisionv1.ExtendDecisionRequest
	listed   *decisionv1.ListDecisionsRequest
	watch    func(*decisionv1.WatchDecisionsRequest, grpc.ServerStreamingServer[decisionv1.WatchDecisionsResponse]) error
}

func (h *holding) WatchDecisions(r *decisionv1.WatchDecisionsRequest, stream grpc.ServerStreamingServer[decisionv1.WatchDecisionsResponse]) error {
	return h.watch(r, stream)
}

func (h *holding) ListDecisions(_ context.Context, r *decisionv1.ListDecisionsRequest) (*decisionv1.ListDecisionsResponse, error) {
	h.listed, h.groups = r, r.GetOnBehalfOf().GetGroups()
	h.asked = append(h.asked, r.GetOnBehalfOf().GetTenant()+"/"+r.GetOnBehalfOf().GetName())
	return &decisionv1.ListDecisionsResponse{Decisions: h.held, NextPageToken: h.next, Position: h.position}, h.err
}

func (h *holding) GetDecision(_ context.Context, r *decisionv1.GetDecisionRequest) (*decisionv1.GetDecisionResponse, error) {
	h.asked = append(h.asked, r.GetOnBehalfOf().GetTenant()+"/"+r.GetOnBehalfOf().GetName())
	if len(h.held) == 0 {
		return nil, toolpb.StatusError(tool.Errorf(tool.KindNotFound, "no"))
	}
	d := proto.CloneOf(h.held[0])
	d.Etag = "seen"
	return &decisionv1.GetDecisionResponse{Decision: d}, h.err
}

func (h *holding) Decide(_ context.Context, r *decisionv1.DecideRequest) (*decisionv1.DecideResponse, error) {
	h.asked = append(h.asked, r.GetOnBehalfOf().GetTenant()+"/"+r.GetOnBehalfOf().GetName())
	h.decided = r
	d := proto.CloneOf(h.held[0])
	d.State, d.Verdict, d.DecidedBy, d.DecidedByName, d.Text, d.DecideTime = decisionv1.DecisionState_DECISION_STATE_MADE, r.GetVerdict(), "red/x", r.GetDecidedByName(), r.GetText(), timestamppb.New(moment)
	d.NotAllowed = ""
	return &decisionv1.DecideResponse{Decision: d}, nil
}

func (h *holding) ExtendDecision(_ context.Context, r *decisionv1.ExtendDecisionRequest) (*decisionv1.ExtendDecisionResponse, error) {
	h.asked = append(h.asked, r.GetOnBehalfOf().GetTenant()+"/"+r.GetOnBehalfOf().GetName())
	h.moved = r
	d := proto.CloneOf(h.held[0])
	d.ExpireTime, d.Etag = r.GetExpireTime(), "seen"
	return &decisionv1.ExtendDecisionResponse{Decision: d}, nil
}

// client returns a client of the toolhost.
func (h *holding) client(t *testing.T) *client.Client {
	t.Helper()
	return clientOf(t, func(server *grpc.Server) { decisionv1.RegisterDecisionServiceServer(server, h) })
}

func clientOf(t *testing.T, register func(*grpc.Server)) *client.Client {
	t.Helper()
	listener, server := bufconn.Listen(1<<16), grpc.NewServer()
	register(server)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Stop
	c, err := client.Dial("unix:///toolhost", client.WithDialer(func(ctx context.Context) (net.Conn, error) { return listener.DialContext(ctx) }), client.IgnoreEnvironment())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		server.Stop()
		<-served
	})
	return c
}

// holdsCall is a toolhost that holds a call of red/ada, with each field of a decision that it sets.
func holdsCall() *holding {
	return &holding{held: []*decisionv1.Decision{{
		Name: heldName, Kind: decisionv1.DecisionKind_DECISION_KIND_APPROVAL, State: decisionv1.DecisionState_DECISION_STATE_WAITING, RunId: "run", Tenant: "red", Principal: "red/ada",
		CallId: "c", Tool: "pay", DisplayName: "Pay", Plugin: "bank", Arguments: "{}", Reason: "money", Rule: "rule", FourEyes: true, ApproverGroups: []string{"red/leads"}, Cut: true,
		RequestTime: timestamppb.New(moment), ExpireTime: timestamppb.New(moment.Add(time.Hour)), Agent: "writer", Session: "s", Context: `{"a":1}`,
	}}}
}

func inboxWith(t *testing.T, a agentserver.Agent, held agentserver.HeldCalls, principal identity.Principal) decisionv1.DecisionServiceClient {
	t.Helper()
	return decisionv1.NewDecisionServiceClient(connectedTo(t, agentserver.Config{Agent: a, Held: held, Gate: gate.New(gate.Config{
		Rights: agentserver.Rights(), Authenticator: known{principal}, Policy: gate.Always(authz.New(roles)),
	})}))
}

// toolhost is asked for the caller, with its groups. A caller sees and decides no more than it may
// at agentd, also if toolhost would let it.
func TestHeldCallsInTheNameOfTheCaller(t *testing.T) {
	red := func(name string) identity.Principal {
		return identity.Principal{Tenant: "red", Name: name, Groups: []string{"leads"}}
	}
	scoped := func(s identity.Scope) identity.Principal {
		return identity.Principal{Tenant: "red", Name: "bob", Scope: &s}
	}
	const ok, no, none = tool.Kind(""), tool.KindDenied, tool.KindNotFound
	for name, test := range map[string]struct {
		caller          identity.Principal
		sees            bool
		approve, reject tool.Kind
	}{
		"the caller of the call":          {red("ada"), true, no, ok},
		"an approver":                     {red("bob"), true, ok, ok},
		"an auditor":                      {identity.Principal{Tenant: "default", Name: "carl"}, true, no, no},
		"another caller":                  {red("eve"), false, none, none},
		"another tenant":                  {identity.Principal{Tenant: "blue", Name: "ada"}, false, none, none},
		"an approver of another tenant":   {red("dan"), false, none, none},
		"an administrator":                {identity.Principal{Tenant: "default", Name: "root"}, true, ok, ok},
		"a token for the tool":            {scoped(identity.Scope{Tools: []string{"pay"}}), true, no, no},
		"a token for another tool":        {scoped(identity.Scope{Tools: []string{"echo"}}), false, no, no},
		"a token for callers":             {scoped(identity.Scope{Roles: []string{"caller"}}), false, none, none},
		"the caller, a token for callers": {identity.Principal{Tenant: "red", Name: "ada", Scope: &identity.Scope{Roles: []string{"caller"}}}, true, no, ok},
	} {
		for verdict, want := range map[decisionv1.Verdict]tool.Kind{decisionv1.Verdict_VERDICT_APPROVE: test.approve, decisionv1.Verdict_VERDICT_REJECT: test.reject} {
			h := holdsCall()
			f := waiting()
			c := inboxWith(t, f, h.client(t), test.caller)
			list, err := c.ListDecisions(t.Context(), &decisionv1.ListDecisionsRequest{})
			if err != nil || len(list.GetUnavailable()) > 0 {
				t.Fatalf("%s: %v, %v", name, list, err)
			}
			listed := slices.IndexFunc(list.GetDecisions(), func(d *decisionv1.Decision) bool { return d.GetName() == heldName })
			if (listed >= 0) != test.sees || listed >= 0 && (list.GetDecisions()[listed].GetNotAllowed() == "") != (test.approve == ok) {
				t.Errorf("%s sees %v", name, list)
			}
			if !slices.Equal(h.groups, test.caller.Groups) {
				t.Errorf("%s: toolhost got the groups %q", name, h.groups)
			}
			one, err := c.GetDecision(t.Context(), &decisionv1.GetDecisionRequest{Name: heldName})
			if (err == nil) != test.sees || !test.sees && kindOf(err) != none || test.sees && one.GetDecision().GetEtag() != "seen" {
				t.Errorf("%s gets %v, %v", name, one, err)
			}
			_, err = c.Decide(t.Context(), &decisionv1.DecideRequest{Name: heldName, Etag: "seen", Verdict: verdict, Text: "why", RequestId: "q", DecidedByName: "Bob"})
			if kindOf(err) != want || (h.decided != nil) != (want == ok) || f.made != nil {
				t.Errorf("%s, %s: %v, decided %v", name, verdict, err, h.decided)
			}
			if d := h.decided; d != nil && (d.GetVerdict() != verdict || d.GetEtag() != "seen" || d.GetText() != "why" || d.GetRequestId() != "q" || d.GetDecidedByName() != "Bob" || d.GetName() != heldName) {
				t.Errorf("%s: toolhost got %v", name, d)
			}
			end := timestamppb.New(moment.Add(9 * time.Hour))
			later, err := c.ExtendDecision(t.Context(), &decisionv1.ExtendDecisionRequest{Name: heldName, ExpireTime: end})
			if kindOf(err) != test.approve || (h.moved != nil) != (test.approve == ok) || f.extended != nil {
				t.Errorf("%s extends: %v, moved %v", name, err, h.moved)
			}
			if m := h.moved; m != nil && (m.GetName() != heldName || !proto.Equal(m.GetExpireTime(), end) || !proto.Equal(later.GetDecision().GetExpireTime(), end) || later.GetDecision().GetEtag() != "seen") {
				t.Errorf("%s: toolhost got %v, and the caller %v", name, m, later)
			}
			for _, asked := range h.asked {
				if asked != test.caller.Tenant+"/"+test.caller.Name {
					t.Errorf("%s: toolhost was asked for %s", name, asked)
				}
			}
		}
	}
}

// Nothing of a held call is lost on its way through agentd, and toolhost cannot show something as a
// decision of a run.
func TestHeldCallsThroughAgentd(t *testing.T) {
	h := holdsCall()
	c := inboxWith(t, waiting(), h.client(t), identity.Principal{Tenant: "red", Name: "bob"})
	got, err := c.GetDecision(t.Context(), &decisionv1.GetDecisionRequest{Name: heldName})
	want := proto.CloneOf(h.held[0])
	want.Etag = "seen"
	if err != nil || !proto.Equal(got.GetDecision(), want) {
		t.Errorf("got %v, %v\nwant %v", got, err, want)
	}
	made, err := c.Decide(t.Context(), &decisionv1.DecideRequest{Name: heldName, Etag: "seen", Verdict: decisionv1.Verdict_VERDICT_REJECT, Text: "no", DecidedByName: "Bob"})
	want.State, want.Verdict, want.DecidedBy, want.DecidedByName, want.Text, want.DecideTime = decisionv1.DecisionState_DECISION_STATE_MADE, decisionv1.Verdict_VERDICT_REJECT, "red/x", "Bob", "no", timestamppb.New(moment)
	want.Etag = ""
	if err != nil || !proto.Equal(made.GetDecision(), want) {
		t.Errorf("made %v, %v\nwant %v", made, err, want)
	}
	h.held[0].NotAllowed = "the host says no"
	if got, err := c.GetDecision(t.Context(), &decisionv1.GetDecisionRequest{Name: heldName}); err != nil || got.GetDecision().GetNotAllowed() != "the host says no" {
		t.Errorf("got %v, %v", got, err)
	}
	h.held[0].Name = "red/r/d9"
	list, err := c.ListDecisions(t.Context(), &decisionv1.ListDecisionsRequest{})
	if err != nil || len(list.GetDecisions()) != 3 {
		t.Errorf("got %v, %v", list, err)
	}
	if got, err := c.GetDecision(t.Context(), &decisionv1.GetDecisionRequest{Name: heldName}); kindOf(err) != tool.KindNotFound {
		t.Errorf("got %v, %v", got, err)
	}
}

// What ends first comes first, and the token of a page goes on in both sources, each of which can
// have ended.
func TestPagesOfBothSources(t *testing.T) {
	h, f := holdsCall(), waiting()
	f.inbox[0].Expires, f.inbox[1].Expires = moment.Add(time.Minute), moment.Add(2*time.Hour)
	late := proto.CloneOf(h.held[0])
	late.Name, late.ExpireTime = "calls/qrstuvwxyzabcdef", timestamppb.New(moment.Add(3*time.Hour))
	h.held, h.next = append(h.held, late), "h1"
	c := inboxWith(t, f, h.client(t), identity.Principal{Tenant: "red", Name: "bob"})
	list, err := c.ListDecisions(t.Context(), &decisionv1.ListDecisionsRequest{PageSize: 500, Tenants: []string{"red"}})
	var names []string
	for _, d := range list.GetDecisions() {
		names = append(names, d.GetName())
	}
	if want := []string{"red/r/d1", heldName, "red/r/d2", late.Name, "red/r/d3"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("got %q, %v, want %q", names, err, want)
	}
	if h.listed.GetPageSize() != 30 || !slices.Equal(h.listed.GetTenants(), []string{"red"}) {
		t.Errorf("toolhost was asked for %v", h.listed)
	}
	for _, test := range []struct{ token, ofRuns, ofHeld, next, want string }{
		{"", "", "", "h1", "next,h1"},
		{"a,b,c", "a", "b,c", "h2", "next,h2"},
		{"a,b", "a", "b", "", "next"},
		{"a", "a", "none", "h2", "next"},
		{"-,b", "none", "b", "h2", "-,h2"},
		{"-,b", "none", "b", "", ""},
	} {
		f.decisions.Token, h.listed, h.next = "none", &decisionv1.ListDecisionsRequest{PageToken: "none"}, test.next
		list, err := c.ListDecisions(t.Context(), &decisionv1.ListDecisionsRequest{PageToken: test.token})
		if err != nil || list.GetNextPageToken() != test.want || f.decisions.Token != test.ofRuns || h.listed.GetPageToken() != test.ofHeld {
			t.Errorf("%q: got %q, %v; asked for %q and %q", test.token, list.GetNextPageToken(), err, f.decisions.Token, h.listed.GetPageToken())
		}
	}
}

// hanging is a toolhost that does not answer.
type hanging struct{ agentserver.HeldCalls }

func (hanging) InboxPage(ctx context.Context, _ client.InboxQuery) (client.InboxPage, error) {
	if end, ok := ctx.Deadline(); !ok || time.Until(end) > 2*time.Second {
		return client.InboxPage{}, tool.Errorf(tool.KindInternal, "the list waits for longer than it may")
	}
	return client.InboxPage{}, tool.AsError(context.DeadlineExceeded)
}

func (hanging) InboxDecision(ctx context.Context, _ string) (client.InboxDecision, error) {
	if _, ok := ctx.Deadline(); !ok {
		return client.InboxDecision{}, tool.Errorf(tool.KindInternal, "the request waits for ever")
	}
	return client.InboxDecision{}, tool.AsError(context.DeadlineExceeded)
}

// A toolhost that does not answer hides nothing of what runs wait for, and its silence is said.
func TestAToolhostThatDoesNotAnswerIsSaid(t *testing.T) {
	failing := func(code codes.Code, text string) agentserver.HeldCalls {
		return (&holding{err: status.Error(code, text)}).client(t)
	}
	bob := identity.Principal{Tenant: "red", Name: "bob"}
	for name, test := range map[string]struct {
		held agentserver.HeldCalls
		want string
	}{
		"it hangs":         {hanging{}, "it did not answer within 2s"},
		"it is gone":       {failing(codes.Unavailable, "secret address"), "it cannot be asked now (unavailable)"},
		"it fails":         {failing(codes.Internal, "secret address"), "it cannot be asked now (internal)"},
		"it refuses":       {failing(codes.PermissionDenied, "agentd is no delegate"), "agentd is no delegate"},
		"it is older":      {failing(codes.Unimplemented, "no such RPC"), ""},
		"there is none":    {nil, ""},
		"it holds nothing": {(&holding{}).client(t), ""},
	} {
		list, err := inboxWith(t, waiting(), test.held, bob).ListDecisions(t.Context(), &decisionv1.ListDecisionsRequest{})
		said := strings.Join(list.GetUnavailable(), "\n")
		if err != nil || len(list.GetDecisions()) != 3 || list.GetNextPageToken() != "next" || (said == "") != (test.want == "") || !strings.Contains(said, test.want) || strings.Contains(said, "secret") {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
	c := inboxWith(t, waiting(), hanging{}, bob)
	if _, err := c.GetDecision(t.Context(), &decisionv1.GetDecisionRequest{Name: heldName}); kindOf(err) != tool.KindUnavailable {
		t.Errorf("one that cannot be read: %v", err)
	}
	if _, err := c.Decide(t.Context(), &decisionv1.DecideRequest{Name: heldName, Etag: "e", Verdict: decisionv1.Verdict_VERDICT_REJECT}); kindOf(err) != tool.KindUnavailable {
		t.Errorf("one that cannot be decided: %v", err)
	}
	if _, err := c.ExtendDecision(t.Context(), &decisionv1.ExtendDecisionRequest{Name: heldName, ExpireTime: timestamppb.New(moment)}); kindOf(err) != tool.KindUnavailable {
		t.Errorf("one that cannot be extended: %v", err)
	}
	for _, verdict := range []*decisionv1.DecideRequest{{Name: heldName, Verdict: decisionv1.Verdict_VERDICT_REJECT}, {Name: heldName, Etag: "e"}} {
		if _, err := c.Decide(t.Context(), verdict); kindOf(err) != tool.KindInvalidArgument {
			t.Errorf("%v: %v", verdict, err)
		}
	}
}
