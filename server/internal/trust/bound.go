package trust

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// Bound returns a tool's definition with the stricter of the trusted and the declared values. It
// also lists the declarations that do not take effect. A tool that was not trusted is treated as
// dangerous and gets nothing that it requests.
func (t Tool) Bound(spec tool.Spec, trusted bool) (tool.Spec, []string) {
	var held []string
	stricter := func(field *bool, strict, holds bool, word string) {
		if holds && *field != strict {
			*field = strict
			held = append(held, word)
		}
	}
	if !trusted {
		held = append(held, "new, counts as dangerous")
		spec.Dangerous, spec.ReadOnly, spec.Idempotent, spec.RequiresAuth = true, false, false, nil
		spec.ContextKeys, spec.EffectKeys, spec.Settles, spec.Seals, spec.Parallel = nil, nil, false, false, false
		return spec, held
	}
	stricter(&spec.Dangerous, true, t.Dangerous, "not dangerous")
	stricter(&spec.ReadOnly, false, !t.ReadOnly, "read only")
	stricter(&spec.Idempotent, false, !t.Idempotent, "idempotent")
	stricter(&spec.Serial, true, t.Serial, "not serial")
	stricter(&spec.Parallel, false, !t.Parallel, "parallel")
	stricter(&spec.Settles, false, !t.Settles, "says what became of calls")
	stricter(&spec.Seals, false, !t.Seals, "its check seals")
	if spec.CostPerUse < t.Cost {
		spec.CostPerUse = t.Cost
		held = append(held, "cheaper")
	}
	if t.RateLimit > 0 && (spec.RateLimitPerMinute == 0 || spec.RateLimitPerMinute > t.RateLimit) {
		spec.RateLimitPerMinute = t.RateLimit
		held = append(held, "called more often")
	}
	if spec.Category != t.Category {
		spec.Category = t.Category
		held = append(held, "another category")
	}
	if !slices.Equal(spec.Tags, t.Tags) {
		spec.Tags = t.Tags
		held = append(held, "other tags")
	}
	spec.RequiresAuth, held = known(spec.RequiresAuth, t.Secrets, "the secret", held)
	spec.ContextKeys, held = known(spec.ContextKeys, t.ContextKeys, "the context key", held)
	spec.EffectKeys, held = known(spec.EffectKeys, t.EffectKeys, "effects on the key", held)
	return spec, held
}

// FilterChanges returns, for people, how the filters of its own plugin that calls of a tool pass
// differ from the trusted ones. Any change leaves the tool out until the operator trusts it:
// without a filter the tool may show more, and a new filter changes arguments and results.
func (t Tool) FilterChanges(now Tool) []string {
	var changes []string
	for _, filter := range now.Filters {
		if !slices.Contains(t.Filters, filter) {
			changes = append(changes, "its calls now pass the plugin's filter "+filter)
		}
	}
	for _, filter := range t.Filters {
		if !slices.Contains(now.Filters, filter) {
			changes = append(changes, "its calls no longer pass the plugin's filter "+filter)
		}
	}
	if len(changes) == 0 && !slices.Equal(t.Filters, now.Filters) {
		changes = append(changes, "its calls pass the plugin's filters in another order: "+strings.Join(now.Filters, ", "))
	}
	return changes
}

// known returns the names that were trusted, and adds the others to held.
func known(names, trusted []string, what string, held []string) ([]string, []string) {
	var kept []string
	for _, name := range names {
		if slices.Contains(trusted, name) {
			kept = append(kept, name)
		} else {
			held = append(held, fmt.Sprintf("%s %s", what, name))
		}
	}
	if len(kept) == len(names) {
		return names, held
	}
	return kept, held
}
