package client

import (
	"context"
	"encoding/json"
	"iter"
	"math"
	"time"

	"google.golang.org/grpc"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
)

// InboxDecision is a decision that a run of any principal, or a call that toolhost holds, waits for
// or has waited for. All of it but Rule is what a model, a tool or a caller wrote: escape it.
type InboxDecision struct {
	// Name is RUN/DECISION, or calls/ID of a call that toolhost holds, for InboxDecision.
	Name string
	// PendingDecision has the decision. ID is for Decision.ID with AgentClient.Respond of RunID.
	// StandingOffers are never set, and AgentClient.Inbox does not set Schema and Diff.
	PendingDecision
	ParentRunID string // the run of which RunID is a sub-run; empty: it is none
	Tenant      string
	Principal   string // the key of the principal that the run or the call belongs to; may be empty
	// Agent and Session are those of a call that toolhost holds. They are empty for a run.
	Agent, Session string
	// Context has the values of the caller's context on which a held call depends, a JSON object:
	// those that the tool gets, and those that rules read. Empty: there are none.
	Context string
	// Cut is whether Arguments or Reason are not whole, or Options, Schema or Diff are left out.
	// AgentClient.InboxDecision has the whole.
	Cut bool
	// NotAllowed is why this client cannot make the decision now. Empty means that it can.
	NotAllowed string
	// Waiting is whether the run waits for the decision. If not, Made is the decision that was made;
	// its Verdict is empty if there was none, such as because the run was cancelled.
	Waiting bool
	Made    DecisionMade
	// MadeTime is when the decision was made.
	MadeTime time.Time
	// Etag is the digest of what the person sees, for DecideRequest.Etag. AgentClient.Inbox does not
	// set it, because it does not return the whole. Empty if the decision does not wait.
	Etag string
}

// InboxFilter selects decisions. The zero value selects all that the client may see.
type InboxFilter struct {
	Tenants []string // only those of the runs and calls of these tenants
}

// InboxQuery selects one page of decisions. The zero value is the first page of all.
type InboxQuery struct {
	InboxFilter
	// PageSize is the number of decisions after which the page ends. It can have more or fewer. 0: the
	// server chooses.
	PageSize  int
	PageToken string // the next token of the page before; empty: the first page
}

// InboxPage is one page of decisions.
type InboxPage struct {
	Decisions     []InboxDecision
	NextPageToken string // empty: this is the last page
	// Unavailable has one text for each source that did not answer, so that its decisions are missing:
	// the toolhost of an agentd. Escape it.
	Unavailable []string
	// Position is the InboxWatch.Position of a watch that goes on after the first page: it yields what
	// changes, and not what waits already. Empty on other pages, and by a server of before.
	Position string
}

// Inbox returns the decisions that wait for a person: those of the runs that the client may see,
// and the calls that agentd's toolhost holds and the client may see. The run whose decision ends
// first comes first, and a held call by its end within a page. Each decision comes once. InboxPage
// says in addition whether the toolhost has answered. Errors: unsupported by an agentd of before.
func (a *AgentClient) Inbox(ctx context.Context, filter InboxFilter) iter.Seq2[InboxDecision, error] {
	return allPages(ctx, filter, a.InboxPage)
}

// InboxPage returns one page of what Inbox returns. Errors: those of Inbox; invalid_argument for a
// token that the server did not give out.
func (a *AgentClient) InboxPage(ctx context.Context, query InboxQuery) (InboxPage, error) {
	return inboxPage(ctx, a.link, &decisionv1.ListDecisionsRequest{}, query)
}

func inboxPage(ctx context.Context, l link.Route, request *decisionv1.ListDecisionsRequest, query InboxQuery) (InboxPage, error) {
	request.Tenants, request.PageSize, request.PageToken = query.Tenants, int32(min(query.PageSize, math.MaxInt32)), query.PageToken
	resp, err := link.Invoke(ctx, l, func(conn grpc.ClientConnInterface) (*decisionv1.ListDecisionsResponse, error) {
		return decisionv1.NewDecisionServiceClient(conn).ListDecisions(ctx, request)
	})
	if err != nil {
		return InboxPage{}, err
	}
	page := InboxPage{NextPageToken: resp.GetNextPageToken(), Unavailable: resp.GetUnavailable(), Position: resp.GetPosition()}
	for _, m := range resp.GetDecisions() {
		page.Decisions = append(page.Decisions, toInboxDecision(m))
	}
	return page, nil
}

func allPages(ctx context.Context, filter InboxFilter, read func(context.Context, InboxQuery) (InboxPage, error)) iter.Seq2[InboxDecision, error] {
	return func(yield func(InboxDecision, error) bool) {
		query := InboxQuery{InboxFilter: filter}
		for {
			page, err := read(ctx, query)
			if err != nil {
				yield(InboxDecision{}, err)
				return
			}
			for _, d := range page.Decisions {
				if !yield(d, nil) {
					return
				}
			}
			if query.PageToken = page.NextPageToken; query.PageToken == "" {
				return
			}
		}
	}
}

// InboxDecision returns one decision as a whole, also after it was made. Errors: not_found;
// unavailable for a held call while agentd's toolhost does not answer.
func (a *AgentClient) InboxDecision(ctx context.Context, name string) (InboxDecision, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*decisionv1.GetDecisionResponse, error) {
		return decisionv1.NewDecisionServiceClient(conn).GetDecision(ctx, &decisionv1.GetDecisionRequest{Name: name})
	})
	if err != nil {
		return InboxDecision{}, err
	}
	return toInboxDecision(resp.GetDecision()), nil
}

// ExtendDecision lets a decision wait until a time, at most 7 days after it was requested, and
// returns it as it waits now. A time that is not after its end changes nothing. Who may approve or
// answer may extend, also where the rule has four eyes. Errors: not_found; conflict if the decision
// was made before, has ended or has no end; invalid_argument for a time that is not possible;
// denied if the client may not extend; unsupported by an agentd of before.
func (a *AgentClient) ExtendDecision(ctx context.Context, name string, until time.Time) (InboxDecision, error) {
	return extendDecision(ctx, a.link, &decisionv1.ExtendDecisionRequest{Name: name, ExpireTime: toolpb.FromTime(until)})
}

func extendDecision(ctx context.Context, l link.Route, request *decisionv1.ExtendDecisionRequest) (InboxDecision, error) {
	resp, err := link.Invoke(ctx, l, func(conn grpc.ClientConnInterface) (*decisionv1.ExtendDecisionResponse, error) {
		return decisionv1.NewDecisionServiceClient(conn).ExtendDecision(ctx, request)
	})
	if err != nil {
		return InboxDecision{}, err
	}
	return toInboxDecision(resp.GetDecision()), nil
}

// MadePage returns one page of what the client has decided in runs, the newest first. Tenants of
// the query are ignored, and Unavailable of the page is never set. Arguments are those that were
// approved. Errors: invalid_argument for a token that the server did not give out; unsupported by
// an agentd of before.
func (a *AgentClient) MadePage(ctx context.Context, query InboxQuery) (InboxPage, error) {
	request := &decisionv1.ListMadeDecisionsRequest{PageSize: int32(min(query.PageSize, math.MaxInt32)), PageToken: query.PageToken}
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*decisionv1.ListMadeDecisionsResponse, error) {
		return decisionv1.NewDecisionServiceClient(conn).ListMadeDecisions(ctx, request)
	})
	if err != nil {
		return InboxPage{}, err
	}
	page := InboxPage{NextPageToken: resp.GetNextPageToken()}
	for _, m := range resp.GetDecisions() {
		page.Decisions = append(page.Decisions, toInboxDecision(m))
	}
	return page, nil
}

func toInboxDecision(m *decisionv1.Decision) InboxDecision {
	d := InboxDecision{
		Name: m.GetName(), ParentRunID: m.GetParentRunId(), Tenant: m.GetTenant(), Principal: m.GetPrincipal(), Cut: m.GetCut(), NotAllowed: m.GetNotAllowed(),
		Agent: m.GetAgent(), Session: m.GetSession(), Context: m.GetContext(),
		Waiting: m.GetState() == decisionv1.DecisionState_DECISION_STATE_WAITING, MadeTime: toolpb.ToTime(m.GetDecideTime()),
		Etag: m.GetEtag(),
		PendingDecision: PendingDecision{
			ID: m.GetDecisionId(), Kind: DecisionKind(enumName(m.GetKind().String(), "DECISION_KIND_")), CallID: m.GetCallId(), Tool: m.GetTool(),
			DisplayName: m.GetDisplayName(), Arguments: json.RawMessage(m.GetArguments()), Reason: m.GetReason(), Options: m.GetOptions(), Rule: m.GetRule(),
			Requested: toolpb.ToTime(m.GetRequestTime()), Expires: toolpb.ToTime(m.GetExpireTime()), RunID: m.GetRunId(), FourEyes: m.GetFourEyes(),
			ApproverGroups: m.GetApproverGroups(),
			Plugin:         m.GetPlugin(), Schema: json.RawMessage(m.GetSchema()), Diff: m.GetDiff(),
		},
	}
	if m.GetVerdict() != decisionv1.Verdict_VERDICT_UNSPECIFIED {
		d.Made = DecisionMade{
			ID: d.ID, Verdict: Verdict(enumName(m.GetVerdict().String(), "VERDICT_")), Text: m.GetText(), DecidedBy: m.GetDecidedByName(), Principal: m.GetDecidedBy(),
		}
	}
	return d
}
