package agentserver_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// inboxOf returns a client of the decisions of an agent that is known as a principal.
func inboxOf(t *testing.T, a agentserver.Agent, principal identity.Principal) decisionv1.DecisionServiceClient {
	t.Helper()
	return decisionv1.NewDecisionServiceClient(connected(t, a, gate.New(gate.Config{
		Rights: agentserver.Rights(), Authenticator: known{principal}, Policy: gate.Always(authz.New(roles)),
	})))
}

// waiting is an agent with the run of ada, which waits for an approval that needs another person,
// another approval, and an answer.
func waiting() *fakeAgent {
	f := runs()
	for _, d := range []loop.DecisionRequested{
		{ID: "d1", Kind: loop.DecideApproval, FourEyes: true, Tool: "pay"}, {ID: "d2", Kind: loop.DecideApproval, Tool: "pay"}, {ID: "d3", Kind: loop.DecideQuestion, Reason: "which?"},
	} {
		f.inbox = append(f.inbox, agent.Decision{Pending: loop.Pending{DecisionRequested: d, Arguments: "{\"a\":\"\xff\"}", Requested: moment}, Waits: true, Run: f.run})
	}
	return f
}

// Whose decisions a caller sees, and which of them it can make.
func TestTheInboxOfACaller(t *testing.T) {
	const needs = "this needs the right runs.approve"
	for name, test := range map[string]struct {
		caller    identity.Principal
		tenants   []string // of the request
		principal string   // that the agent is asked for
		of        []string // the tenants that the agent is asked for
		why       [3]string
		reads     bool // the decision of ada
	}{
		"the owner":                     {identity.Principal{Tenant: "red", Name: "ada"}, nil, "red/ada", nil, [3]string{"another principal than that of the run has to approve", needs, ""}, true},
		"another principal":             {identity.Principal{Tenant: "red", Name: "eve"}, nil, "red/eve", nil, [3]string{needs, needs, needs}, false},
		"an approver":                   {identity.Principal{Tenant: "red", Name: "bob"}, nil, "", []string{"red"}, [3]string{}, true},
		"an approver of another tenant": {identity.Principal{Tenant: "default", Name: "paul"}, nil, "paul", []string{"red"}, [3]string{}, true},
		"an approver asks for two":      {identity.Principal{Tenant: "default", Name: "paul"}, []string{"blue", "red"}, "", []string{"red"}, [3]string{}, true},
		"an auditor":                    {identity.Principal{Tenant: "default", Name: "carl"}, nil, "", []string{"default", "red"}, [3]string{needs, needs, needs}, true},
		"an administrator":              {identity.Principal{Tenant: "default", Name: "root"}, nil, "", nil, [3]string{}, true},
		"an administrator asks for one": {identity.Principal{Tenant: "default", Name: "root"}, []string{"blue"}, "", []string{"blue"}, [3]string{}, true},
		"another tenant":                {identity.Principal{Tenant: "blue", Name: "ada"}, []string{"blue"}, "blue/ada", nil, [3]string{needs, needs, needs}, false},
		"a token for some tools": {identity.Principal{Tenant: "red", Name: "bob", Scope: &identity.Scope{Tools: []string{"echo"}}}, nil, "", []string{"red"}, [3]string{
			"the token is limited to some tools, and makes no decisions", "the token is limited to some tools, and makes no decisions", "the token is limited to some tools, and makes no decisions"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := waiting()
			c := inboxOf(t, f, test.caller)
			resp, err := c.ListDecisions(t.Context(), &decisionv1.ListDecisionsRequest{PageSize: 7, PageToken: "p", Tenants: test.tenants})
			if err != nil {
				t.Fatal(err)
			}
			if q := f.decisions; q.Size != 7 || q.Token != "p" || q.Principal != test.principal || !slices.Equal(q.Tenants, test.of) {
				t.Errorf("the agent is asked for %+v", q)
			}
			if resp.GetNextPageToken() != "next" || len(resp.GetDecisions()) != 3 {
				t.Fatalf("got %v", resp)
			}
			for i, d := range resp.GetDecisions() {
				if d.GetNotAllowed() != test.why[i] || d.GetName() != "red/r/"+d.GetDecisionId() || d.GetTenant() != "red" || d.GetPrincipal() != "red/ada" ||
					d.GetState() != decisionv1.DecisionState_DECISION_STATE_WAITING || d.GetArguments() != "{\"a\":\"\uFFFD\"}" {
					t.Errorf("the decision is %v, want the reason %q", d, test.why[i])
				}
			}
			one, err := c.GetDecision(t.Context(), &decisionv1.GetDecisionRequest{Name: "red/r/d3"})
			switch {
			case test.reads && (err != nil || one.GetDecision().GetReason() != "which?" || one.GetDecision().GetNotAllowed() != test.why[2]):
				t.Errorf("the decision of ada: %v, %v", one, err)
			case !test.reads:
				_, unknown := c.GetDecision(t.Context(), &decisionv1.GetDecisionRequest{Name: "red/never/d3"})
				if kindOf(err) != tool.KindNotFound || status.Code(err) != status.Code(unknown) || !strings.Contains(strings.ReplaceAll(err.Error(), "red/r", "red/never"), toolText(unknown)) {
					t.Errorf("the decision of ada: %v, and of an unknown run %v", err, unknown)
				}
			}
		})
	}
}

func toolText(err error) string { return status.Convert(err).Message() }

// A caller that may see runs of some tenants asks for another one, and gets nothing.
func TestTheInboxOfOtherTenantsIsEmpty(t *testing.T) {
	for _, caller := range []identity.Principal{{Tenant: "default", Name: "paul"}, {Tenant: "red", Name: "eve"}} {
		resp, err := inboxOf(t, waiting(), caller).ListDecisions(t.Context(), &decisionv1.ListDecisionsRequest{Tenants: []string{"blue"}})
		if err != nil || len(resp.GetDecisions()) > 0 {
			t.Errorf("%s got %v, %v", caller.Name, resp, err)
		}
	}
}

// What became of a decision, and requests that name none.
func TestGetDecision(t *testing.T) {
	f := waiting()
	f.inbox[0].Waits = false
	f.inbox[1].Waits, f.inbox[1].MadeAt = false, moment.Add(time.Minute)
	f.inbox[1].Made = &loop.DecisionMade{ID: "d2", Verdict: loop.VerdictReject, Text: "no", By: "Bob", Principal: "red/bob"}
	c := inboxOf(t, f, identity.Principal{Tenant: "red", Name: "ada"})
	get := func(name string) (*decisionv1.Decision, error) {
		resp, err := c.GetDecision(t.Context(), &decisionv1.GetDecisionRequest{Name: name})
		return resp.GetDecision(), err
	}
	if d, err := get("r/d1"); err != nil || d.GetState() != decisionv1.DecisionState_DECISION_STATE_WITHDRAWN || d.GetNotAllowed() != "" {
		t.Errorf("a withdrawn decision: %v, %v", d, err)
	}
	if d, err := get("r/d2"); err != nil || d.GetState() != decisionv1.DecisionState_DECISION_STATE_MADE || d.GetVerdict() != decisionv1.Verdict_VERDICT_REJECT || d.GetText() != "no" ||
		d.GetDecidedBy() != "red/bob" || d.GetDecidedByName() != "Bob" || !d.GetDecideTime().AsTime().Equal(moment.Add(time.Minute)) {
		t.Errorf("a made decision: %v, %v", d, err)
	}
	for name, want := range map[string]tool.Kind{"": tool.KindInvalidArgument, "d1": tool.KindInvalidArgument, "r/": tool.KindInvalidArgument, "/d1": tool.KindInvalidArgument, "x/d1": tool.KindNotFound, "blue/r/d1": tool.KindNotFound} {
		if d, err := get(name); kindOf(err) != want {
			t.Errorf("%q: %v, %v, want %s", name, d, err, want)
		}
	}
	if _, err := c.ListDecisions(t.Context(), &decisionv1.ListDecisionsRequest{PageSize: -1}); kindOf(err) != tool.KindInvalidArgument {
		t.Errorf("a negative page: %v", err)
	}
}

// Who may decide what: approvals need the right, the rest belongs to the owner, and each verdict
// has the etag of what was seen.
func TestDecide(t *testing.T) {
	approve, reject, answer := decisionv1.Verdict_VERDICT_APPROVE, decisionv1.Verdict_VERDICT_REJECT, decisionv1.Verdict_VERDICT_ANSWER
	scoped := identity.Principal{Tenant: "red", Name: "bob", Scope: &identity.Scope{Tools: []string{"echo"}}}
	ada, bob := identity.Principal{Tenant: "red", Name: "ada"}, identity.Principal{Tenant: "red", Name: "bob"}
	for name, test := range map[string]struct {
		caller  identity.Principal
		id      string
		verdict decisionv1.Verdict
		change  func(*decisionv1.DecideRequest)
		want    tool.Kind
	}{
		"an approver approves":            {bob, "d2", approve, nil, ""},
		"an approver edits":               {bob, "d2", approve, func(r *decisionv1.DecideRequest) { r.Arguments = []byte(`{}`) }, ""},
		"the owner answers":               {ada, "d3", answer, nil, ""},
		"the owner rejects":               {ada, "d2", reject, nil, ""},
		"the owner approves":              {ada, "d2", approve, nil, tool.KindDenied},
		"another principal":               {identity.Principal{Tenant: "red", Name: "eve"}, "d3", answer, nil, tool.KindNotFound},
		"another tenant":                  {identity.Principal{Tenant: "blue", Name: "ada"}, "d3", answer, nil, tool.KindNotFound},
		"an auditor":                      {identity.Principal{Tenant: "default", Name: "carl"}, "d2", approve, nil, tool.KindDenied},
		"a token for some tools":          {scoped, "d2", reject, nil, tool.KindDenied},
		"no etag":                         {bob, "d2", approve, func(r *decisionv1.DecideRequest) { r.Etag = "" }, tool.KindInvalidArgument},
		"an old etag":                     {bob, "d2", approve, func(r *decisionv1.DecideRequest) { r.Etag = "old" }, tool.KindConflict},
		"no verdict":                      {bob, "d2", decisionv1.Verdict_VERDICT_UNSPECIFIED, nil, tool.KindInvalidArgument},
		"an end":                          {bob, "d2", decisionv1.Verdict_VERDICT_EXPIRED, nil, tool.KindInvalidArgument},
		"no name":                         {bob, "d2", approve, func(r *decisionv1.DecideRequest) { r.Name = "d2" }, tool.KindInvalidArgument},
		"a rejection with arguments":      {bob, "d2", reject, func(r *decisionv1.DecideRequest) { r.Arguments = []byte(`{}`) }, tool.KindInvalidArgument},
		"what is made":                    {bob, "d4", approve, nil, tool.KindConflict},
		"what is made, without the right": {ada, "d4", approve, nil, tool.KindConflict},
		"what was never asked":            {ada, "d9", approve, nil, tool.KindNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			f := waiting()
			f.run.Pending = nil
			for _, d := range f.inbox {
				f.run.Pending = append(f.run.Pending, d.Pending)
			}
			made := f.inbox[1]
			made.ID, made.Waits, made.Made = "d4", false, &loop.DecisionMade{ID: "d4", Verdict: loop.VerdictReject, Principal: "red/bob"}
			f.inbox = append(f.inbox, made)
			c := inboxOf(t, f, test.caller)
			r := &decisionv1.DecideRequest{Name: "red/r/" + test.id, Verdict: test.verdict, Text: "words", RequestId: "q", DecidedByName: "Bob", Etag: "unknown"}
			for _, d := range f.inbox {
				if d.ID == test.id {
					r.Etag = d.Etag()
				}
			}
			if test.change != nil {
				test.change(r)
			}
			resp, err := c.Decide(t.Context(), r)
			if kindOf(err) != test.want {
				t.Fatalf("got %v, %v, want %q", resp, err, test.want)
			}
			if err != nil {
				if f.made != nil {
					t.Errorf("decided %+v", f.made)
				}
				return
			}
			if got := f.made[0]; got.ID != test.id || got.Principal != test.caller.Key() || got.Text != "words" || got.By != "Bob" || got.RequestID != "q" || string(got.Arguments) != string(r.GetArguments()) {
				t.Errorf("decided %+v", got)
			}
			if d := resp.GetDecision(); d.GetVerdict() != test.verdict || d.GetState() != decisionv1.DecisionState_DECISION_STATE_MADE || d.GetEtag() != "" || d.GetDecidedBy() != test.caller.Key() {
				t.Errorf("the decision is %v", d)
			}
		})
	}
}

// Who may approve or answer may extend, and four eyes do not hold it back.
func TestExtendDecision(t *testing.T) {
	ada, bob := identity.Principal{Tenant: "red", Name: "ada"}, identity.Principal{Tenant: "red", Name: "bob"}
	for name, test := range map[string]struct {
		caller identity.Principal
		id     string
		until  *timestamppb.Timestamp
		want   tool.Kind
	}{
		"an approver":                   {bob, "red/r/d2", timestamppb.New(moment), ""},
		"an approver, of a question":    {bob, "red/r/d3", timestamppb.New(moment), ""},
		"an approver in no group":       {bob, "red/r/d5", timestamppb.New(moment), tool.KindDenied},
		"the owner, of its question":    {ada, "red/r/d3", timestamppb.New(moment), ""},
		"the owner without the right":   {ada, "red/r/d2", timestamppb.New(moment), tool.KindDenied},
		"the owner, four eyes":          {identity.Principal{Tenant: "default", Name: "root"}, "red/r/d6", timestamppb.New(moment), ""},
		"an auditor":                    {identity.Principal{Tenant: "default", Name: "carl"}, "red/r/d2", timestamppb.New(moment), tool.KindDenied},
		"another principal":             {identity.Principal{Tenant: "red", Name: "eve"}, "red/r/d3", timestamppb.New(moment), tool.KindNotFound},
		"another tenant":                {identity.Principal{Tenant: "blue", Name: "ada"}, "red/r/d3", timestamppb.New(moment), tool.KindNotFound},
		"a token for some tools":        {identity.Principal{Tenant: "red", Name: "bob", Scope: &identity.Scope{Tools: []string{"echo"}}}, "red/r/d2", timestamppb.New(moment), tool.KindDenied},
		"no end":                        {bob, "red/r/d2", nil, tool.KindInvalidArgument},
		"an end that is none":           {bob, "red/r/d2", &timestamppb.Timestamp{Nanos: -1}, tool.KindInvalidArgument},
		"no name":                       {bob, "d2", timestamppb.New(moment), tool.KindInvalidArgument},
		"what is made":                  {bob, "red/r/d4", timestamppb.New(moment), tool.KindConflict},
		"what is made, for a bystander": {identity.Principal{Tenant: "red", Name: "eve"}, "red/r/d4", timestamppb.New(moment), tool.KindNotFound},
		"what was never asked":          {bob, "red/r/d9", timestamppb.New(moment), tool.KindNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			f := waiting()
			made, grouped, own := f.inbox[1], f.inbox[1], f.inbox[0]
			made.ID, made.Waits, made.Made = "d4", false, &loop.DecisionMade{ID: "d4", Verdict: loop.VerdictReject, Principal: "red/bob"}
			grouped.ID, grouped.Approvers = "d5", []string{"red/leads"}
			own.ID, own.Run.Principal = "d6", "root"
			f.inbox = append(f.inbox, made, grouped, own)
			resp, err := inboxOf(t, f, test.caller).ExtendDecision(t.Context(), &decisionv1.ExtendDecisionRequest{Name: test.id, ExpireTime: test.until})
			if kindOf(err) != test.want || (len(f.extended) == 1) != (err == nil) {
				t.Fatalf("got %v, %v, want %q; extended %+v", resp, err, test.want, f.extended)
			}
			if err != nil {
				return
			}
			if e := f.extended[0]; "red/r/"+e.ID != test.id || !e.Expires.Equal(moment) || e.Principal != test.caller.Key() {
				t.Errorf("extended %+v", e)
			}
			if d := resp.GetDecision(); d.GetName() != test.id || !d.GetExpireTime().AsTime().Equal(moment) || d.GetEtag() == "" {
				t.Errorf("the decision is %v", d)
			}
		})
	}
}

// What a person writes about a decision is bounded, however it arrives.
func TestWordsOfADecisionAreBounded(t *testing.T) {
	for name, test := range map[string]struct {
		text, by int
		want     tool.Kind
	}{
		"as long as they may be": {64 << 10, 256, ""},
		"a long text":            {64<<10 + 1, 1, tool.KindInvalidArgument},
		"a long name":            {1, 257, tool.KindInvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			text, by, f, bob := strings.Repeat("x", test.text), strings.Repeat("y", test.by), waiting(), identity.Principal{Tenant: "red", Name: "bob"}
			_, err := inboxOf(t, f, bob).Decide(t.Context(), &decisionv1.DecideRequest{
				Name: "red/r/d3", Verdict: decisionv1.Verdict_VERDICT_ANSWER, Text: text, DecidedByName: by, Etag: f.inbox[2].Etag(),
			})
			_, respond := as(t, f, "red", "bob").Respond(t.Context(), &agentdv1.RespondRequest{
				RunId: "r", DecidedBy: by, Decisions: []*agentdv1.Decision{{DecisionId: "d3", Verdict: &agentdv1.Decision_Answer{Answer: &agentdv1.Answer{Text: text}}}},
			})
			if kindOf(err) != test.want || kindOf(respond) != test.want || (f.made == nil) != (test.want != "") {
				t.Errorf("%v, %v; want %q", err, respond, test.want)
			}
		})
	}
}
