package policy

import (
	"context"

	"cel.dev/cel-go/common/types"
)

// Foresee returns the verdict that Decide will return for any arguments; it ignores in.Arguments.
// It returns false if the verdict depends on the arguments, or on a rule that cannot be evaluated.
// It has the bounds of Decide.
func (p *Policy) Foresee(ctx context.Context, in Input) (Verdict, bool) {
	if p == nil {
		return byDefault(in).Then, true
	}
	facts := newFacts(ctx, in)
	// CEL returns an error only if the result depends on the error: false && error is false.
	facts.arguments = types.NewErrFromString("the arguments are not known yet")
	for i := range p.rules {
		rule := &p.rules[i]
		matches, err := rule.matches(ctx, facts)
		switch {
		case err != nil:
			return "", false
		case matches:
			return rule.Then, true
		}
	}
	return byDefault(in).Then, true
}
