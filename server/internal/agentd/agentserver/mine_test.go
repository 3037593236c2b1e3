package agentserver_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// A caller finds what it has decided, and not the calls of runs that it may not see any more.
func TestWhatACallerHasDecided(t *testing.T) {
	for name, test := range map[string]struct {
		caller identity.Principal
		sees   int
	}{
		"the owner of the run":   {identity.Principal{Tenant: "red", Name: "ada"}, 3},
		"an approver":            {identity.Principal{Tenant: "red", Name: "bob"}, 3},
		"a former approver":      {identity.Principal{Tenant: "red", Name: "eve"}, 0},
		"of another tenant":      {identity.Principal{Tenant: "blue", Name: "bob"}, 0},
		"a token for callers":    {identity.Principal{Tenant: "red", Name: "bob", Scope: &identity.Scope{Roles: []string{"caller"}}}, 0},
		"an approver from there": {identity.Principal{Tenant: "default", Name: "paul"}, 3},
	} {
		f := waiting()
		for i := range f.inbox {
			f.inbox[i].Waits, f.inbox[i].MadeAt = false, moment.Add(time.Minute)
			f.inbox[i].Made = &loop.DecisionMade{ID: f.inbox[i].ID, Verdict: loop.VerdictReject, Text: "no", Principal: test.caller.Key()}
		}
		c := inboxOf(t, f, test.caller)
		resp, err := c.ListMadeDecisions(t.Context(), &decisionv1.ListMadeDecisionsRequest{PageSize: 7, PageToken: "p"})
		if err != nil || len(resp.GetDecisions()) != test.sees || resp.GetNextPageToken() != "next" {
			t.Errorf("%s: %v, %v", name, resp, err)
		}
		if want := (agent.MadeQuery{Principal: test.caller.Key(), Size: 7, Token: "p"}); f.madeBy != want {
			t.Errorf("%s: the agent is asked for %+v", name, f.madeBy)
		}
		for _, d := range resp.GetDecisions() {
			if d.GetVerdict() != decisionv1.Verdict_VERDICT_REJECT || d.GetDecidedBy() != test.caller.Key() || d.GetText() != "no" || d.GetDecideTime() == nil {
				t.Errorf("%s: %v", name, d)
			}
		}
		if _, err := c.ListMadeDecisions(t.Context(), &decisionv1.ListMadeDecisionsRequest{PageSize: -1}); kindOf(err) != tool.KindInvalidArgument {
			t.Errorf("a negative page: %v", err)
		}
	}
}

// standings is a toolhost that shows and revokes all that it has, as one that trusts agentd too
// much would, and records for whom it was asked. It has one approval on each page.
type standings struct {
	toolhostv1.UnimplementedApprovalServiceServer
	all     []*toolhostv1.StandingApproval
	err     error
	asked   []string
	revoked []string
}

func (s *standings) ListApprovals(_ context.Context, r *toolhostv1.ListApprovalsRequest) (*toolhostv1.ListApprovalsResponse, error) {
	s.asked = append(s.asked, r.GetOnBehalfOf().GetTenant()+"/"+r.GetOnBehalfOf().GetName())
	at := len(r.GetPageToken())
	if s.err != nil || !r.GetApproved() || at >= len(s.all) {
		return nil, s.err
	}
	resp := &toolhostv1.ListApprovalsResponse{Approvals: s.all[at : at+1]}
	if at+1 < len(s.all) {
		resp.NextPageToken = "page"[:at+1]
	}
	return resp, nil
}

func (s *standings) RevokeApproval(_ context.Context, r *toolhostv1.RevokeApprovalRequest) (*toolhostv1.RevokeApprovalResponse, error) {
	s.asked = append(s.asked, r.GetOnBehalfOf().GetTenant()+"/"+r.GetOnBehalfOf().GetName())
	s.revoked = append(s.revoked, r.GetId()+" "+r.GetReason())
	return &toolhostv1.RevokeApprovalResponse{Approval: &toolhostv1.StandingApproval{Id: r.GetId(), End: toolhostv1.ApprovalEnd_APPROVAL_END_REVOKED}}, nil
}

func (s *standings) reached(t *testing.T, as identity.Principal) toolhostv1.ApprovalServiceClient {
	t.Helper()
	c := agentserver.Config{Agent: waiting(), Gate: gate.New(gate.Config{Rights: agentserver.Rights(), Authenticator: known{as}, Policy: gate.Always(authz.New(roles))})}
	if s != nil {
		c.Approvals = clientOf(t, func(server *grpc.Server) { toolhostv1.RegisterApprovalServiceServer(server, s) })
	}
	return toolhostv1.NewApprovalServiceClient(connectedTo(t, c))
}

// toolhost is asked for the caller. A caller sees and revokes only what it gave and what its rights
// at agentd reach, also if toolhost would let it.
func TestStandingApprovalsInTheNameOfTheCaller(t *testing.T) {
	ada, bob := identity.Principal{Tenant: "red", Name: "ada"}, identity.Principal{Tenant: "red", Name: "bob"}
	scoped := func(s identity.Scope) identity.Principal {
		return identity.Principal{Tenant: "red", Name: "bob", Scope: &s}
	}
	given := func(by, of string) *toolhostv1.StandingApproval {
		return &toolhostv1.StandingApproval{Id: "a1", Approver: by, Principal: of, Tool: "pay"}
	}
	const ok, no, none = tool.Kind(""), tool.KindDenied, tool.KindNotFound
	for name, test := range map[string]struct {
		caller  identity.Principal
		of      *toolhostv1.StandingApproval
		sees    bool
		revokes tool.Kind
	}{
		"an approver":                   {bob, given("red/bob", "red/ada"), true, ok},
		"of its own calls":              {ada, given("red/ada", "red/ada"), true, ok},
		"of another approver":           {bob, given("red/olga", "red/ada"), false, none},
		"for its calls, of another":     {ada, given("red/bob", "red/ada"), false, none},
		"an approver without the right": {ada, given("red/ada", "red/bob"), false, none},
		"of another tenant":             {bob, given("red/bob", "blue/ada"), false, none},
		"an auditor":                    {identity.Principal{Tenant: "default", Name: "carl"}, given("carl", "red/ada"), true, no},
		"a token for the tool":          {scoped(identity.Scope{Tools: []string{"pay"}}), given("red/bob", "red/ada"), true, no},
		"a token for another tool":      {scoped(identity.Scope{Tools: []string{"echo"}}), given("red/bob", "red/ada"), false, no},
		"a token for callers":           {scoped(identity.Scope{Roles: []string{"caller"}}), given("red/bob", "red/ada"), false, none},
	} {
		s := &standings{all: []*toolhostv1.StandingApproval{{Id: "a2", Approver: "x"}, test.of}}
		c := s.reached(t, test.caller)
		resp, err := c.ListApprovals(t.Context(), &toolhostv1.ListApprovalsRequest{Approved: true, PageToken: "p"})
		if err != nil || (len(resp.GetApprovals()) == 1) != test.sees {
			t.Errorf("%s lists %v, %v", name, resp, err)
		}
		_, err = c.RevokeApproval(t.Context(), &toolhostv1.RevokeApprovalRequest{Id: "a1", Reason: "why"})
		if kindOf(err) != test.revokes || slices.Equal(s.revoked, []string{"a1 why"}) != (test.revokes == ok) || len(s.revoked) > 1 {
			t.Errorf("%s revokes: %v, %q", name, err, s.revoked)
		}
		for _, asked := range s.asked {
			if asked != test.caller.Tenant+"/"+test.caller.Name {
				t.Errorf("%s: toolhost was asked for %q", name, asked)
			}
		}
	}
}

func TestStandingApprovalsThatCannotBeListed(t *testing.T) {
	bob := identity.Principal{Tenant: "red", Name: "bob"}
	approved := &toolhostv1.ListApprovalsRequest{Approved: true}
	for name, test := range map[string]struct {
		of   *standings
		req  *toolhostv1.ListApprovalsRequest
		want tool.Kind
	}{
		"no toolhost":           {nil, approved, tool.KindUnsupported},
		"toolhost is gone":      {&standings{err: toolpb.StatusError(tool.Errorf(tool.KindUnavailable, "at /secret/socket"))}, approved, tool.KindUnavailable},
		"toolhost refuses":      {&standings{err: toolpb.StatusError(tool.Errorf(tool.KindDenied, "no"))}, approved, tool.KindDenied},
		"of the calls":          {&standings{}, &toolhostv1.ListApprovalsRequest{}, tool.KindInvalidArgument},
		"of all":                {&standings{}, &toolhostv1.ListApprovalsRequest{Approved: true, AllPrincipals: true}, tool.KindInvalidArgument},
		"for another principal": {&standings{}, &toolhostv1.ListApprovalsRequest{Approved: true, OnBehalfOf: &toolv1.Principal{Tenant: "red", Name: "ada"}}, tool.KindInvalidArgument},
	} {
		if _, err := test.of.reached(t, bob).ListApprovals(t.Context(), test.req); kindOf(err) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
