package hostserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/tool"
)

// maxGroups bounds the groups that a delegate names, because each decision looks at all of them.
const maxGroups = 64

// subject is the principal that a request is for. Everything that the request creates or reads
// belongs to it.
type subject struct {
	key    string
	groups []string
	via    string // the key of the delegate that makes the request; empty: the principal itself
}

// subjectOf returns the principal that a request is for: its caller, or the principal that a
// delegate names. right is the right of the RPC.
//
// A delegate has verified the principal that it names, so toolhost trusts the name and the groups.
// That is safe only if every other caller is refused, whatever it names: itself, with more groups
// than it has, would be as wrong as another principal. The delegate needs its right in the tenant
// that it names, so that the delegate of one tenant cannot act in another one. Both principals need
// the right of the RPC. There is no chain of delegates: a delegate names one principal, and what
// that principal may do as a delegate itself does not count.
func (s *toolService) subjectOf(ctx context.Context, caller *remote, right authz.Right, named *toolv1.Principal) (subject, error) {
	if named == nil {
		return subject{key: caller.Principal, groups: caller.who.Groups}, nil
	}
	p, err := principalOf(named)
	if err != nil {
		return subject{}, s.invalid(ctx, "on_behalf_of", err)
	}
	for _, needed := range []struct {
		who   identity.Principal
		right authz.Right
	}{{caller.who, authz.Delegate}, {caller.who, right}, {p, right}} {
		if err := s.require(ctx, caller, p.Key(), needed.who, authz.Request{Right: needed.right, Tenant: p.Tenant}, "act on behalf of another principal"); err != nil {
			return subject{}, err
		}
	}
	return subject{key: p.Key(), groups: p.Groups, via: caller.Principal}, nil
}

// approverOf returns the key and the groups of the principal that approves a call of a subject: the
// caller itself, which needs the right to approve calls in the tenant of the subject, or the
// principal that a delegate has verified.
func (s *toolService) approverOf(ctx context.Context, caller *remote, of subject, a *toolhostv1.Approval) (key string, groups []string, err error) {
	tenant := identity.TenantOf(of.key)
	if a.GetApprover() == nil {
		return caller.Principal, caller.who.Groups, s.require(ctx, caller, of.key, caller.who, authz.Request{Right: authz.CallsApprove, Tenant: tenant}, "approve calls")
	}
	p, err := principalOf(a.GetApprover())
	if err != nil {
		return "", nil, s.invalid(ctx, "the approver", err)
	}
	for _, in := range []string{tenant, p.Tenant} {
		if err := s.require(ctx, caller, p.Key(), caller.who, authz.Request{Right: authz.Delegate, Tenant: in}, "name an approver"); err != nil {
			return "", nil, err
		}
	}
	return p.Key(), p.Groups, nil
}

// agentOf returns the agent and the run that make a call, as its caller states them. Limits and
// approvals depend on the agent, so a caller that chose the name of another agent would use what
// belongs to that agent. agentOf therefore believes a delegate, which knows its agents, and a
// caller that may approve calls itself, which gains nothing. For other callers it returns none.
func (s *toolService) agentOf(caller *remote, of subject, options *toolhostv1.CallOptions) (agent, run string, err error) {
	agent, run = options.GetAgent(), options.GetRun()
	if agent == "" && run == "" {
		return "", "", nil
	}
	tenant, policy := identity.TenantOf(of.key), s.guard.gate.Policy()
	if !slices.ContainsFunc([]authz.Right{authz.Delegate, authz.CallsApprove}, func(right authz.Right) bool {
		return policy.Decide(caller.who, authz.Request{Right: right, Tenant: tenant}).Allowed
	}) {
		return "", "", nil
	}
	for _, name := range []string{agent, run} {
		if name == "" {
			continue
		}
		if err := tool.CheckID(name); err != nil {
			return "", "", tool.Errorf(tool.KindInvalidArgument, "the agent or the run of the call cannot be used: %w", err)
		}
	}
	return agent, run, nil
}

// require returns an error if a principal may not do what a caller requests. The caller learns
// which right is missing, and the log has the reason.
//
// who may be a principal that the caller names. The audit log has the caller as the principal of
// the refusal, and the named principal only as the target: a delegate could otherwise write lines
// about others that look like their own attempts.
func (s *toolService) require(ctx context.Context, caller *remote, target string, who identity.Principal, r authz.Request, what string) error {
	decision := s.guard.gate.Policy().Decide(who, r)
	if decision.Allowed {
		return nil
	}
	method, _ := grpc.Method(ctx)
	s.guard.gate.Report(ctx, gate.Refusal{
		Method: method, Principal: caller.who, Address: caller.Caller.Address, Target: target, Rights: []authz.Right{r.Right}, Reason: decision.Reason,
	})
	return tool.Errorf(tool.KindDenied, "the caller may not %s: %s does not have the right %s in the tenant %s; nothing was executed", what, who.Key(), r.Right, r.Tenant)
}

// invalid writes to the audit log that the caller names a principal that cannot exist, and returns
// the error for the caller.
func (s *toolService) invalid(ctx context.Context, what string, err error) error {
	s.guard.gate.Attempt(ctx, gate.Refusal{Reason: fmt.Sprintf("%s: %v", what, err)})
	return tool.Errorf(tool.KindInvalidArgument, "%s: %w", what, err)
}

// missing writes to the audit log that a subject has no call or artifact of an id, and returns the
// error. It ignores other errors. An id of others and an id that does not exist give the same line,
// because the time of the answer must not tell them apart.
func (s *toolService) missing(ctx context.Context, caller *remote, of subject, id string, err error) error {
	if tool.KindOf(err) == tool.KindNotFound {
		tenant, name := identity.SplitKey(of.key)
		s.guard.gate.Attempt(ctx, gate.Refusal{
			Principal: identity.Principal{Tenant: tenant, Name: name, Credential: caller.who.Credential}, Via: of.via, Target: id, Reason: err.Error(),
		})
	}
	return err
}

// principalOf returns the principal that a message names, or why it is not valid.
func principalOf(m *toolv1.Principal) (identity.Principal, error) {
	p := identity.Principal{Tenant: cmp.Or(m.GetTenant(), identity.DefaultTenant), Name: m.GetName(), Groups: m.GetGroups()}
	if len(p.Groups) > maxGroups {
		return p, fmt.Errorf("the principal has %d groups; it may have %d", len(p.Groups), maxGroups)
	}
	return p, p.Check()
}
