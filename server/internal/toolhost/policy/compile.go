package policy

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/ext"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxCost bounds one evaluation in CEL's cost units: a step costs about one, a character that
	// is read a tenth. Rules that people write cost some dozens. This bound takes about 50 ms.
	maxCost = 1_000_000
	// checkEvery is the number of iterations of a loop after which CEL checks whether its context
	// has ended.
	checkEvery = 100
)

// Error is one problem of a rule.
type Error struct {
	Index   int    // the index of the rule
	Rule    string // the name of the rule
	Field   string // the field with the problem: name, when or then
	Line    int    // in When, from 1; 0: all of it
	Column  int    // in When, from 1, in characters; 0: all of it
	Message string
}

// Error returns the rule and the problem.
func (e *Error) Error() string {
	place := e.Field
	if e.Line > 0 {
		place = fmt.Sprintf("%s, line %d, column %d", e.Field, e.Line, e.Column)
	}
	return fmt.Sprintf("the rule %q: %s: %s", e.Rule, place, e.Message)
}

// Errors are all problems of a list of rules, in order.
type Errors []*Error

// Error returns one line for each error.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Compile checks rules and compiles them to a policy. It checks expressions against the types of
// their variables, so that it finds a property that no tool has. The error is of type Errors and
// lists all problems.
func Compile(rules []Rule) (*Policy, error) {
	if len(rules) == 0 {
		return &Policy{}, nil
	}
	env, err := newEnv()
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	var errs Errors
	p := &Policy{rules: make([]compiledRule, len(rules))}
	names := map[string]bool{}
	for i, rule := range rules {
		compiled, wrong := p.compile(env, i, rule)
		for _, err := range wrong {
			err.Field = "when"
		}
		if err := tool.CheckName(rule.Name); err != nil {
			wrong = append(wrong, &Error{Field: "name", Message: err.Error()})
		} else if names[rule.Name] {
			wrong = append(wrong, &Error{Field: "name", Message: "another rule has this name already"})
		}
		names[rule.Name] = true
		if !slices.Contains([]Verdict{Allow, Deny, RequireApproval, FourEyes}, rule.Then) {
			wrong = append(wrong, &Error{Field: "then", Message: fmt.Sprintf("%q is not allow, deny, require_approval or four_eyes", rule.Then)})
		}
		for _, message := range approverFaults(&rule) {
			wrong = append(wrong, &Error{Field: "approvers", Message: message})
		}
		for _, err := range wrong {
			err.Index, err.Rule = i, rule.Name
		}
		errs = append(errs, wrong...)
		p.rules[i] = compiled
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return p, nil
}

// maxApprovers is the largest number of groups of a rule: a person reads them.
const maxApprovers = 16

func approverFaults(rule *Rule) (faults []string) {
	if len(rule.Approvers) > 0 && rule.Then != RequireApproval && rule.Then != FourEyes {
		faults = append(faults, fmt.Sprintf("nobody approves what the rule decides, which is %s; use require_approval or four_eyes", rule.Then))
	}
	if len(rule.Approvers) > maxApprovers {
		faults = append(faults, fmt.Sprintf("there are %d groups; a rule may name %d", len(rule.Approvers), maxApprovers))
	}
	for _, key := range rule.Approvers {
		tenant, group := identity.SplitKey(key)
		if err := cmp.Or(identity.CheckTenant(tenant), identity.CheckName(group)); err != nil {
			faults = append(faults, fmt.Sprintf("%q is no group; write GROUP, or TENANT/GROUP outside of the default tenant: %v", key, err))
		}
	}
	return faults
}

// subjects are the variables of expressions.
const subjects = "principal, tenant, groups, via, session, call_id, context, tool and arguments"

// newEnv declares the variables of expressions.
func newEnv() (*cel.Env, error) {
	declared := reflect.TypeFor[toolFacts]()
	return cel.NewEnv(
		ext.NativeTypes(declared, ext.ParseStructTags(true)),
		func(e *cel.Env) (*cel.Env, error) { return cel.CustomTypeAdapter(decoded{e.CELTypeAdapter()})(e) },
		ext.Strings(ext.StringsVersion(4)),
		ext.Sets(),
		cel.CrossTypeNumericComparisons(true),
		cel.Variable("principal", cel.StringType),
		cel.Variable("tenant", cel.StringType),
		cel.Variable("groups", cel.ListType(cel.StringType)),
		cel.Variable("via", cel.StringType),
		cel.Variable("session", cel.StringType),
		cel.Variable("call_id", cel.StringType),
		cel.Variable("context", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("tool", cel.ObjectType(declared.String())),
		cel.Variable("arguments", cel.MapType(cel.StringType, cel.DynType)),
	)
}

// growing returns errors for functions whose result can be much larger than their arguments. CEL
// charges the cost of a step after the step, which is too late for a step that takes all memory.
// The results of the other functions grow linearly, or costs charges them in advance.
func growing(checked *cel.Ast) (errs Errors) {
	source := checked.NativeRep().SourceInfo()
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		if name := e.AsCall().FunctionName(); name == "replace" || name == "format" {
			at := source.GetStartLocation(e.ID())
			errs = append(errs, &Error{Line: at.Line(), Column: at.Column() + 1, Message: fmt.Sprintf("the function %s is not available in rules", name)})
		}
	}))
	return errs
}

// loops reports whether an expression iterates over lists or maps. The steps of other expressions
// are not counted, because counting takes longer than the steps. Their time is proportional to the
// length of the expression and the arguments, and to the steps that work charges for their
// functions in advance.
func loops(checked *cel.Ast) bool {
	found := false
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.Kind() == ast.ComprehensionKind
	}))
	return found
}

// compile compiles a rule, and notes what it reads and which tools it is about.
func (p *Policy) compile(env *cel.Env, at int, rule Rule) (compiled compiledRule, wrong Errors) {
	compiled.Rule = rule
	checked, issues := env.Compile(rule.When)
	if issues.Err() != nil {
		var errs Errors
		for _, issue := range issues.Errors() {
			errs = append(errs, &Error{Line: max(0, issue.Location.Line()), Column: max(0, issue.Location.Column()+1), Message: sentence(issue.Message)})
		}
		return compiled, errs
	}
	if errs := growing(checked); errs != nil {
		return compiled, errs
	}
	p.context.note(checked)
	p.index.add(at, checked)
	if out := checked.OutputType(); !out.IsExactType(cel.BoolType) {
		message := fmt.Sprintf("the expression has to be true or false, and is of type %s", out)
		if out.IsExactType(cel.DynType) {
			message = "the expression has to be true or false, and this may be anything; compare it, as in `arguments.force == true`"
		}
		return compiled, Errors{{Message: message}}
	}
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	if compiled.loops = loops(checked); compiled.loops {
		options = append(options, cel.CustomDecoratorV2(chargedInLoops), cel.CostLimit(maxCost), cel.InterruptCheckFrequency(checkEvery))
	} else {
		options = append(options, cel.CustomDecoratorV2(charged))
	}
	var err error
	if compiled.program, err = env.Program(checked, options...); err != nil {
		return compiled, Errors{{Message: err.Error()}}
	}
	return compiled, nil
}

// sentence turns an error message of CEL into one line for authors of rules. It removes the parts
// about CEL's grammar. For an unknown name, it adds the names that are allowed.
func sentence(message string) string {
	message = strings.Join(strings.Fields(strings.TrimPrefix(message, "Syntax error: ")), " ")
	message, _, _ = strings.Cut(message, " expecting ")
	switch {
	case strings.Contains(message, "'<EOF>'"):
		return "the expression ends too early"
	case strings.HasPrefix(message, "undefined field "):
		return message + "; a tool has " + strings.Join(toolProperties(), ", ")
	case strings.HasPrefix(message, "undeclared reference "):
		return message + "; an expression may speak of " + subjects + ", and use the functions of CEL"
	}
	return message
}

func toolProperties() []string {
	declared := reflect.TypeFor[toolFacts]()
	properties := make([]string, declared.NumField())
	for i := range properties {
		properties[i] = declared.Field(i).Tag.Get("cel")
	}
	return properties
}
