package client

import (
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

func fromStanding(s *StandingChoice) *agentdv1.StandingChoice {
	if s == nil {
		return nil
	}
	m := &agentdv1.StandingChoice{AnyArguments: s.AnyArguments, ExpireTime: toolpb.FromTime(s.Expires)}
	switch s.Scope {
	case tool.ScopeRun:
		m.Scope = agentdv1.StandingScope_STANDING_SCOPE_RUN
	case tool.ScopeSession:
		m.Scope = agentdv1.StandingScope_STANDING_SCOPE_SESSION
	case tool.ScopePrincipal:
		m.Scope = agentdv1.StandingScope_STANDING_SCOPE_PRINCIPAL
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

func toStanding(m *agentdv1.StandingChoice) *StandingChoice {
	if m == nil {
		return nil
	}
	s := &StandingChoice{
		Scope: tool.ApprovalScope(enumName(m.GetScope().String(), "STANDING_SCOPE_")), AnyArguments: m.GetAnyArguments(), Expires: toolpb.ToTime(m.GetExpireTime()),
	}
	if m.GetScope() == agentdv1.StandingScope_STANDING_SCOPE_UNSPECIFIED {
		s.Scope = ""
	}
	for _, p := range m.GetPatterns() {
		s.Patterns = append(s.Patterns, tool.ArgumentPattern{Argument: p.GetArgument(), PathPrefix: p.GetPathPrefix(), Origin: p.GetOrigin(), Any: p.GetAny()})
	}
	return s
}

func toOffers(list []*agentdv1.StandingChoice) (offers []StandingChoice) {
	for _, m := range list {
		offers = append(offers, *toStanding(m))
	}
	return offers
}
