package policy

import (
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// costs has the steps of functions that are charged before they begin, by their arguments. A step
// is a byte that the function allocates, or about as much time as a comparison of a few bytes. A
// test checks that every function of CEL is here, or is known to be linear.
var costs = map[string]func(args []ref.Val) int{
	"indexOf":         searching,
	"lastIndexOf":     searching,
	"sets.contains":   comparing,
	"sets.equivalent": comparing,
	"sets.intersects": comparing,
	"join":            joining,
	"split":           splitting,
	"charAt":          decoding,
	"substring":       decoding,
}

// allocating are the functions whose results are charged when they are there. A result is at most a
// few times larger than the arguments, but a loop may keep many of them. CEL counts the bytes only
// if it knows the types, and it does not know those of arguments.
var allocating = map[string]bool{
	"_+_": true, "bytes": true, "lowerAscii": true, "reverse": true, "string": true, "strings.quote": true, "trim": true, "upperAscii": true,
}

// repeated are the functions that take linear time and allocate nothing. Only a loop can make them
// take long, so they are charged in rules with loops. CEL counts the bytes of their arguments only
// if it knows the types. An argument is nil if it is neither a variable, nor a part of one, nor a
// constant: what an expression computes was charged, or is as short as the rule.
var repeated = map[string]func(args []ref.Val) int{
	"size": scanning, "contains": scanning, "startsWith": scanning, "endsWith": scanning,
	"int": converting, "uint": converting, "double": converting, "bool": converting, "timestamp": converting, "duration": converting,
	"_==_": equating, "_!=_": equating, "_<_": ordering, "_<=_": ordering, "_>_": ordering, "_>=_": ordering,
	"@in": finding, "_in_": finding, "in": finding,
}

// scanning is the cost of reading texts.
func scanning(args []ref.Val) (steps int) {
	for _, arg := range args {
		steps += textSteps(arg)
	}
	return steps
}

// converting is the cost of reading a number or a time from a text. An error has a copy of the
// text.
func converting(args []ref.Val) int {
	if text, ok := args[0].(types.String); ok {
		return len(text)
	}
	return 0
}

// ordering is the cost of comparing two texts up to the end of the shorter one.
func ordering(args []ref.Val) int { return min(textSteps(args[0]), textSteps(args[1])) }

// equating is the cost of comparing two values up to their first difference.
func equating(args []ref.Val) int {
	steps, _ := equalSteps(args[0], args[1])
	return steps
}

// finding is the cost of comparing a value with each element of a list.
func finding(args []ref.Val) (steps int) {
	list, ok := args[1].(traits.Lister)
	if !ok {
		return textSteps(args[0])
	}
	for it := list.Iterator(); args[0] != nil && it.HasNext() == types.True; {
		more, _ := equalSteps(args[0], it.Next())
		steps += more
	}
	return steps
}

// textSteps returns how many steps it takes to read a text.
func textSteps(value ref.Val) int {
	switch v := value.(type) {
	case types.String:
		return len(v) / comparedBytes
	case types.Bytes:
		return len(v) / comparedBytes
	}
	return 0
}

// equalSteps returns how many steps it takes to compare two values, and whether the values may be
// equal. Texts of the same length may be.
func equalSteps(a, b ref.Val) (steps int, alike bool) {
	switch x := a.(type) {
	case types.String:
		y, ok := b.(types.String)
		if !ok || len(x) != len(y) {
			return 0, false
		}
		return textSteps(x), true
	case types.Bytes:
		return min(textSteps(a), textSteps(b)), true
	case traits.Mapper:
		y, ok := b.(traits.Mapper)
		if !ok || sizeOf(x) != sizeOf(y) {
			return 0, false
		}
		for it := x.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			other, found := y.Find(key)
			if !found {
				return steps, false
			}
			more, alike := equalSteps(x.Get(key), other)
			if steps += 1 + textSteps(key) + more; !alike {
				return steps, false
			}
		}
		return steps, true
	case traits.Lister:
		y, ok := b.(traits.Lister)
		if !ok || sizeOf(x) != sizeOf(y) {
			return 0, false
		}
		other := y.Iterator()
		for it := x.Iterator(); it.HasNext() == types.True; {
			more, alike := equalSteps(it.Next(), other.Next())
			if steps += 1 + more; !alike {
				return steps, false
			}
		}
		return steps, true
	}
	return 0, a != nil && b != nil && a.Equal(b) == types.True
}

const (
	// elementBytes is what an element of a list of texts takes: the header of the text in the list,
	// and again when CEL reads the element.
	elementBytes = 32
	// decodedBytes is what a character takes that is decoded.
	decodedBytes = 4
	// pairSteps is what comparing two small values takes.
	pairSteps = 8
	// comparedBytes is how many bytes of two texts are compared in a step.
	comparedBytes = 16
)

// searching is the cost of a search for a text within a text, which may compare each pair of
// characters.
func searching(args []ref.Val) int { return product(sizeOf(args[0]), sizeOf(args[1])) }

// comparing is the cost of comparing two lists as sets, which may compare each pair of elements.
// Two elements are compared up to the end of the smaller one.
func comparing(args []ref.Val) int {
	a, b := args[0], args[1]
	return min(product(sizeOf(a), pairSteps*deepSize(b)), product(sizeOf(b), pairSteps*deepSize(a)))
}

// joining is the cost of a text that is joined from a list: its bytes. The separator may come from
// a call, like the list.
func joining(args []ref.Val) int {
	list, ok := args[0].(traits.Lister)
	if !ok {
		return 1
	}
	n, bytes := sizeOf(list), 0
	for it := list.Iterator(); it.HasNext() == types.True; {
		if text, ok := it.Next().(types.String); ok {
			bytes = min(bytes+len(text), maxSteps+1)
		}
	}
	separator := 0
	if len(args) > 1 {
		separator = sizeOf(args[1])
	}
	return bytes + min(product(n, separator+elementBytes), maxSteps+1)
}

// splitting is the cost of the list into which a text is split.
func splitting(args []ref.Val) int {
	text, ok := args[0].(types.String)
	separator, isText := args[1].(types.String)
	if !ok || !isText {
		return 1
	}
	elements := strings.Count(string(text), string(separator)) + 1 // of an empty separator: characters
	if len(args) > 2 {
		if limit, ok := args[2].(types.Int); ok && limit >= 0 {
			elements = min(elements, int(limit))
		}
	}
	return product(elements, elementBytes)
}

// decoding is the cost of a part of a text, for which CEL decodes the whole text.
func decoding(args []ref.Val) int { return product(sizeOf(args[0]), decodedBytes) }

// sizeOf returns the size of a text or list.
func sizeOf(value ref.Val) int {
	if text, ok := value.(types.String); ok {
		return len(text)
	}
	if sized, ok := value.(traits.Sizer); ok {
		if n, ok := sized.Size().(types.Int); ok {
			return int(n)
		}
	}
	return 1
}

// deepSize returns how many steps it takes to compare a value with one that is equal to it.
func deepSize(value ref.Val) int {
	switch v := value.(type) {
	case types.String:
		return 1 + len(v)/comparedBytes
	case types.Bytes:
		return 1 + len(v)/comparedBytes
	case traits.Mapper:
		size := 1
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			size += deepSize(key) + deepSize(v.Get(key))
		}
		return size
	case traits.Lister:
		size := 1
		for it := v.Iterator(); it.HasNext() == types.True; {
			size += deepSize(it.Next())
		}
		return size
	}
	return 1
}

// charging is a function that is charged before it begins.
//
// Like matching, it does not implement InterpretableCall: CEL would optimize calls that it
// recognizes, and remove the charge.
type charging struct {
	call interpreter.InterpretableCall
	cost func(args []ref.Val) int
}

// ID implements interpreter.Interpretable.
func (c *charging) ID() int64 { return c.call.ID() }

// Exec implements interpreter.InterpretableV2. The arguments are evaluated twice: here to measure
// them, and by the call.
func (c *charging) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	args := make([]ref.Val, len(c.call.Args()))
	for i, arg := range c.call.Args() {
		if args[i] = arg.Exec(frame); types.IsUnknownOrError(args[i]) {
			return args[i]
		}
	}
	if err := workOf(frame).charge(c.cost(args)); err != nil {
		return types.WrapErr(err)
	}
	return c.call.Exec(frame)
}

// Eval implements interpreter.Interpretable.
func (c *charging) Eval(vars interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(vars, c.Exec)
}

// chargingRepeated is a function of repeated. It is not an InterpretableCall either.
type chargingRepeated struct {
	call interpreter.InterpretableCall
	args []interpreter.InterpretableV2 // nil: its value is not known before the call
	cost func(args []ref.Val) int
}

// newChargingRepeated returns the function with its charge, or without one if a constant bounds its
// steps.
func newChargingRepeated(call interpreter.InterpretableCall, cost func(args []ref.Val) int) interpreter.InterpretableV2 {
	c := &chargingRepeated{call: call, args: make([]interpreter.InterpretableV2, 2), cost: cost}
	read := false
	for i, arg := range call.Args()[:min(len(call.Args()), 2)] {
		switch arg.(type) {
		case interpreter.InterpretableConst:
			if call.Function() != "contains" { // which reads the other text
				return call
			}
		case interpreter.InterpretableAttribute:
			c.args[i], read = arg, true
		}
	}
	if !read {
		return call
	}
	return c
}

// ID implements interpreter.Interpretable.
func (c *chargingRepeated) ID() int64 { return c.call.ID() }

// Exec implements interpreter.InterpretableV2. It looks up its variables twice, which does not take
// long.
func (c *chargingRepeated) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	var args [2]ref.Val
	for i, arg := range c.args {
		if arg == nil {
			continue
		}
		if value := arg.Exec(frame); !types.IsUnknownOrError(value) {
			args[i] = value
		}
	}
	w := workOf(frame)
	if w.left == 0 { // the macro all goes on after an error
		return types.WrapErr(errTooManySteps)
	}
	if err := w.charge(c.cost(args[:])); err != nil {
		return types.WrapErr(err)
	}
	return c.call.Exec(frame)
}

// Eval implements interpreter.Interpretable.
func (c *chargingRepeated) Eval(vars interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(vars, c.Exec)
}

// chargingResult is a function of allocating. It is not an InterpretableCall either.
type chargingResult struct{ call interpreter.InterpretableCall }

// ID implements interpreter.Interpretable.
func (c *chargingResult) ID() int64 { return c.call.ID() }

// Exec implements interpreter.InterpretableV2.
func (c *chargingResult) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	w := workOf(frame)
	if w.left == 0 { // the macro all goes on after an error
		return types.WrapErr(errTooManySteps)
	}
	out := c.call.Exec(frame)
	size := 0
	switch v := out.(type) {
	case types.String:
		size = len(v)
	case types.Bytes:
		size = len(v)
	}
	if size == 0 {
		return out // a number or a list, which CEL does not copy
	}
	if err := w.charge(size); err != nil {
		return types.WrapErr(err)
	}
	return out
}

// Eval implements interpreter.Interpretable.
func (c *chargingResult) Eval(vars interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(vars, c.Exec)
}
