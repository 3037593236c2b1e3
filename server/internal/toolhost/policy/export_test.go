package policy

import (
	"context"
	"regexp"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/toolhost/toolhost/internal/text/pattern"
)

// ReadUntilEnd matches a text under a context, and returns the number of characters that were read
// when the context had ended.
func ReadUntilEnd(text, expression string, ctx func(looks int) context.Context, looks int) int {
	w := work{ctx: ctx(looks), left: maxSteps}
	found, err := w.matches(regexp.MustCompile(expression), pattern.Size(expression), text)
	if err == nil || found {
		return len(text)
	}
	r := &endingReader{ctx: ctx(looks), text: text, every: max(1, fewSteps/pattern.Size(expression))}
	for {
		if _, _, err := r.ReadRune(); err != nil {
			return len(text) - len(r.text)
		}
	}
}

// Uncharged returns the functions of rules that are not charged by their sizes.
func Uncharged() ([]string, error) {
	env, err := newEnv()
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range env.Functions() {
		if costs[name] == nil && !allocating[name] && repeated[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Evaluation is the result of the evaluation of rules.
type Evaluation struct {
	Rule    string  // the one that decides or that fails
	Verdict Verdict // of Rule
	Err     string
	Left    int     // of the budget
	Read    [2]bool // whether the arguments and the context were read
}

// First evaluates the rules that calls of the tool may match, or, if all is set, every rule. If
// unknown is set, the arguments are not known yet, as for Foresee.
func (p *Policy) First(ctx context.Context, in Input, all, unknown bool) (e Evaluation) {
	facts := newFacts(ctx, in)
	if unknown {
		facts.arguments = types.NewErrFromString("the arguments are not known yet")
	}
	first := p.first
	if all {
		first = p.firstOfAll
	}
	rule, err := first(ctx, facts)
	if rule != nil {
		e.Rule, e.Verdict = rule.Name, rule.Then
	}
	if err != nil {
		e.Err = err.Error()
	}
	e.Left, e.Read = facts.work.left, [2]bool{facts.arguments != nil, facts.context != nil}
	return e
}

func (p *Policy) firstOfAll(ctx context.Context, facts *facts) (*compiledRule, error) {
	for i := range p.rules {
		rule := &p.rules[i]
		if err := ctx.Err(); err != nil {
			return rule, err
		}
		if matches, err := rule.matches(ctx, facts); matches || err != nil {
			return rule, err
		}
	}
	return nil, nil
}

// Count lets p count the evaluations of its rules.
func (p *Policy) Count() (evaluations *int) {
	evaluations = new(int)
	for i := range p.rules {
		p.rules[i].program = counting{p.rules[i].program, evaluations}
	}
	return evaluations
}

type counting struct {
	cel.Program
	evaluations *int
}

// Eval implements cel.Program.
func (c counting) Eval(vars any) (ref.Val, *cel.EvalDetails, error) {
	*c.evaluations++
	return c.Program.Eval(vars)
}

// ContextEval implements cel.Program.
func (c counting) ContextEval(ctx context.Context, vars any) (ref.Val, *cel.EvalDetails, error) {
	*c.evaluations++
	return c.Program.ContextEval(ctx, vars)
}
