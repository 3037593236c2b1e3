package config

import (
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
)

// Compile returns the compiled rules. The rules of a Config from Parse or Load have no errors.
func (p Policy) Compile() (*policy.Policy, error) {
	rules := make([]policy.Rule, len(p.Rules))
	for i, r := range p.Rules {
		rules[i] = policy.Rule{Name: r.Name, When: r.When, Then: policy.Verdict(r.Then), Reason: r.Reason, Approvers: r.Approvers}
	}
	return policy.Compile(rules)
}

// checkPolicy reports the errors of rules. If CEL reports a position inside an expression, so does
// the error.
func (d *decoder) checkPolicy() {
	_, err := d.config.Policy.Compile()
	wrong, ok := errors.AsType[policy.Errors](err)
	if err != nil && !ok {
		d.Fail(yamldoc.Place{}, "policy", "%v", err)
	}
	for _, e := range wrong {
		key := fmt.Sprintf("policy.rules[%d].%s", e.Index, e.Field)
		at, given := d.At[key]
		if !given || d.Failed(key) {
			continue // the key is missing or has another error, which is reported
		}
		if e.Line > 0 {
			at = d.Inside(at, d.config.Policy.Rules[e.Index].When, e.Line, e.Column)
		}
		d.Fail(at, key, "%s", e.Message)
	}
}
