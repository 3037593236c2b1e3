package hostserver

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/tool"
)

// The pages of decisions, and the bytes of a text in them.
const (
	defaultDecisionPage = 50
	maxDecisionPage     = 500
	maxListedText       = 4 << 10
)

// Decisions has the calls that wait for a person. Errors are *tool.Error.
type Decisions interface {
	HeldCalls() *held.Store
	DecideHeld(ctx context.Context, v held.Verdict, from string) (held.Decision, error)
	ExtendHeld(ctx context.Context, x held.Extension, from string) (held.Decision, error)
}

// decisionService implements toolhost.decision.v1.DecisionService for the calls that toolhost
// holds. The guard converts errors to statuses.
//
// The program that makes a call is the nearest attacker: it may see its decision and reject it, and
// it must not approve it without the right to approve calls.
type decisionService struct {
	decisionv1.UnimplementedDecisionServiceServer
	tools     *toolService
	decisions Decisions // nil: there are none
	holderOf  func(ctx context.Context, decision string) (label string, gone bool)
}

func (s *decisionService) check() error {
	if s.decisions == nil {
		return tool.Errorf(tool.KindUnsupported, "this toolhost holds no calls")
	}
	return nil
}

// ListDecisions implements toolhost.decision.v1.DecisionService.
func (s *decisionService) ListDecisions(ctx context.Context, req *decisionv1.ListDecisionsRequest) (*decisionv1.ListDecisionsResponse, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if req.GetPageSize() < 0 {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the page size %d is negative", req.GetPageSize())
	}
	after, err := parseDecisionPage(req.GetPageToken())
	if err != nil {
		return nil, err
	}
	decider, err := s.tools.deciderOf(ctx, req.GetOnBehalfOf())
	if err != nil {
		return nil, err
	}
	wanted := tool.Tenants(req.GetTenants())
	resp := &decisionv1.ListDecisionsResponse{}
	if req.GetPageToken() == "" { // what changes while the page is read comes with the position
		resp.Position = watchedPosition(watchOf(decider.key, req.GetTenants()), s.decisions.HeldCalls().Now())
	}
	found := s.decisions.HeldCalls().Waiting(func(d *held.Decision) bool {
		return after.precedes(d) && decider.sees(ctx, d) && (len(wanted) == 0 || wanted.Contain(identity.TenantOf(d.Principal)))
	})
	if size := min(cmp.Or(int(req.GetPageSize()), defaultDecisionPage), maxDecisionPage); len(found) > size {
		found = found[:size]
		resp.NextPageToken = decisionPage{found[size-1].Expires, found[size-1].Name}.token()
	}
	for i := range found {
		resp.Decisions = append(resp.Decisions, decider.listed(&found[i]))
	}
	return resp, nil
}

// GetDecision implements toolhost.decision.v1.DecisionService.
func (s *decisionService) GetDecision(ctx context.Context, req *decisionv1.GetDecisionRequest) (*decisionv1.GetDecisionResponse, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	decider, err := s.tools.deciderOf(ctx, req.GetOnBehalfOf())
	if err != nil {
		return nil, err
	}
	d, err := s.find(ctx, decider, req.GetName())
	if err != nil {
		return nil, err
	}
	return &decisionv1.GetDecisionResponse{Decision: decider.fromDecision(&d)}, nil
}

// Decide implements toolhost.decision.v1.DecisionService.
func (s *decisionService) Decide(ctx context.Context, req *decisionv1.DecideRequest) (*decisionv1.DecideResponse, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	decider, err := s.tools.deciderOf(ctx, req.GetOnBehalfOf())
	if err != nil {
		return nil, err
	}
	d, err := s.find(ctx, decider, req.GetName())
	if err != nil {
		return nil, err
	}
	approve := req.GetVerdict() == decisionv1.Verdict_VERDICT_APPROVE
	switch {
	case !approve && req.GetVerdict() != decisionv1.Verdict_VERDICT_REJECT:
		return nil, tool.Errorf(tool.KindInvalidArgument, "a call is approved or rejected; the verdict says neither")
	case len(req.GetArguments()) > 0:
		return nil, tool.Errorf(tool.KindInvalidArgument, "the arguments of a call that toolhost holds are its caller's; approve them as they are, or reject the call")
	}
	if why := decider.whyNot(&d, approve); why != "" {
		s.tools.guard.gate.Attempt(ctx, decider.refusal(gate.Refusal{Rights: []authz.Right{authz.CallsApprove}, Target: d.Name, Reason: why}))
		return nil, tool.Errorf(tool.KindDenied, "the caller may not decide about the call: %s", why)
	}
	made, err := s.decisions.DecideHeld(ctx, held.Verdict{
		Name: d.Name, Etag: req.GetEtag(), Approve: approve, By: decider.key, Via: decider.via, Groups: decider.who.Groups, ByName: req.GetDecidedByName(), Text: req.GetText(), RequestID: req.GetRequestId(),
	}, decider.caller.who.From)
	if err != nil {
		return nil, err
	}
	return &decisionv1.DecideResponse{Decision: decider.fromDecision(&made)}, nil
}

// ExtendDecision implements toolhost.decision.v1.DecisionService. An extension decides nothing, so
// four eyes do not hold it back.
func (s *decisionService) ExtendDecision(ctx context.Context, req *decisionv1.ExtendDecisionRequest) (*decisionv1.ExtendDecisionResponse, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	decider, err := s.tools.deciderOf(ctx, req.GetOnBehalfOf())
	if err != nil {
		return nil, err
	}
	d, err := s.find(ctx, decider, req.GetName())
	if err != nil {
		return nil, err
	}
	if req.GetExpireTime().CheckValid() != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the request does not say until when the decision shall wait; set expire_time")
	}
	alike := d
	alike.FourEyes = false
	if why := decider.whyNot(&alike, true); why != "" {
		s.tools.guard.gate.Attempt(ctx, decider.refusal(gate.Refusal{Rights: []authz.Right{authz.CallsApprove}, Target: d.Name, Reason: why}))
		return nil, tool.Errorf(tool.KindDenied, "the caller may not extend the decision about the call: %s", why)
	}
	extended, err := s.decisions.ExtendHeld(ctx, held.Extension{Name: d.Name, Expires: req.GetExpireTime().AsTime(), By: decider.key, Via: decider.via}, decider.caller.who.From)
	if err != nil {
		return nil, err
	}
	return &decisionv1.ExtendDecisionResponse{Decision: decider.fromDecision(&extended)}, nil
}

// find returns a decision. One that the principal may not see does not exist for it.
func (s *decisionService) find(ctx context.Context, decider *decider, name string) (held.Decision, error) {
	d, ok := s.decisions.HeldCalls().Get(name)
	if !ok || !decider.sees(ctx, &d) {
		err := s.notFound(ctx, name)
		s.tools.guard.gate.Attempt(ctx, decider.refusal(gate.Refusal{Target: cutID(name), Reason: err.Error()}))
		return held.Decision{}, err
	}
	return d, nil
}

// notFound returns the error for a decision that is not here, or that the principal may not see. If
// the name is that of another toolhost, it says which. A toolhost does not pass decisions on:
// otherwise, who takes one over could approve the calls of all.
func (s *decisionService) notFound(ctx context.Context, name string) *tool.Error {
	if s.holderOf == nil {
		return held.NotFound()
	}
	ctx, cancel := context.WithTimeout(ctx, passTime)
	defer cancel()
	switch label, gone := s.holderOf(ctx, name); {
	case label == "":
		return held.NotFound()
	case gone:
		return tool.Errorf(tool.KindNotFound, "calls of this name were held by the toolhost %s, which is gone: none waits there any more", label)
	default:
		return tool.Errorf(tool.KindNotFound, "calls of this name are held by the toolhost %s; decide there, such as with --addr: toolhosts do not decide for each other", label)
	}
}

// listed returns a decision as lists have it.
func (p *decider) listed(d *held.Decision) *decisionv1.Decision {
	m := p.fromDecision(d)
	cut := func(text string) string {
		if len(text) <= maxListedText {
			return text
		}
		m.Cut = true
		return strings.ToValidUTF8(text[:maxListedText], "")
	}
	m.Arguments, m.Context, m.Reason, m.Etag = cut(m.GetArguments()), cut(m.GetContext()), cut(m.GetReason()), ""
	return m
}

func (p *decider) fromDecision(d *held.Decision) *decisionv1.Decision {
	m := &decisionv1.Decision{
		Name: d.Name, Kind: decisionv1.DecisionKind_DECISION_KIND_APPROVAL, State: decisionv1.DecisionState_DECISION_STATE_WAITING,
		RunId: d.Run, Tenant: identity.TenantOf(d.Principal), Principal: d.Principal, CallId: d.ID, Tool: d.Tool, DisplayName: d.DisplayName,
		Plugin: d.Plugin, Arguments: string(d.Arguments), Reason: d.Reason, Rule: d.Rule, FourEyes: d.FourEyes, ApproverGroups: d.ApproverGroups, Agent: d.Agent, Session: d.Session, Context: d.Context,
		RequestTime: toolpb.FromTime(d.Requested), ExpireTime: toolpb.FromTime(d.Expires),
	}
	if d.State == held.Waiting {
		m.Etag, m.NotAllowed = d.Etag, p.whyNot(d, true)
		return m
	}
	m.State, m.Verdict, m.DecideTime = decisionv1.DecisionState_DECISION_STATE_MADE, verdicts[d.State], toolpb.FromTime(d.Decided)
	m.DecidedBy, m.DecidedByName, m.Text = d.By, d.ByName, d.Text
	return m
}

var verdicts = map[held.State]decisionv1.Verdict{
	held.Approved: decisionv1.Verdict_VERDICT_APPROVE,
	held.Rejected: decisionv1.Verdict_VERDICT_REJECT,
	held.Expired:  decisionv1.Verdict_VERDICT_EXPIRED,
}

// decisionPage is where a page of decisions begins: after this one, which may have been made since.
type decisionPage struct {
	expires time.Time
	name    string
}

func (p decisionPage) token() string {
	return strconv.FormatInt(p.expires.UnixNano(), 36) + "." + p.name
}

func parseDecisionPage(token string) (decisionPage, error) {
	if token == "" {
		return decisionPage{}, nil
	}
	at, name, found := strings.Cut(token, ".")
	nanoseconds, err := strconv.ParseInt(at, 36, 64)
	if !found || err != nil {
		return decisionPage{}, tool.Errorf(tool.KindInvalidArgument, "the page token was not given out; use the next_page_token of the page before, unchanged")
	}
	return decisionPage{time.Unix(0, nanoseconds), name}, nil
}

// precedes reports whether a decision comes after the position.
func (p decisionPage) precedes(d *held.Decision) bool {
	return p.name == "" || cmp.Or(d.Expires.Compare(p.expires), cmp.Compare(d.Name, p.name)) > 0
}
