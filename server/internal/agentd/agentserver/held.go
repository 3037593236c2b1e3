package agentserver

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/client"
	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// HeldCalls has the calls that a toolhost holds until a person decides. *client.Client implements
// it. Errors are *tool.Error. All methods are safe for concurrent use.
type HeldCalls interface {
	InboxPage(ctx context.Context, query client.InboxQuery) (client.InboxPage, error)
	InboxDecision(ctx context.Context, name string) (client.InboxDecision, error)
	Decide(ctx context.Context, request client.DecideRequest) (client.InboxDecision, error)
	ExtendDecision(ctx context.Context, name string, until time.Time) (client.InboxDecision, error)
	WatchInbox(ctx context.Context, watch client.InboxWatch) iter.Seq2[client.InboxChange, error]
}

const (
	// heldPage is the largest number of held calls in a page. With the texts of as many, a page of the
	// decisions of runs is still one that any client of gRPC takes.
	heldPage = 30
	// heldListWait bounds how long a list waits for toolhost. What runs wait for must not wait for it.
	heldListWait = 2 * time.Second
	// heldWait bounds how long one decision waits for toolhost, which also writes its audit log.
	heldWait = 10 * time.Second

	heldPrefix = "calls/"
	ended      = "-" // in the place of a page token: the source has no more pages
)

// isHeld reports whether a name is that of a call that toolhost holds. A run can have the name
// calls, so the ids of its decisions, which are short, are excluded.
func isHeld(name string) bool {
	id, ok := strings.CutPrefix(name, heldPrefix)
	return ok && len(id) >= 16 && !strings.Contains(id, "/")
}

// asCaller returns the context for requests to toolhost in the name of the caller of an RPC.
// toolhost decides what the caller may do, and takes its groups as agentd has verified them. agentd
// names the caller always: without a name, toolhost would decide by the rights of agentd.
func asCaller(ctx context.Context) (context.Context, error) {
	caller, _ := identity.FromContext(ctx)
	if caller.Name == "" {
		return nil, tool.Errorf(tool.KindDenied, "the caller has no principal, so it makes no decisions about calls that toolhost holds")
	}
	return client.OnBehalfOf(ctx, client.Principal{Tenant: caller.Tenant, Name: caller.Name, Groups: caller.Groups}), nil
}

// seesHeld reports whether the caller may see a held call by the rights that it has at agentd.
// toolhost does not know the credential of the caller, whose limits count, too.
func seesHeld(ctx context.Context, d *client.InboxDecision) bool {
	caller, _ := identity.FromContext(ctx)
	return isHeld(d.Name) && authz.FromContext(ctx).InScope(d.Tool) && (d.Principal == caller.Key() ||
		slices.ContainsFunc(decisionRights, func(right authz.Right) bool { return may(ctx, right, identity.TenantOf(d.Principal)) }))
}

// heldPart is the part of a page that toolhost holds.
type heldPart struct {
	list        []*decisionv1.Decision
	next        string   // the token of the next page, or ended
	position    string   // as decisionWatch.heldAt
	unavailable []string // why calls are missing
}

// listHeld returns the held calls of a page that the caller may see.
func (s *decisions) listHeld(ctx context.Context, req *decisionv1.ListDecisionsRequest, token string) (part heldPart, err error) {
	part.next = ended
	caller, _ := identity.FromContext(ctx)
	if why := s.refusals.of(caller.Key()); why != "" {
		part.unavailable = []string{why}
		return part, nil
	}
	limited, cancel := context.WithTimeout(ctx, heldListWait)
	defer cancel()
	named, err := asCaller(limited)
	if err != nil {
		return part, nil
	}
	page, err := s.held.InboxPage(named, client.InboxQuery{
		InboxFilter: client.InboxFilter{Tenants: req.GetTenants()}, PageSize: min(cmp.Or(int(req.GetPageSize()), heldPage), heldPage), PageToken: token,
	})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return part, tool.AsError(ctx.Err())
	case tool.KindOf(err) == tool.KindInvalidArgument && token != "":
		return part, err
	case tool.KindOf(err) == tool.KindUnsupported: // it holds no calls
		part.position = ended
		return part, nil
	default:
		why := "the calls that the toolhost of agentd holds are missing: " + whyMissing(err)
		if tool.KindOf(err) == tool.KindDenied {
			s.refusals.add(caller.Key(), why)
		}
		part.unavailable = []string{why}
		return part, nil
	}
	part.position, part.next = page.Position, cmp.Or(page.NextPageToken, ended)
	for i := range page.Decisions {
		if d := &page.Decisions[i]; len(part.list) < heldPage && seesHeld(ctx, d) {
			part.list = append(part.list, fromHeld(ctx, d))
		}
	}
	return part, nil
}

const (
	refusalLife = 15 * time.Second
	maxRefusals = 1000
)

// refusals are the callers for whom toolhost has just refused a list. toolhost writes each refusal
// to its audit log, and whoever follows a list asks each second.
type refusals struct {
	mu  sync.Mutex
	why map[string]refusal // by the key of the caller
}

type refusal struct {
	why  string
	ends time.Time
}

// of returns why toolhost has refused; empty: it may be asked.
func (r *refusals) of(caller string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := r.why[caller]; time.Now().Before(last.ends) {
		return last.why
	}
	delete(r.why, caller)
	return ""
}

func (r *refusals) add(caller, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why == nil || len(r.why) >= maxRefusals {
		r.why = map[string]refusal{}
	}
	r.why[caller] = refusal{why, time.Now().Add(refusalLife)}
}

// whyMissing returns why toolhost has not answered. Callers learn which right is missing, and not
// where toolhost is.
func whyMissing(err error) string {
	switch kind := tool.KindOf(err); kind {
	case tool.KindDenied, tool.KindInvalidArgument, tool.KindRateLimited:
		return err.Error()
	case tool.KindTimeout:
		return fmt.Sprintf("it did not answer within %v", heldListWait)
	default:
		return fmt.Sprintf("it cannot be asked now (%s)", kind)
	}
}

// getHeld returns a held call that the caller may see at both servers, or KindNotFound. ctx is for
// requests of the caller.
func (s *decisions) getHeld(ctx context.Context, name string) (client.InboxDecision, error) {
	d, err := s.held.InboxDecision(ctx, name)
	if err == nil && (d.Name != name || !seesHeld(ctx, &d)) {
		err = tool.Errorf(tool.KindNotFound, "there is no decision %s, or not any more", loop.Clip(name))
	}
	return d, s.ofHeld(ctx, name, err)
}

// ofHeld returns an error of toolhost for the caller of agentd.
func (s *decisions) ofHeld(ctx context.Context, name string, err error) error {
	switch tool.KindOf(err) {
	case tool.KindUnavailable, tool.KindTimeout:
		return tool.Errorf(tool.KindUnavailable, "the toolhost of agentd, which holds the call, does not answer; look at the decision again before you repeat the request")
	}
	return s.refuse(ctx, name, err)
}

// decideHeld passes a verdict on to toolhost as that of the caller. The caller needs the rights of
// both servers: a credential that makes no decisions at agentd makes none here.
func (s *decisions) decideHeld(ctx context.Context, req *decisionv1.DecideRequest, verdict loop.Verdict) (*decisionv1.DecideResponse, error) {
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
	if why := whyNotHeld(ctx, &d, verdict == loop.VerdictApprove); why != "" {
		return nil, s.refuse(ctx, d.Name, tool.Errorf(tool.KindDenied, "the caller may not decide about the call: %s", why))
	}
	made, err := s.held.Decide(ctx, client.DecideRequest{
		Name: d.Name, Etag: req.GetEtag(), Verdict: client.Verdict(verdict), Text: req.GetText(), Arguments: req.GetArguments(),
		RequestID: req.GetRequestId(), DecidedBy: req.GetDecidedByName(),
	})
	if err != nil {
		return nil, s.ofHeld(ctx, d.Name, err)
	}
	return &decisionv1.DecideResponse{Decision: fromHeld(ctx, &made)}, nil
}

// whyNotHeld returns why the caller cannot approve or reject a held call by the rights that it has
// at agentd; empty if it can.
func whyNotHeld(ctx context.Context, d *client.InboxDecision, approve bool) string {
	caller, _ := identity.FromContext(ctx)
	switch {
	case caller.Scope != nil && len(caller.Scope.Tools) > 0:
		return limitedToken
	case (approve || d.Principal != caller.Key()) && !may(ctx, authz.RunsApprove, identity.TenantOf(d.Principal)):
		return "this needs the right " + string(authz.RunsApprove) + " at agentd"
	}
	return ""
}

func fromHeld(ctx context.Context, d *client.InboxDecision) *decisionv1.Decision {
	m := &decisionv1.Decision{
		Name: d.Name, State: decisionv1.DecisionState_DECISION_STATE_WAITING, RunId: d.RunID, Tenant: d.Tenant, Principal: d.Principal, CallId: d.CallID,
		Tool: d.Tool, DisplayName: d.DisplayName, Plugin: d.Plugin, Arguments: string(d.Arguments), Reason: d.Reason, Rule: d.Rule, FourEyes: d.FourEyes,
		ApproverGroups: d.ApproverGroups, Cut: d.Cut, RequestTime: toolpb.FromTime(d.Requested), ExpireTime: toolpb.FromTime(d.Expires),
		Etag: d.Etag, Agent: d.Agent, Session: d.Session, Context: d.Context,
	}
	if d.Kind == client.DecideApproval {
		m.Kind = decisionv1.DecisionKind_DECISION_KIND_APPROVAL
	}
	if d.Waiting {
		m.NotAllowed = cmp.Or(whyNotHeld(ctx, d, true), d.NotAllowed)
		return m
	}
	m.State, m.DecideTime = decisionv1.DecisionState_DECISION_STATE_WITHDRAWN, toolpb.FromTime(d.MadeTime)
	for verdict, name := range map[decisionv1.Verdict]client.Verdict{
		decisionv1.Verdict_VERDICT_APPROVE: client.Approve, decisionv1.Verdict_VERDICT_REJECT: client.Reject, decisionv1.Verdict_VERDICT_EXPIRED: client.Expired,
	} {
		if d.Made.Verdict == name {
			m.State, m.Verdict = decisionv1.DecisionState_DECISION_STATE_MADE, verdict
		}
	}
	m.DecidedBy, m.DecidedByName, m.Text = d.Made.Principal, d.Made.DecidedBy, d.Made.Text
	return m
}

// byEnd returns the decisions of runs in their order with the held calls among them: each before
// the first decision that ends later.
func byEnd(runs, held []*decisionv1.Decision) []*decisionv1.Decision {
	all := make([]*decisionv1.Decision, 0, len(runs)+len(held))
	for _, d := range runs {
		for len(held) > 0 && held[0].GetExpireTime() != nil && (d.GetExpireTime() == nil || held[0].GetExpireTime().AsTime().Before(d.GetExpireTime().AsTime())) {
			all, held = append(all, held[0]), held[1:]
		}
		all = append(all, d)
	}
	return append(all, held...)
}
