package agentserver

import (
	"cmp"
	"context"
	"os"
	"slices"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// access is what the caller of an RPC may do with one run.
type access struct {
	runID string // with its tenant
	own   bool   // the run belongs to the caller
}

// reach returns the caller's access to a run. The caller needs authz.RunsOwn for a run of its own,
// and one of the other rights, in the tenant of the run, for any other. Without them the run does
// not exist for the caller: the error is that for an unknown id, after the same work.
func (s *service) reach(ctx context.Context, runID string, others ...authz.Right) (access, error) {
	caller, _ := identity.FromContext(ctx)
	a := access{runID: agent.InTenant(caller.Tenant, runID)}
	if s.foreground { // the journal is the caller's, also a broken one
		a.own = true
		return a, nil
	}
	owner, err := s.agent.OwnerOf(ctx, a.runID)
	if err != nil {
		return a, s.refuse(ctx, a.runID, err)
	}
	a.own = caller.Key() != "" && caller.Key() == ownerOr(owner)
	if a.own && may(ctx, authz.RunsOwn, agent.TenantOf(a.runID)) ||
		slices.ContainsFunc(others, func(right authz.Right) bool { return may(ctx, right, agent.TenantOf(a.runID)) }) {
		return a, nil
	}
	return a, s.refuse(ctx, a.runID, agent.NoSuchRun(a.runID))
}

// refuse writes to the audit log that the caller may not do something with a target, and returns
// the error. A run of others and a run that does not exist give the same line, because the time of
// the answer must not tell them apart. refuse ignores errors that say nothing about the caller.
func (s *service) refuse(ctx context.Context, target string, err error) error {
	switch tool.KindOf(err) {
	case tool.KindNotFound, tool.KindDenied:
		s.gate.Attempt(ctx, gate.Refusal{Target: target, Reason: err.Error()})
	}
	return err
}

// ownerOr returns the owner of a run. A run of an earlier version belongs to the user of agentd.
func ownerOr(owner string) string {
	if owner == "" {
		return authn.UserName(os.Getuid())
	}
	return owner
}

func may(ctx context.Context, right authz.Right, tenant string) bool {
	return gate.Decide(ctx, authz.Request{Right: right, Tenant: tenant}).Allowed
}

// mayDecide returns an error if the caller may not make some decisions about a run. A caller
// answers what its own run asks. To approve a call, it needs authz.RunsApprove, also for its own
// run: asking a model to make a call must not be the same as approving the call.
//
// A caller can guess the name of a decision that its run will ask for next. An approval of a
// decision that is not pending here could arrive at the run when the run has just asked for it. So
// mayDecide refuses such an approval.
func (s *service) mayDecide(ctx context.Context, a access, made []loop.DecisionMade) error {
	if may(ctx, authz.RunsApprove, agent.TenantOf(a.runID)) {
		return nil
	}
	for _, d := range made {
		// The decision is looked up in the run that asks for it. Its parent learns of it later.
		runID, id := loop.SplitRef(d.ID)
		asking, err := s.reach(ctx, cmp.Or(runID, a.runID))
		if err != nil {
			return err
		}
		run, err := s.agent.GetRun(ctx, asking.runID)
		if err != nil {
			return err
		}
		switch i := slices.IndexFunc(run.Pending, func(p loop.Pending) bool { return p.RunID == "" && p.ID == id }); {
		case d.Verdict != loop.VerdictApprove:
		case i < 0:
			return tool.Errorf(tool.KindNotFound, "run %s: decision %q is not wanted, or not any more", asking.runID, loop.Clip(id))
		case run.Pending[i].Kind == loop.DecideApproval:
			return s.refuse(ctx, d.ID, tool.Errorf(tool.KindDenied, "approving the call of decision %s needs the right %s; nothing was decided", loop.Clip(d.ID), authz.RunsApprove))
		}
	}
	return nil
}

// mayDrive returns an error if the caller's credential is limited to some tools. toolhost decides
// about the tools of a run by the run's principal, and it does not know the credential. A run of
// such a credential would use tools that the credential excludes. So the credential must not decide
// what a run does.
func (s *service) mayDrive(ctx context.Context) error {
	caller, _ := identity.FromContext(ctx)
	if caller.Scope == nil || len(caller.Scope.Tools) == 0 {
		return nil
	}
	return s.refuse(ctx, "", tool.Errorf(tool.KindDenied, "the token is limited to some tools, and agentd cannot limit a run to them; use a token without --tools"))
}

// mayFollow returns an error if a caller that watches a run may not see further events: a revoked
// credential or a removed binding must not show a run for as long as a stream is open. valid is
// from gate.Recheck.
func (s *service) mayFollow(ctx context.Context, a access, valid func(context.Context) bool) error {
	if valid != nil && !valid(ctx) {
		return tool.Errorf(tool.KindUnavailable, "the credential of this stream is not valid any more")
	}
	tenant := agent.TenantOf(a.runID)
	if a.own && may(ctx, authz.RunsOwn, tenant) || may(ctx, authz.RunsList, tenant) {
		return nil
	}
	return s.refuse(ctx, a.runID, agent.NoSuchRun(a.runID))
}

// scope limits a list of runs to those that the caller may see. It reports whether the caller may
// see runs of any tenant of the query.
func (s *service) scope(ctx context.Context, q *agent.RunQuery) bool {
	caller, _ := identity.FromContext(ctx)
	for _, text := range []*string{&q.Token, &q.Parent} {
		if *text != "" {
			*text = agent.InTenant(caller.Tenant, *text)
		}
	}
	tenants, all := gate.PolicyOf(ctx).Tenants(caller, authz.RunsList)
	switch {
	case all:
	case len(tenants) > 0 && len(q.Tenants) == 0:
		q.Tenants = tenants
	case len(tenants) > 0:
		q.Tenants = slices.DeleteFunc(q.Tenants, func(name string) bool { return !slices.Contains(tenants, name) })
		return len(q.Tenants) > 0
	default:
		q.Principal = caller.Key()
	}
	return true
}

// qualify puts the tenant of a run before the ids of its sub-runs in the names of decisions.
func qualify(tenant string, made []loop.DecisionMade) {
	for i := range made {
		if runID, id := loop.SplitRef(made[i].ID); runID != "" {
			made[i].ID = loop.DecisionRef(agent.InTenant(tenant, runID), id)
		}
	}
}

// named returns the id by which the caller names a run.
func named(ctx context.Context, runID string) string {
	caller, _ := identity.FromContext(ctx)
	return agent.ForTenant(cmp.Or(caller.Tenant, identity.DefaultTenant), runID)
}
