package policy

import (
	"context"
	"errors"
	"io"
	"regexp"
	"unicode/utf8"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/toolhost/toolhost/internal/text/pattern"
)

// CEL counts a step after it is done, and checks its context only in loops. Functions that take
// more than linear time, and functions whose result takes much more memory than their arguments,
// are therefore charged in advance. A regular expression takes up to one step for each character of
// the text and each state of the pattern. costs has the other functions. One budget covers a whole
// decision, whatever the number of rules.
const (
	// maxSteps is the budget of one decision, at most about a second of work. It allows matching a
	// pattern of ten characters with a text of 6 MB.
	maxSteps = 1 << 26
	// fewSteps is the number of steps that run to their end although the context may end in
	// between: about 20 ms.
	fewSteps = 1 << 20
	// maxPattern bounds the length of a pattern that a rule takes from a call.
	maxPattern = 4 << 10
	// workVariable is the name by which functions find the budget. No expression can contain that
	// name.
	workVariable = "@work"
)

var (
	errTooManySteps = errors.New("it takes too many steps")
	errLongPattern  = errors.New("a regular expression is too long")
)

// work is the budget of one decision. It is not safe for concurrent use.
type work struct {
	ctx  context.Context
	left int
}

// charge takes steps from the budget. If too few are left, or if the context has ended, it returns
// an error and leaves none.
func (w *work) charge(steps int) error {
	if steps > w.left {
		w.left = 0
		return errTooManySteps
	}
	w.left -= steps
	return w.ctx.Err()
}

// product multiplies two lengths. If the product would overflow, the result exceeds every budget.
func product(a, b int) int {
	if a > maxSteps || b > maxSteps {
		return maxSteps + 1
	}
	return a * b // at most 2^52
}

// matches reports whether a text matches a pattern, within the budget.
func (w *work) matches(re *regexp.Regexp, size int, text string) (bool, error) {
	steps := product(len(text), size)
	if err := w.charge(steps); err != nil {
		return false, err
	}
	if steps <= fewSteps {
		return re.MatchString(text), nil
	}
	r := &endingReader{ctx: w.ctx, text: text, every: max(1, fewSteps/size)}
	found := re.MatchReader(r)
	return found, r.err
}

// endingReader reads a text for a regular expression. It ends early once its context has ended.
type endingReader struct {
	ctx   context.Context
	text  string
	every int // the number of characters between two checks of the context
	read  int
	err   error // of the context
}

// ReadRune implements io.RuneReader.
func (r *endingReader) ReadRune() (rune, int, error) {
	if r.read++; r.read%r.every == 0 {
		r.err = r.ctx.Err()
	}
	if r.err != nil || r.text == "" {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRuneInString(r.text)
	r.text = r.text[n:]
	return c, n, nil
}

// charged is an InterpreterDecoratorV2 that charges the functions of more than linear time before
// they begin.
func charged(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok {
		return i, nil
	}
	if call.Function() == "matches" {
		return newMatching(call)
	}
	if cost := costs[call.Function()]; cost != nil {
		return &charging{call, cost}, nil
	}
	if allocating[call.Function()] {
		return &chargingResult{call}, nil
	}
	return i, nil
}

// chargedInLoops does what charged does, for an expression that has a loop. There, it also charges
// the budget of the decision for calls of functions whose time is linear in their argument.
func chargedInLoops(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	if call, ok := i.(interpreter.InterpretableCall); ok {
		if cost := repeated[call.Function()]; cost != nil {
			return newChargingRepeated(call, cost), nil
		}
	}
	return charged(i)
}

// matching is the function matches.
type matching struct {
	call interpreter.InterpretableCall
	re   *regexp.Regexp // nil: the pattern is known only at the call
	size int            // of re
}

// ID implements interpreter.Interpretable.
func (m *matching) ID() int64 { return m.call.ID() }

func newMatching(call interpreter.InterpretableCall) (*matching, error) {
	m := &matching{call: call}
	if constant, ok := call.Args()[1].(interpreter.InterpretableConst); ok {
		if text, ok := constant.Value().(types.String); ok {
			var err error
			m.re, err = regexp.Compile(string(text))
			m.size = pattern.Size(string(text))
			return m, err
		}
	}
	return m, nil
}

// Exec implements interpreter.InterpretableV2.
func (m *matching) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	args := m.call.Args()
	values := make([]ref.Val, len(args))
	constants := make([]interpreter.InterpretableV2, len(args))
	for i, arg := range args {
		if values[i] = arg.Exec(frame); types.IsUnknownOrError(values[i]) {
			return values[i]
		}
		constants[i] = interpreter.NewConstValue(arg.ID(), values[i])
	}
	out := m.match(workOf(frame), values)
	if frame.CostTracker() != nil { // CEL counts the cost where it calls a function
		return interpreter.NewCall(m.ID(), m.call.Function(), m.call.OverloadID(), constants, func(...ref.Val) ref.Val { return out }).Exec(frame)
	}
	return out
}

// Eval implements interpreter.Interpretable.
func (m *matching) Eval(vars interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(vars, m.Exec)
}

func (m *matching) match(w *work, values []ref.Val) ref.Val {
	text, isText := values[0].(types.String)
	source, isPattern := values[1].(types.String)
	if !isText || !isPattern {
		return types.NoSuchOverloadErr()
	}
	re, size := m.re, m.size
	if re == nil {
		if len(source) > maxPattern {
			return types.WrapErr(errLongPattern)
		}
		size = pattern.Size(string(source))
		if err := w.charge(product(size, len(source))); err != nil {
			return types.WrapErr(err)
		}
		var err error
		if re, err = regexp.Compile(string(source)); err != nil {
			return types.WrapErr(err)
		}
	}
	found, err := w.matches(re, size, string(text))
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(found)
}

// workOf returns the budget of the decision that an evaluation belongs to.
func workOf(frame *interpreter.ExecutionFrame) *work {
	if found, ok := frame.ResolveName(workVariable); ok {
		if w, ok := found.(*work); ok {
			return w
		}
	}
	return &work{ctx: context.Background(), left: maxSteps}
}
