package trust

import (
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// Bound returns a tool's definition with the stricter of the trusted and the declared values, and
// lists the declarations that do not hold. If the tool was not trusted, it counts as dangerous and
// gets nothing that it asks for.
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
		spec.ContextKeys, spec.EffectKeys = nil, nil
		return spec, held
	}
	stricter(&spec.Dangerous, true, t.Dangerous, "not dangerous")
	stricter(&spec.ReadOnly, false, !t.ReadOnly, "read only")
	stricter(&spec.Idempotent, false, !t.Idempotent, "idempotent")
	stricter(&spec.Serial, true, t.Serial, "not serial")
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

// known returns those of the names that were trusted, and adds the others to held.
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
