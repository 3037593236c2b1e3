package agentserver

import (
	"time"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

func fromPending(p *loop.Pending) *agentdv1.PendingDecision {
	m := fromRequested(&p.DecisionRequested, p.Requested)
	m.Arguments, m.RunId = []byte(p.Arguments), p.RunID
	return m
}

func fromRequested(p *loop.DecisionRequested, at time.Time) *agentdv1.PendingDecision {
	m := &agentdv1.PendingDecision{
		DecisionId: p.ID, Kind: fromDecisionKind(p.Kind), CallId: p.CallID, Tool: p.Tool, Reason: p.Reason, Options: p.Options,
		Rule: p.Rule, RequestTime: toolpb.FromTime(at), Arguments: p.Final, DisplayName: p.DisplayName, FourEyes: p.FourEyes, ApproverGroups: p.Approvers,
		Schema: p.Schema, Diff: p.Diff, StandingOffers: fromOffers(p.Offers),
	}
	if p.Question != nil {
		m.Plugin, m.Schema = p.Question.Plugin, p.Question.Schema
	}
	if p.Expiry > 0 {
		m.ExpireTime = toolpb.FromTime(at.Add(p.Expiry))
	}
	return m
}

func fromDecisionKind(k loop.DecisionKind) agentdv1.DecisionKind {
	switch k {
	case loop.DecideApproval:
		return agentdv1.DecisionKind_DECISION_KIND_APPROVAL
	case loop.DecideQuestion:
		return agentdv1.DecisionKind_DECISION_KIND_QUESTION
	case loop.DecideOutcome:
		return agentdv1.DecisionKind_DECISION_KIND_OUTCOME
	case loop.DecidePause:
		return agentdv1.DecisionKind_DECISION_KIND_PAUSE
	case loop.DecideTool:
		return agentdv1.DecisionKind_DECISION_KIND_TOOL
	}
	return agentdv1.DecisionKind_DECISION_KIND_UNSPECIFIED
}

func fromMade(p *loop.DecisionMade) *agentdv1.DecisionMade {
	m := &agentdv1.DecisionMade{DecisionId: p.ID, Arguments: p.Arguments, Text: p.Text, DecidedBy: p.By, Principal: p.Principal, Standing: fromStanding(p.Standing)}
	switch p.Verdict {
	case loop.VerdictApprove:
		m.Verdict = agentdv1.Verdict_VERDICT_APPROVE
	case loop.VerdictReject:
		m.Verdict = agentdv1.Verdict_VERDICT_REJECT
	case loop.VerdictAnswer:
		m.Verdict = agentdv1.Verdict_VERDICT_ANSWER
	case loop.VerdictExpired:
		m.Verdict = agentdv1.Verdict_VERDICT_EXPIRED
	}
	return m
}
