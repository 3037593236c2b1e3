package agentserver

import (
	"cmp"
	"context"
	"slices"
	"strings"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// decisions implements DecisionService for the decisions that runs wait for, and for the calls that
// toolhost holds.
type decisions struct {
	decisionv1.UnimplementedDecisionServiceServer
	*service
	held     HeldCalls // nil: none
	refusals refusals
	watches  *tally // of each principal
	feeds    feeds

	heldWatches *heldWatches
	drain       <-chan struct{}
}

// decisionRights let a caller see the decisions of runs of others. Who may approve calls has to see
// them, but not the conversations.
var decisionRights = []authz.Right{authz.RunsList, authz.RunsApprove}

func (s *decisions) ListDecisions(ctx context.Context, req *decisionv1.ListDecisionsRequest) (*decisionv1.ListDecisionsResponse, error) {
	if req.GetPageSize() < 0 {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the page size %d is negative", req.GetPageSize())
	}
	runsAt, heldAt, both := strings.Cut(req.GetPageToken(), ",")
	if s.held == nil || req.GetPageToken() != "" && !both {
		heldAt = ended
	}
	resp := &decisionv1.ListDecisionsResponse{}
	first, position, heldPosition := req.GetPageToken() == "", int64(0), ""
	if first { // what changes while the page is read comes with the position
		var err error
		if position, err = s.present(ctx); err != nil {
			return nil, err
		}
	}
	if runsAt != ended {
		var err error
		if resp.Decisions, runsAt, err = s.listOfRuns(ctx, req, runsAt); err != nil {
			return nil, err
		}
	}
	if heldAt != ended {
		held, err := s.listHeld(ctx, req, heldAt)
		if err != nil {
			return nil, err
		}
		resp.Decisions, resp.Unavailable, heldAt, heldPosition = byEnd(resp.GetDecisions(), held.list), held.unavailable, held.next, held.position
	}
	if first {
		caller, _ := identity.FromContext(ctx)
		resp.Position = positionOf(watchOf(caller.Key(), req.GetTenants()), position, heldPosition)
	}
	switch {
	case heldAt != ended:
		resp.NextPageToken = cmp.Or(runsAt, ended) + "," + heldAt
	case runsAt != ended:
		resp.NextPageToken = runsAt
	}
	return resp, nil
}

// listOfRuns returns a page of the decisions that runs wait for and that the caller may see.
func (s *decisions) listOfRuns(ctx context.Context, req *decisionv1.ListDecisionsRequest, token string) (list []*decisionv1.Decision, next string, err error) {
	query, ok := queryOf(ctx, req.GetTenants())
	if !ok {
		return nil, "", nil
	}
	query.Size, query.Token = int(req.GetPageSize()), token
	found, next, err := s.agent.ListDecisions(ctx, query)
	for i := range found {
		list = append(list, s.fromDecision(ctx, &found[i]))
	}
	return list, next, err
}

// queryOf returns the query for the decisions of runs that a caller may see. ok is false if there
// are none.
func queryOf(ctx context.Context, of []string) (query agent.DecisionQuery, ok bool) {
	caller, _ := identity.FromContext(ctx)
	wanted := func(tenant string) bool { return len(of) == 0 || slices.Contains(of, tenant) }
	var tenants []string
	all := false
	for _, right := range decisionRights {
		in, everywhere := gate.PolicyOf(ctx).Tenants(caller, right)
		tenants, all = append(tenants, in...), all || everywhere
	}
	if all {
		query.Tenants = of
		return query, true
	}
	slices.Sort(tenants)
	query.Tenants = slices.DeleteFunc(slices.Compact(tenants), func(name string) bool { return !wanted(name) })
	if own := cmp.Or(caller.Tenant, identity.DefaultTenant); wanted(own) && !slices.Contains(query.Tenants, own) {
		query.Principal = caller.Key()
	}
	return query, len(query.Tenants) > 0 || query.Principal != ""
}

func (s *decisions) GetDecision(ctx context.Context, req *decisionv1.GetDecisionRequest) (*decisionv1.GetDecisionResponse, error) {
	if s.held != nil && isHeld(req.GetName()) {
		ctx, cancel := context.WithTimeout(ctx, heldWait)
		defer cancel()
		ctx, err := asCaller(ctx)
		if err != nil {
			return nil, err
		}
		d, err := s.getHeld(ctx, req.GetName())
		if err != nil {
			return nil, err
		}
		return &decisionv1.GetDecisionResponse{Decision: fromHeld(ctx, &d)}, nil
	}
	runID, id := loop.SplitRef(req.GetName())
	if runID == "" || id == "" {
		return nil, noDecision(req.GetName())
	}
	at, err := s.reach(ctx, runID, decisionRights...)
	if err != nil {
		return nil, err
	}
	d, err := s.agent.Decision(ctx, at.runID, id)
	if err != nil {
		return nil, err
	}
	return &decisionv1.GetDecisionResponse{Decision: s.fromDecision(ctx, &d)}, nil
}

func (s *decisions) Decide(ctx context.Context, req *decisionv1.DecideRequest) (*decisionv1.DecideResponse, error) {
	if err := s.mayDrive(ctx); err != nil {
		return nil, err
	}
	runID, id := loop.SplitRef(req.GetName())
	verdict, known := verdicts[req.GetVerdict()]
	switch {
	case runID == "" || id == "":
		return nil, noDecision(req.GetName())
	case req.GetEtag() == "":
		return nil, tool.Errorf(tool.KindInvalidArgument, "the request has no etag; repeat that of the decision that the person has seen, which GetDecision returns")
	case !known:
		return nil, tool.Errorf(tool.KindInvalidArgument, "the verdict %s cannot be given; use APPROVE, REJECT or ANSWER", req.GetVerdict())
	case len(req.GetArguments()) > 0 && verdict != loop.VerdictApprove:
		return nil, tool.Errorf(tool.KindInvalidArgument, "only an approval takes other arguments")
	}
	if err := checkWords(req.GetText(), req.GetDecidedByName()); err != nil {
		return nil, err
	}
	if s.held != nil && isHeld(req.GetName()) {
		return s.decideHeld(ctx, req, verdict)
	}
	at, err := s.reach(ctx, runID, authz.RunsApprove)
	if err != nil {
		return nil, err
	}
	caller, _ := identity.FromContext(ctx)
	made := loop.DecisionMade{
		ID: id, Verdict: verdict, Text: req.GetText(), By: req.GetDecidedByName(), Principal: caller.Key(), Groups: s.groupsOf(caller), RequestID: req.GetRequestId(), Arguments: req.GetArguments(),
	}
	var d agent.Decision
	if err = s.mayDecide(ctx, at, []loop.DecisionMade{made}); err == nil {
		d, err = s.agent.Decide(ctx, at.runID, req.GetEtag(), made)
	} else if tool.KindOf(err) == tool.KindNotFound { // it does not wait: say why
		if before, unread := s.agent.Decision(ctx, at.runID, id); unread == nil && !before.Waits {
			d, err = before, before.Repeats(&made)
		}
	}
	if err != nil {
		return nil, err
	}
	return &decisionv1.DecideResponse{Decision: s.fromDecision(ctx, &d)}, nil
}

// The bounds of what a person writes about a decision: the journal keeps it, and a model or another
// person reads it. An answer may be long.
const maxWords, maxDecider = 64 << 10, 256

// checkWords returns an error if the text of a decision or the name of who made it is too long.
func checkWords(text, by string) error {
	switch {
	case len(text) > maxWords:
		return tool.Errorf(tool.KindInvalidArgument, "the text of the decision has %d bytes; it may have %d", len(text), maxWords)
	case len(by) > maxDecider:
		return tool.Errorf(tool.KindInvalidArgument, "the name of who decides has %d bytes; it may have %d", len(by), maxDecider)
	}
	return nil
}

const limitedToken = "the token is limited to some tools, and makes no decisions"

// groupsOf returns the groups of a caller for a decision.
func (s *service) groupsOf(caller identity.Principal) []string {
	if s.foreground {
		return nil
	}
	return append([]string{}, caller.Groups...) // not nil: they are known
}

// verdicts has the verdicts that a person can give.
var verdicts = map[decisionv1.Verdict]loop.Verdict{
	decisionv1.Verdict_VERDICT_APPROVE: loop.VerdictApprove, decisionv1.Verdict_VERDICT_REJECT: loop.VerdictReject, decisionv1.Verdict_VERDICT_ANSWER: loop.VerdictAnswer,
}

func noDecision(name string) error {
	return tool.Errorf(tool.KindInvalidArgument, "the name %q is not that of a decision, which is RUN/DECISION, or calls/ID of a call that toolhost holds", loop.Clip(name))
}

func (s *decisions) fromDecision(ctx context.Context, d *agent.Decision) *decisionv1.Decision {
	runID := named(ctx, d.Run.ID)
	m := &decisionv1.Decision{
		Name: loop.DecisionRef(runID, d.ID), Kind: decisionv1.DecisionKind(fromDecisionKind(d.Kind)), State: decisionv1.DecisionState_DECISION_STATE_WAITING,
		RunId: runID, DecisionId: d.ID, Tenant: agent.TenantOf(d.Run.ID), Principal: d.Run.Principal, CallId: d.CallID, Tool: d.Tool,
		DisplayName: d.DisplayName, Arguments: validText(d.Arguments), Reason: d.Reason, Options: d.Options, Rule: d.Rule, FourEyes: d.FourEyes, ApproverGroups: d.Approvers,
		Schema: validText(string(d.Schema)), Diff: d.Diff, Cut: d.Cut, RequestTime: toolpb.FromTime(d.Requested), ExpireTime: toolpb.FromTime(d.Expires),
	}
	if p := d.Run.Parent; p != nil {
		m.ParentRunId = named(ctx, p.RunID)
	}
	if d.Question != nil {
		m.Plugin, m.Schema = d.Question.Plugin, validText(string(d.Question.Schema))
	}
	switch {
	case d.Waits:
		m.NotAllowed = s.whyNot(ctx, d)
		if !d.Brief {
			m.Etag = d.Etag()
		}
	case d.Made == nil:
		m.State = decisionv1.DecisionState_DECISION_STATE_WITHDRAWN
	default:
		made := fromMade(d.Made)
		m.State, m.Verdict, m.DecideTime = decisionv1.DecisionState_DECISION_STATE_MADE, decisionv1.Verdict(made.GetVerdict()), toolpb.FromTime(d.MadeAt)
		m.DecidedBy, m.DecidedByName, m.Text = made.GetPrincipal(), made.GetDecidedBy(), made.GetText()
	}
	return m
}

// validText returns text that gRPC can send. Raw JSON of a model may have other bytes.
func validText(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// whyNot returns why the caller cannot make a decision, other than to reject that of its own run;
// empty if it can. Respond decides again, and by more.
func (s *decisions) whyNot(ctx context.Context, d *agent.Decision) string {
	caller, _ := identity.FromContext(ctx)
	own := s.foreground || caller.Key() != "" && caller.Key() == ownerOr(d.Run.Principal)
	approval := d.Kind == loop.DecideApproval
	switch {
	case caller.Scope != nil && len(caller.Scope.Tools) > 0:
		return limitedToken
	case approval && d.FourEyes && own:
		return "another principal than that of the run has to approve"
	case approval && !s.foreground && !identity.InGroups(caller.Key(), caller.Groups, d.Approvers):
		return "the rule names the groups of the approver, and you are in none of them: " + strings.Join(d.Approvers, ", ")
	case (approval || !own) && !may(ctx, authz.RunsApprove, agent.TenantOf(d.Run.ID)):
		return "this needs the right " + string(authz.RunsApprove)
	}
	return ""
}

// The enumerations of both packages have the same numbers.
var (
	_ = [1]struct{}{}[int(agentdv1.DecisionKind_DECISION_KIND_TOOL)-int(decisionv1.DecisionKind_DECISION_KIND_TOOL)]
	_ = [1]struct{}{}[int(agentdv1.Verdict_VERDICT_EXPIRED)-int(decisionv1.Verdict_VERDICT_EXPIRED)]
)
