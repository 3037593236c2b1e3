package policy

import (
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// reading is the set of context keys that a rule may read. Tools must not write those keys, so that
// the set may be too large but not too small. If an expression uses the context in any other way
// than by looking up one constant key, the set contains all keys.
type reading struct {
	keys map[string]bool
	all  bool
}

// Reads reports whether a rule may read a key of the context.
func (p *Policy) Reads(key string) bool {
	return p != nil && (p.context.all || p.context.keys[key])
}

// note adds the context keys that an expression reads to the set.
func (r *reading) note(checked *cel.Ast) {
	if r.keys == nil {
		r.keys = map[string]bool{}
	}
	r.visit(ast.NavigateAST(checked.NativeRep()))
}

func (r *reading) visit(e ast.NavigableExpr) {
	if isContext(e) {
		r.all = true
		return
	}
	children := e.Children()
	switch e.Kind() {
	case ast.SelectKind:
		if isContext(e.AsSelect().Operand()) {
			r.keys[e.AsSelect().FieldName()] = true
			return
		}
	case ast.CallKind:
		if key, found := keyOf(e.AsCall()); found {
			r.keys[key] = true
			return
		}
	}
	for _, child := range children {
		r.visit(child)
	}
}

// keyOf returns the constant key of a lookup in the context: context["key"] or "key" in context.
func keyOf(call ast.CallExpr) (key string, found bool) {
	args := call.Args()
	if len(args) != 2 {
		return "", false
	}
	object, index := args[0], args[1]
	switch call.FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect:
	case operators.In:
		object, index = index, object
	default:
		return "", false
	}
	if !isContext(object) || index.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := index.AsLiteral().(types.String)
	return string(text), ok
}

// isContext reports whether an expression is the variable context. It ignores that a variable of a
// loop may hide it.
func isContext(e ast.Expr) bool {
	return e.Kind() == ast.IdentKind && strings.TrimPrefix(e.AsIdent(), ".") == "context"
}
