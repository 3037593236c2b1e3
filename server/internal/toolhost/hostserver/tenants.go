package hostserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/tool"
)

// tenantsOf returns the tenants in which the caller of an RPC has a right. If the request names
// tenants, the result contains only those of them. A tenant that the caller may not see is left out
// without an error, like one that does not exist.
func tenantsOf(ctx context.Context, right authz.Right, requested tool.Tenants) tool.Tenants {
	caller := authz.FromContext(ctx)
	if caller == nil {
		return tool.Tenants{} // an RPC that no gate has admitted
	}
	allowed, all := caller.Tenants(right)
	switch {
	case all && len(requested) == 0:
		return nil
	case all:
		return requested
	case len(requested) == 0:
		return append(tool.Tenants{}, allowed...)
	}
	both := tool.Tenants{}
	for _, name := range requested {
		if slices.Contains(allowed, name) {
			both = append(both, name)
		}
	}
	return both
}

// tenants is tenantsOf at the beginning of an RPC. It writes to the audit log that the request
// names tenants that the caller may not see.
func (s *adminService) tenants(ctx context.Context, right authz.Right, requested tool.Tenants) tool.Tenants {
	shown := tenantsOf(ctx, right, requested)
	var hidden []string
	for _, name := range requested {
		if !shown.Contain(name) {
			hidden = append(hidden, name)
		}
	}
	if len(hidden) > 0 {
		s.gate.Attempt(ctx, gate.Refusal{
			Rights: []authz.Right{right}, Target: strings.Join(hidden, " "),
			Reason: fmt.Sprintf("the caller does not have the right %s in the tenant %s", right, strings.Join(hidden, ", ")),
		})
	}
	return shown
}

// following returns a function that a stream with lasting news calls before each message. The
// stream begins with the tenants in which its caller has a right. It must not outlive them: without
// the check, a caller whose token was revoked, or whose binding a reload removed, would read on for
// as long as it keeps the stream open. The function returns an error when the credential is not
// valid any more, or when the caller has the right in other tenants than at the beginning.
func following(ctx context.Context, right authz.Right, began, requested tool.Tenants) func() error {
	valid := gate.Recheck(ctx)
	return func() error {
		if valid != nil && !valid(ctx) {
			return tool.Errorf(tool.KindUnavailable, "the credential of this stream is not valid any more")
		}
		if now := tenantsOf(ctx, right, requested); (now == nil) != (began == nil) || !slices.Equal(now, began) {
			return tool.Errorf(tool.KindDenied, "the rights of the caller have changed since the stream began; begin it again")
		}
		return nil
	}
}

// tenantOf returns the tenant of an instance. An instance without one belongs to the default
// tenant: an earlier toolhost stored it.
func tenantOf(name string) string { return cmp.Or(name, identity.DefaultTenant) }

// shownPlugins returns plugins as a caller sees them that may see some tenants. Plugins serve all
// tenants, but the exits of their processes show calls and output of one.
func shownPlugins(plugins []tool.PluginInfo, tenants tool.Tenants) []tool.PluginInfo {
	if tenants == nil {
		return plugins
	}
	shown := slices.Clone(plugins)
	for i := range shown {
		p := &shown[i]
		if len(p.RecentExits) == 0 {
			continue
		}
		p.RecentExits = slices.Clone(p.RecentExits)
		for j := range p.RecentExits {
			p.RecentExits[j] = shownExit(p.RecentExits[j], tenants)
		}
		if last := p.RecentExits[0]; p.LastExit != nil {
			p.LastExit = &last.Exit
		}
		if p.State == tool.PluginBackingOff || p.State == tool.PluginQuarantined {
			p.Reason = reasonOf(p)
		}
	}
	return shown
}

// shownExit returns the end of a process as a caller sees it that may see some tenants. It counts
// the calls of other tenants instead of naming them. It has the id and the output of the process
// only if the process served a tenant that the caller may see.
func shownExit(e tool.PluginExit, tenants tool.Tenants) tool.PluginExit {
	calls := e.Calls
	e.Calls = nil
	for _, c := range calls {
		if tenants.Contain(identity.TenantOf(c.Principal)) {
			e.Calls = append(e.Calls, c)
		} else {
			e.HiddenCalls++
		}
	}
	if !tenants.Contain(tenantOf(e.Tenant)) {
		e.Instance, e.Tenant, e.Exit.LastStderr = "", "", nil
	}
	return e
}

// reasonOf returns why a plugin does not start. The reason may quote the output of the process that
// crashed last, so a caller that may not see that process gets a general reason.
func reasonOf(p *tool.PluginInfo) string {
	for _, e := range p.RecentExits {
		if !e.Expected {
			if e.Instance == "" { // see shownExit
				return "its process crashed"
			}
			return p.Reason
		}
	}
	return p.Reason
}
