package policy

import (
	"context"

	"cel.dev/cel-go/common/types"
)

// Foresee returns what Decide will say of a call whatever its arguments turn out to be; in.Arguments does not count. It
// returns false where that depends on them, or on a rule that cannot be evaluated. It is bounded as Decide is.
func (p *Policy) Foresee(ctx context.Context, in Input) (Verdict, bool) {
	if p == nil {
		return byDefault(in).Then, true
	}
	facts := newFacts(ctx, in)
	// CEL gives no value that depends on an error, and only then fails: false && error is false.
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
