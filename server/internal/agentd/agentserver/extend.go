package agentserver

import (
	"context"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// ExtendDecision moves the end of a decision. An extension decides nothing, so four eyes do not
// hold it back: the decision still waits for another person than the one of the run.
func (s *decisions) ExtendDecision(ctx context.Context, req *decisionv1.ExtendDecisionRequest) (*decisionv1.ExtendDecisionResponse, error) {
	if err := s.mayDrive(ctx); err != nil {
		return nil, err
	}
	runID, id := loop.SplitRef(req.GetName())
	switch {
	case runID == "" || id == "":
		return nil, noDecision(req.GetName())
	case req.GetExpireTime().CheckValid() != nil:
		return nil, tool.Errorf(tool.KindInvalidArgument, "the request does not say until when the decision shall wait; set expire_time")
	}
	if s.held != nil && isHeld(req.GetName()) {
		return s.extendHeld(ctx, req)
	}
	at, err := s.reach(ctx, runID, authz.RunsApprove)
	if err != nil {
		return nil, err
	}
	d, err := s.agent.Decision(ctx, at.runID, id)
	if err != nil {
		return nil, err
	}
	if why := s.whyNotExtend(ctx, d); why != "" {
		return nil, s.refuse(ctx, req.GetName(), tool.Errorf(tool.KindDenied, "the caller may not extend decision %s: %s", loop.Clip(req.GetName()), why))
	}
	caller, _ := identity.FromContext(ctx)
	d, err = s.agent.Extend(ctx, at.runID, loop.DecisionExtended{ID: id, Expires: req.GetExpireTime().AsTime(), Principal: caller.Key()})
	if err != nil {
		return nil, err
	}
	return &decisionv1.ExtendDecisionResponse{Decision: s.fromDecision(ctx, &d)}, nil
}

// whyNotExtend returns why the caller cannot extend a decision; empty if it can.
func (s *decisions) whyNotExtend(ctx context.Context, d agent.Decision) string {
	d.FourEyes = false
	return s.whyNot(ctx, &d)
}

// extendHeld passes an extension on to toolhost as that of the caller, who needs the rights of both
// servers; see decideHeld.
func (s *decisions) extendHeld(ctx context.Context, req *decisionv1.ExtendDecisionRequest) (*decisionv1.ExtendDecisionResponse, error) {
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
	if why := whyNotHeld(ctx, &d, true); why != "" {
		return nil, s.refuse(ctx, d.Name, tool.Errorf(tool.KindDenied, "the caller may not extend the decision about the call: %s", why))
	}
	if d, err = s.held.ExtendDecision(ctx, d.Name, req.GetExpireTime().AsTime()); err != nil {
		return nil, s.ofHeld(ctx, req.GetName(), err)
	}
	return &decisionv1.ExtendDecisionResponse{Decision: fromHeld(ctx, &d)}, nil
}
