package agentserver

import (
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

var scopes = map[agentdv1.StandingScope]tool.ApprovalScope{
	agentdv1.StandingScope_STANDING_SCOPE_RUN:       tool.ScopeRun,
	agentdv1.StandingScope_STANDING_SCOPE_SESSION:   tool.ScopeSession,
	agentdv1.StandingScope_STANDING_SCOPE_PRINCIPAL: tool.ScopePrincipal,
}

// fromStanding returns the choice of a standing approval as a message; nil for nil.
func fromStanding(s *loop.Standing) *agentdv1.StandingChoice {
	if s == nil {
		return nil
	}
	m := &agentdv1.StandingChoice{AnyArguments: s.AnyArguments, ExpireTime: toolpb.FromTime(s.Expires)}
	for number, scope := range scopes {
		if scope == s.Scope {
			m.Scope = number
		}
	}
	for _, p := range s.Patterns {
		pattern := &agentdv1.StandingPattern{Argument: p.Argument}
		switch {
		case p.PathPrefix != "":
			pattern.Form = &agentdv1.StandingPattern_PathPrefix{PathPrefix: p.PathPrefix}
		case p.Origin != "":
			pattern.Form = &agentdv1.StandingPattern_Origin{Origin: p.Origin}
		case p.Any:
			pattern.Form = &agentdv1.StandingPattern_Any{Any: true}
		}
		m.Patterns = append(m.Patterns, pattern)
	}
	return m
}

// toStanding returns the choice of a standing approval; nil for nil. A scope that this version does
// not know is empty, which no decision accepts.
func toStanding(m *agentdv1.StandingChoice) *loop.Standing {
	if m == nil {
		return nil
	}
	s := &loop.Standing{Scope: scopes[m.GetScope()], AnyArguments: m.GetAnyArguments(), Expires: toolpb.ToTime(m.GetExpireTime())}
	for _, p := range m.GetPatterns() {
		s.Patterns = append(s.Patterns, tool.ArgumentPattern{Argument: p.GetArgument(), PathPrefix: p.GetPathPrefix(), Origin: p.GetOrigin(), Any: p.GetAny()})
	}
	return s
}

func fromOffers(offers []loop.Standing) (list []*agentdv1.StandingChoice) {
	for i := range offers {
		list = append(list, fromStanding(&offers[i]))
	}
	return list
}

func fromStandingApproved(p *loop.StandingApproved) *agentdv1.StandingApproved {
	m := &agentdv1.StandingApproved{
		DecisionId: p.DecisionID, CallId: p.CallID, Tool: p.Tool, ApprovalId: p.ApprovalID, Approver: p.Approver, ExpireTime: toolpb.FromTime(p.Expires),
	}
	if p.Failure != nil {
		m.Error = toolpb.FromError(p.Failure.AsError(p.CallID))
	}
	return m
}
