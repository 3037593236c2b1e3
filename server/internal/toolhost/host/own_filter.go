package host

import (
	"errors"
	"slices"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// ownFilter returns a filter that the plugin of a tool applies to the tool.
//
// The operator did not choose the filter. So it can do less than one of the configuration: it
// cannot answer in place of the tool, because the policy has not decided about the call yet, and it
// gets no call that the policy denies whatever the arguments are. It knows the principal only if
// the tool does. It is asked under the name PLUGIN.FILTER. No tool and no filter of the
// configuration can have that name, so that statistics, limits and the audit log never take one for
// the other.
func ownFilter(t *catalog.Tool, spec tool.Filter) *Filter {
	return &Filter{Name: t.Plugin.Info.Name + "." + spec.Name, own: &catalog.Filter{Spec: spec, Plugin: t.Plugin}}
}

// errOwnAnswer is the failure of an own filter that answers in place of the tool.
var errOwnAnswer = errors.New("it answered in place of the tool, which only a filter of the operator's configuration may do")

// isFirstOwn reports whether the filter at an index is the first one that the plugin applies
// itself.
func (x filterChain) isFirstOwn(i int) bool {
	return x.filters[i].own != nil && (i == 0 || x.filters[i-1].own == nil)
}

// appliesItself reports whether the plugin of the tool applies a filter of the configuration
// already. The filter then runs once, at the place where the plugin has it, and is not optional.
func (x filterChain) appliesItself(f *Filter) bool {
	c := x.call
	if !slices.ContainsFunc(c.tool.Filters, func(own tool.Filter) bool { return own.Name == f.Name }) {
		return false
	}
	declared := c.services.plugins.catalog.Snapshot().Filter(f.Name)
	return declared != nil && declared.Plugin.Info.Name == c.plugin()
}

// toolFor returns the name of the tool for a filter. A plugin that applies a filter to its own
// tools knows the names that it declares.
func (x filterChain) toolFor(f *Filter) string {
	if f.own != nil {
		return x.call.tool.DeclaredName()
	}
	return x.call.request.Tool
}

// knowsPrincipal reports whether a filter is told whom the call is for. A plugin declares, and the
// operator trusts, which of its tools know that. A filter of the plugin is no way around it.
func (x filterChain) knowsPrincipal(f *Filter) bool {
	return f.own == nil || slices.Contains(x.call.tool.Spec.ContextKeys, tool.KeyPrincipal)
}

// willBeDenied reports whether the policy denies the call whatever its arguments are.
func (x filterChain) willBeDenied() bool {
	verdict, known := x.call.settings.authorizer.policy.Foresee(x.call.ctx(), policyInput(&x.call.request, x.call.tool, arguments.Parsed{}))
	return known && verdict == policy.Deny
}

// checkFilters refuses a call on an instance whose revision of the plugin applies other filters to
// the tool than the revision with which the call began. An upgrade may come at any time during a
// call: no tool may run without a filter that its revision relies on, and no result may pass a
// revision that does not filter it any more.
func (c *call) checkFilters(runs *catalog.Plugin) *tool.Error {
	filtered := c.tool
	if c.kind == FilterCall {
		filtered = c.filtered
	}
	if filtered == nil || runs.Digest == filtered.Plugin.Digest || runs.AppliesFiltersOf(filtered) {
		return nil
	}
	return tool.Errorf(tool.KindUnavailable, "the plugin %q was replaced during the call, and applies other filters to its tool %q now; make the call again",
		c.plugin(), filtered.Spec.Name)
}
