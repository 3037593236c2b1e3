// Package policy decides which calls may be made: rules that an operator wrote in CEL, of which the first that matches
// decides, and what holds where none does.
//
// It owns what an expression may speak of, its type check and its bounds, and the examples that rules are tested with.
// It does not know where rules come from (internal/config), what is done with a decision (internal/host), or what is
// kept of it (internal/audit).
//
// A rule whose evaluation fails, because it reads an argument that is not there for example, denies the call: what was
// meant to hold a call back must not let it through. CEL evaluates && and || only as far as they are needed, so that
// `has(arguments.path) && arguments.path.startsWith("/etc/")` fails for no call.
package policy

import (
	"context"
	"encoding/json"
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"

	"github.com/toolhost/toolhost/tool"
)

// Verdict is what is to become of a call.
type Verdict string

// The verdicts.
const (
	Allow           Verdict = "allow"
	Deny            Verdict = "deny"
	RequireApproval Verdict = "require_approval" // a person has to approve the call
)

// Rule is one rule of an operator.
type Rule struct {
	Name   string  // as of a tool; no two rules have the same
	When   string  // a CEL expression that is true or false
	Then   Verdict // where When is true
	Reason string  // why, for those whose call it decides; may be empty
}

// Input is the call to decide on. Tool is required.
type Input struct {
	Principal string
	Session   string
	CallID    string
	Context   map[string]json.RawMessage // what the caller says of the call, by key; nothing of it is checked
	Plugin    string
	Tool      *tool.Spec
	Arguments json.RawMessage // a JSON object, as the tool would get it; empty: {}
	// Object makes the value of Arguments, for who need not read them for that; it is asked at most once, by the first rule that
	// speaks of them. Nil means that Arguments is to be read.
	Object Object
}

// Object is arguments that were read already.
type Object interface {
	// Object returns them as encoding/json decodes them with UseNumber, or nil if there are none. It is not changed.
	Object() map[string]any
}

// Decision is what a policy says of a call.
type Decision struct {
	Then   Verdict
	Rule   string // empty: none matched
	Reason string // for the caller and the audit log; it quotes no argument; may be empty
	Err    error  // why Rule could not be evaluated; nil: it could. It may quote arguments: show it to operators alone
}

// Policy is rules that were compiled. It does not change and is safe for concurrent use. A nil or zero Policy has no
// rules: dangerous tools require approval, all others are allowed.
type Policy struct {
	rules   []compiledRule
	context reading // which keys of it the rules read
}

type compiledRule struct {
	Rule
	program cel.Program
	loops   bool // its steps are counted, and it ends with its context
}

// Decide returns what the first rule says whose expression is true. Where there is none, dangerous tools require
// approval and all others are allowed. Each evaluation is bounded in steps, and ends with ctx; one that fails or does
// not come to its end denies the call in the name of its rule. Nothing is decided on the word of rules behind it.
func (p *Policy) Decide(ctx context.Context, in Input) Decision {
	if p == nil || len(p.rules) == 0 {
		return byDefault(in)
	}
	facts := newFacts(ctx, in)
	for i := range p.rules {
		rule := &p.rules[i]
		matches, err := rule.matches(ctx, facts)
		switch {
		case err != nil:
			return Decision{Then: Deny, Rule: rule.Name, Reason: rule.failure(err), Err: err}
		case matches:
			return Decision{Then: rule.Then, Rule: rule.Name, Reason: rule.Reason}
		}
	}
	return byDefault(in)
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
	if err := ctx.Err(); err != nil { // CEL looks at it in loops alone
		return false, err
	}
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
