package config

import (
	"errors"
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/internal/policy"
	"github.com/toolhost/toolhost/internal/yamldoc"
)

// Compile returns the rules as they decide. Those of a Config that Parse or Load returned are right.
func (p Policy) Compile() (*policy.Policy, error) {
	rules := make([]policy.Rule, len(p.Rules))
	for i, r := range p.Rules {
		rules[i] = policy.Rule{Name: r.Name, When: r.When, Then: policy.Verdict(r.Then), Reason: r.Reason}
	}
	return policy.Compile(rules)
}

// checkPolicy reports what is wrong with rules where it stands, within an expression too.
func (d *decoder) checkPolicy() {
	_, err := d.config.Policy.Compile()
	wrong, ok := errors.AsType[policy.Errors](err)
	if err != nil && !ok {
		d.Fail(yamldoc.Place{}, "policy", "%v", err)
	}
	for _, e := range wrong {
		key := fmt.Sprintf("policy.rules[%d].%s", e.Index, e.Field)
		at, given := d.At[key]
		if !given || slices.ContainsFunc(d.Errs, func(before *yamldoc.Error) bool { return before.Key == key }) {
			continue // it is missing or not what it has to be, and that is reported
		}
		if e.Line > 0 {
			at = d.Inside(at, d.config.Policy.Rules[e.Index].When, e.Line, e.Column)
		}
		d.Fail(at, key, "%s", e.Message)
	}
}
