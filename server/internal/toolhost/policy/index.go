package policy

import (
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// index finds the rules that may match a call of a tool. A rule that begins with the names of the
// tools that it is about is not evaluated for calls of others, so that a call takes no longer
// because there are rules about other tools. The zero value has no rules.
type index struct {
	general []int            // the rules that any tool may match, in order
	named   map[string][]int // the others, by the name of a tool, in order
}

// add adds a rule. Rules are added in order.
func (x *index) add(rule int, checked *cel.Ast) {
	names, found := namesIn(checked.NativeRep().Expr())
	if !found {
		x.general = append(x.general, rule)
		return
	}
	if x.named == nil {
		x.named = map[string][]int{}
	}
	for name := range names {
		x.named[name] = append(x.named[name], rule)
	}
}

// of returns the rules that calls of a tool may match.
func (x *index) of(tool string) candidates { return candidates{x.general, x.named[tool]} }

// candidates are rules to evaluate, in two ordered lists.
type candidates struct{ general, named []int }

// next removes and returns the first rule.
func (c *candidates) next() (rule int, found bool) {
	from := &c.general
	if len(*from) == 0 || len(c.named) > 0 && c.named[0] < (*from)[0] {
		from = &c.named
	}
	if len(*from) == 0 {
		return 0, false
	}
	rule, *from = (*from)[0], (*from)[1:]
	return rule, true
}

// namesIn returns the names of tools without which an expression is false, whatever else it says.
// For other tools its evaluation reads only what is plain: it neither fails, nor takes steps from
// the budget of the decision. That is why an operand of && counts only after plain ones.
func namesIn(e ast.Expr) (names map[string]bool, found bool) {
	if e.Kind() != ast.CallKind {
		return nil, false
	}
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.LogicalAnd:
		for _, arg := range args {
			if names, found := namesIn(arg); found || !plain(arg) {
				return names, found
			}
		}
	case operators.LogicalOr:
		all := map[string]bool{}
		for _, arg := range args {
			some, found := namesIn(arg)
			if !found {
				return nil, false
			}
			for name := range some {
				all[name] = true
			}
		}
		return all, true
	case operators.Equals:
		if isToolName(args[1]) {
			return textsOf(args[1], args[0])
		}
		return textsOf(args[0], args[1])
	case operators.In:
		if args[1].Kind() == ast.ListKind {
			return textsOf(args[0], args[1].AsList().Elements()...)
		}
	}
	return nil, false
}

// textsOf returns the constants with which an expression compares the name of the tool.
func textsOf(subject ast.Expr, constants ...ast.Expr) (texts map[string]bool, found bool) {
	if !isToolName(subject) {
		return nil, false
	}
	texts = map[string]bool{}
	for _, e := range constants {
		if e.Kind() != ast.LiteralKind {
			return nil, false
		}
		text, ok := e.AsLiteral().(types.String)
		if !ok {
			return nil, false
		}
		texts[string(text)] = true
	}
	return texts, true
}

func isToolName(e ast.Expr) bool { return propertyOf(e) == "name" }

// propertyOf returns the property of the tool that an expression is; "" if it is none.
func propertyOf(e ast.Expr) string {
	if e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() {
		return ""
	}
	if of := e.AsSelect().Operand(); of.Kind() != ast.IdentKind || of.AsIdent() != "tool" {
		return ""
	}
	return e.AsSelect().FieldName()
}

// plain reports whether an expression only compares texts and flags of the tool, and names of the
// call, with each other and with constants. Its evaluation cannot fail.
func plain(e ast.Expr) bool {
	switch e.Kind() {
	case ast.LiteralKind:
		return true
	case ast.IdentKind:
		return slices.Contains([]string{"principal", "tenant", "via", "session", "call_id"}, e.AsIdent())
	case ast.SelectKind:
		return slices.Contains([]string{"name", "plugin", "category", "version", "dangerous", "read_only", "idempotent"}, propertyOf(e))
	case ast.CallKind:
		known := []string{operators.Equals, operators.NotEquals, operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot}
		return slices.Contains(known, e.AsCall().FunctionName()) && !e.AsCall().IsMemberFunction() &&
			!slices.ContainsFunc(e.AsCall().Args(), func(arg ast.Expr) bool { return !plain(arg) })
	}
	return false
}
