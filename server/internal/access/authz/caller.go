package authz

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolhost/toolhost/internal/identity"
)

// maxSubjects bounds for how many principals a Caller keeps decisions, besides its own.
const maxSubjects = 256

// Caller is the caller of an RPC together with the policy in force, which a reload can replace. It
// decides which tools the caller may use.
//
// A stream carries thousands of calls, so a Caller keeps its decisions about tools until the policy
// changes. If the caller is a delegate, both principals need the right: a delegate makes no call
// that its principal may not make, and a principal gets no tool through a delegate that may not use
// the tool.
//
// All methods are safe for concurrent use. A nil Caller is code of the program itself, which may
// use every tool and sees all tenants.
type Caller struct {
	principal identity.Principal
	policy    func() *Policy
	decided   atomic.Pointer[decisions]
}

// NewCaller returns the caller with a principal. policy returns the policy in force. It must be
// safe for concurrent use.
func NewCaller(p identity.Principal, policy func() *Policy) *Caller {
	return &Caller{principal: p, policy: policy}
}

// Principal returns the principal of the caller. It is the zero value for a nil Caller.
func (c *Caller) Principal() identity.Principal {
	if c == nil {
		return identity.Principal{}
	}
	return c.principal
}

// Policy returns the policy in force. It is nil for a nil Caller.
func (c *Caller) Policy() *Policy {
	if c == nil {
		return nil
	}
	return c.policy()
}

// Tenants returns the tenants in which the caller has a right. all reports whether it has the right
// in every tenant; the list is nil then.
func (c *Caller) Tenants(right Right) (tenants []string, all bool) {
	if c == nil {
		return nil, true
	}
	return c.policy().Tenants(c.principal, right)
}

// MayUse reports whether the caller and the principal that it acts for may use a tool with a right.
// key and groups are those of that principal, which may be the caller itself. Ask only about tools
// that exist, because the Caller keeps the decisions.
func (c *Caller) MayUse(right Right, key string, groups []string, tool string) bool {
	if c == nil {
		return true
	}
	known := c.latest()
	if c.is(key) {
		return known.own.mayUse(known.policy, right, tool)
	}
	delegate, of := known.acting(key, groups)
	return delegate.mayUse(known.policy, right, tool) && of.mayUse(known.policy, right, tool)
}

// InScope reports whether the caller's credential is for a tool. It says nothing about the rights
// of the principal: a token that is limited to some tools must not see what other calls of its
// principal returned, whoever made them.
func (c *Caller) InScope(tool string) bool {
	return c == nil || c.principal.Scope == nil || matchesTool(c.principal.Scope.Tools, tool)
}

// MayUseAll reports whether MayUse is true for all tools, so that the decisions about single tools
// can be left out. It may return false although MayUse is always true.
func (c *Caller) MayUseAll(right Right, key string, groups []string) bool {
	if c == nil {
		return true
	}
	known := c.latest()
	if c.is(key) {
		return known.own.mayUseAll(known.policy, right)
	}
	delegate, of := known.acting(key, groups)
	return delegate.mayUseAll(known.policy, right) && of.mayUseAll(known.policy, right)
}

// is reports whether a key is that of the caller.
func (c *Caller) is(key string) bool {
	tenant, name := identity.SplitKey(key)
	return tenant == c.principal.Tenant && name == c.principal.Name
}

// latest returns the decisions that belong to the policy in force.
func (c *Caller) latest() *decisions {
	policy, known := c.policy(), c.decided.Load()
	if known == nil || known.policy != policy {
		known = &decisions{policy: policy, own: subject{who: c.principal, tenant: c.principal.Tenant}}
		c.decided.Store(known)
	}
	return known
}

// decisions are the decisions of one policy for one caller.
type decisions struct {
	policy *Policy
	own    subject

	mu        sync.Mutex
	others    map[string]*subject // by key
	delegates map[string]*subject // the caller in another tenant, by tenant
}

// acting returns the decisions about the caller in the tenant of another principal, and about that
// principal. A principal with other groups than before gets new decisions.
func (d *decisions) acting(key string, groups []string) (delegate, of *subject) {
	tenant, name := identity.SplitKey(key)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.others == nil || len(d.others) >= maxSubjects {
		d.others, d.delegates = map[string]*subject{}, map[string]*subject{}
	}
	if delegate = d.delegates[tenant]; delegate == nil {
		delegate = &subject{who: d.own.who, tenant: tenant}
		d.delegates[tenant] = delegate
	}
	if of = d.others[key]; of == nil || !slices.Equal(of.who.Groups, groups) {
		of = &subject{who: identity.Principal{Tenant: tenant, Name: name, Groups: slices.Clone(groups)}, tenant: tenant}
		d.others[key] = of
	}
	return delegate, of
}

// subject is a principal in a tenant, with what was decided about it.
type subject struct {
	who    identity.Principal
	tenant string

	mu    sync.RWMutex
	all   map[Right]bool
	tools map[Right]map[string]bool
}

func (s *subject) mayUseAll(policy *Policy, right Right) bool {
	s.mu.RLock()
	all, known := s.all[right]
	s.mu.RUnlock()
	if known {
		return all
	}
	all = policy.AllTools(s.who, right, s.tenant)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[Right]bool{}
	}
	s.all[right] = all
	return all
}

func (s *subject) mayUse(policy *Policy, right Right, tool string) bool {
	if s.mayUseAll(policy, right) {
		return true
	}
	s.mu.RLock()
	may, known := s.tools[right][tool]
	s.mu.RUnlock()
	if known {
		return may
	}
	may = policy.Decide(s.who, Request{Right: right, Tenant: s.tenant, Tool: tool}).Allowed
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools == nil {
		s.tools = map[Right]map[string]bool{}
	}
	if s.tools[right] == nil {
		s.tools[right] = map[string]bool{}
	}
	s.tools[right][tool] = may
	return may
}

type contextKey struct{}

// NewContext returns a context that carries the caller of an RPC.
func NewContext(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// FromContext returns the caller that NewContext stored, or nil.
func FromContext(ctx context.Context) *Caller {
	c, _ := ctx.Value(contextKey{}).(*Caller)
	return c
}
