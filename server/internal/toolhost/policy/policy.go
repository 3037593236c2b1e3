// Package policy decides which calls are allowed, by rules that an operator wrote in CEL. The first
// rule that matches decides. If none matches, dangerous tools require approval and other tools are
// allowed.
//
// It owns the variables of expressions, their type check and bounds, and the test cases of rules.
// It does not know where rules come from (server/internal/toolhost/config), what happens with a
// decision (server/internal/toolhost/host), or what is logged (server/internal/audit).
//
// A rule whose evaluation fails denies the call, for example because it reads a missing argument. A
// rule that was meant to stop a call must not let it through by failing. CEL evaluates && and ||
// only as far as needed, so that `has(arguments.path) && arguments.path.startsWith("/etc/")` does
// not fail.
package policy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/toolhost/toolhost/tool"
)

// Verdict is the outcome of a decision.
type Verdict string

// The verdicts.
const (
	Allow           Verdict = "allow"
	Deny            Verdict = "deny"
	RequireApproval Verdict = "require_approval" // a person must approve the call
	// a principal other than the one that the call is for must approve it
	FourEyes Verdict = "four_eyes"
)

// Rule is one rule of an operator.
type Rule struct {
	Name   string  // follows the rules of tool names; unique
	When   string  // a CEL expression of type bool
	Then   Verdict // the verdict if When is true
	Reason string  // shown to the caller of a call that the rule decides; may be empty
	// Approvers are the keys of groups, of which the approver has to be in one. Empty: any approver.
	// Only with RequireApproval and FourEyes.
	Approvers []string
}

// Input is the call to decide on. Tool is required.
type Input struct {
	Principal string   // the key of the principal that the call is for
	Groups    []string // of the principal
	Via       string   // the key of the delegate that makes the call; empty: the principal itself
	Session   string
	CallID    string
	Context   map[string]json.RawMessage // given by the caller, by key; not validated
	Plugin    string
	Tool      *tool.Spec
	Arguments json.RawMessage // a JSON object as the tool would receive it; empty: {}
	// Object returns the value of Arguments if they have been parsed already. The first rule that
	// uses the arguments calls it; it is called at most once. If it is nil, Decide parses
	// Arguments.
	Object Object
}

// Object holds arguments that have been parsed.
type Object interface {
	// Object returns the arguments as encoding/json decodes them with UseNumber, or nil if there
	// are none. Callers do not change the result.
	Object() map[string]any
}

// Decision is the outcome of a policy for a call.
type Decision struct {
	Then   Verdict
	Rule   string // the rule that decided; empty: none matched
	Reason string // for the caller and the audit log; never quotes arguments; may be empty
	// Approvers are the keys of the groups of which the approver has to be in one. Empty: any
	// approver.
	Approvers []string
	// Why Rule could not be evaluated; nil: it could; it may quote arguments, so show it only to
	// operators.
	Err error
}

// Because names the rule that decided, with its reason.
func (d Decision) Because() string {
	if d.Reason == "" {
		return "by the rule \"" + d.Rule + "\""
	}
	return d.Reason + " (rule \"" + d.Rule + "\")"
}

// Policy is a list of compiled rules. It is immutable and safe for concurrent use. A nil or zero
// Policy has no rules: dangerous tools require approval, and other tools are allowed.
type Policy struct {
	rules   []compiledRule
	index   index
	context reading // the keys of the context that the rules read
}

type compiledRule struct {
	Rule
	program cel.Program
	loops   bool // its steps are counted, and it ends with its context
}

// Decide returns the verdict of the first rule whose expression is true. If there is none, a
// dangerous tool requires approval and any other tool is allowed. Each evaluation is bounded in
// steps and ends with ctx. If an evaluation fails or exceeds its bound, that rule denies the call,
// and later rules are not evaluated. Rules that begin with the names of other tools cannot match,
// and are not evaluated either.
func (p *Policy) Decide(ctx context.Context, in Input) Decision {
	if p == nil || len(p.rules) == 0 {
		return byDefault(in)
	}
	switch rule, err := p.first(ctx, newFacts(ctx, in)); {
	case err != nil:
		return Decision{Then: Deny, Rule: rule.Name, Reason: rule.failure(err), Err: err}
	case rule != nil:
		return Decision{Then: rule.Then, Rule: rule.Name, Reason: rule.Reason, Approvers: rule.Approvers}
	}
	return byDefault(in)
}

// first returns the first rule that matches a call, or that cannot be evaluated, with the reason.
// It returns nil if there is none.
func (p *Policy) first(ctx context.Context, facts *facts) (*compiledRule, error) {
	left := p.index.of(facts.tool.Name)
	for passed := 0; passed < len(p.rules); {
		if err := ctx.Err(); err != nil { // CEL checks it only in loops
			return &p.rules[passed], err
		}
		i, found := left.next()
		if !found {
			break
		}
		if matches, err := p.rules[i].matches(ctx, facts); matches || err != nil {
			return &p.rules[i], err
		}
		passed = i + 1
	}
	return nil, nil
}

// RuleDigest returns the digest of what the rule with a name decides: its expression and its
// verdict. It is empty if there is no such rule. The reason is not part of it.
func (p *Policy) RuleDigest(name string) string {
	if p == nil {
		return ""
	}
	for i := range p.rules {
		if rule := &p.rules[i]; rule.Name == name {
			text := fmt.Appendf(nil, "%d %s %s", len(rule.When), rule.When, rule.Then)
			if len(rule.Approvers) > 0 {
				text = fmt.Appendf(text, " %q", rule.Approvers)
			}
			sum := sha256.Sum256(text)
			return hex.EncodeToString(sum[:])
		}
	}
	return ""
}

func byDefault(in Input) Decision {
	if in.Tool.Dangerous {
		return Decision{Then: RequireApproval, Reason: "the tool is dangerous, and no rule says otherwise"}
	}
	return Decision{Then: Allow}
}

func (r *compiledRule) eval(ctx context.Context, facts *facts) (ref.Val, *cel.EvalDetails, error) {
	if r.loops {
		return r.program.ContextEval(ctx, facts)
	}
	return r.program.Eval(facts)
}

func (r *compiledRule) matches(ctx context.Context, facts *facts) (bool, error) {
	value, _, err := r.eval(ctx, facts)
	if err != nil {
		return false, err
	}
	matches, ok := value.Value().(bool)
	if !ok {
		return false, fmt.Errorf("the value is of type %s", value.Type().TypeName())
	}
	return matches, nil
}

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
	switch rule, err := p.first(ctx, facts); {
	case err != nil:
		return "", false
	case rule != nil:
		return rule.Then, true
	}
	return byDefault(in).Then, true
}

// failure says why a rule could not be evaluated, without quoting the arguments. CEL's messages may
// quote them, and decisions are logged and sent to callers.
func (r *compiledRule) failure(err error) string {
	return fmt.Sprintf("the rule %q could not be evaluated for this call, which denies it: %s", r.Name, r.cause(err))
}

func (r *compiledRule) cause(err error) string {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return "the time was up"
	}
	message := err.Error()
	if key, ok := strings.CutPrefix(message, "no such key: "); ok {
		if r.names(key) {
			return fmt.Sprintf("there is no %q; an expression can ask with has() first", key)
		}
		return "a key that it looks up is not there"
	}
	for _, known := range []struct{ begins, meaning string }{
		{"operation interrupted", "the time was up"},
		{errTooManySteps.Error(), errTooManySteps.Error()},
		{errLongPattern.Error(), errLongPattern.Error()},
		{"operation cancelled: actual cost limit exceeded", "it takes too many steps"},
		{"no such overload", "a value is not of the type that its expression is for"},
		{"index out of bounds", "a list is shorter than its expression expects"},
		{"reading the arguments", "the arguments are not a JSON object"},
		{"reading the context", "a value of the call's context is not JSON"},
	} {
		if strings.HasPrefix(message, known.begins) {
			return known.meaning
		}
	}
	return "its expression fails; `toolhost policy test` shows how"
}

// names reports whether the expression itself contains a key. Its author knows such a key, so that
// it is not a secret.
func (r *compiledRule) names(key string) bool { return key != "" && strings.Contains(r.When, key) }
