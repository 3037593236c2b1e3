package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Tool is one tool of a plugin: its declaration and the Go code behind it. Func and Object return
// tools. A Tool is immutable, and several plugins may use it.
type Tool struct {
	spec    Spec
	derived bool         // the schemas without a spec come from the types
	input   reflect.Type // of the tool's input
	err     error        // the error of the declaration, for Plugin.Validate
	open    func(ctx context.Context) (object, error)
	vary    func(ctx context.Context) (Variant, error) // nil: the tool is not dynamic
	settle  check                                      // nil: the tool cannot say what became of a call
}

// check says what became of an earlier call, without the type of the arguments.
type check func(ctx context.Context, arguments json.RawMessage, decode decoder) (Settlement, error)

// Spec returns the declaration of the tool, with the derived schemas.
func (t Tool) Spec() Spec { return t.spec }

// object serves one call, without the types of the tool. Only one of its functions runs at a time.
type object struct {
	call    func(ctx context.Context, arguments json.RawMessage, decode decoder) (any, error)
	partial func(ctx context.Context, soFar json.RawMessage) // nil: no previews
	close   func() error                                     // nil: nothing to close
}

// Func returns a tool that calls fn. In is a struct, a map or json.RawMessage. The package
// documentation says how the SDK converts In and Out.
//
// Many goroutines call fn at once, one for each call. fn should return soon after its context ends.
func Func[In, Out any](spec Spec, fn func(ctx context.Context, in In) (Out, error)) Tool {
	t := declare[In, Out](spec)
	switch {
	case fn == nil:
		t.err = errors.Join(t.err, errors.New("its function is nil"))
	case spec.PartialArguments:
		t.err = errors.Join(t.err, errors.New("it declares PartialArguments, but a function cannot be shown them; use Object"))
	}
	bound := object{call: typedCall(fn)}
	t.open = func(context.Context) (object, error) { return bound, nil }
	return t
}

// Caller is an object that serves one call.
type Caller[In, Out any] interface {
	// Call does the work. The SDK calls it once, with complete arguments.
	Call(ctx context.Context, in In) (Out, error)
}

// Previewer is a Caller that sees its arguments while the model still writes them. Its tool must
// set Spec.PartialArguments.
type Previewer[In any] interface {
	// Partial gets the arguments so far. A string may be cut, a list may be short, and an absent
	// argument is the zero value. The arguments have no defaults and are not validated. Partial is
	// only for previews, such as a ReportStatus, and must have no side effects.
	//
	// While Partial runs, newer text gathers, and only the latest arguments are passed to it next.
	// Its context ends when the arguments are complete. It should return then, because Call waits
	// for it.
	Partial(ctx context.Context, soFar In)
}

// Object returns a tool that opens an object for each call. One object serves one call id, and only
// one of its methods runs at a time. Go infers the types:
//
//	sdk.Object(spec, func(ctx context.Context) (*editor, error) { return &editor{}, nil })
//
// The object may also be a Previewer, and it may have a method Close() error. The SDK calls Close
// exactly once at the end of the call, also if the call was cancelled, was abandoned before its
// arguments were complete, or panicked.
//
// The SDK calls open at the beginning of the call, before the arguments are complete. The context
// of open is the call's. An error of open ends the call like an error of Call.
func Object[O Caller[In, Out], In, Out any](spec Spec, open func(ctx context.Context) (O, error)) Tool {
	t := declare[In, Out](spec)
	if open == nil {
		t.err = errors.Join(t.err, errors.New("its function that opens an object is nil"))
	}
	t.err = errors.Join(t.err, checkMethods[O, In](spec))
	t.open = func(ctx context.Context) (object, error) {
		o, err := open(ctx)
		if err != nil {
			return object{}, err
		}
		bound := object{call: typedCall(o.Call)}
		if p, ok := any(o).(Previewer[In]); ok && spec.PartialArguments {
			bound.partial = typedPartial(p)
		}
		if c, ok := any(o).(interface{ Close() error }); ok {
			bound.close = c.Close
		}
		return bound, nil
	}
	return t
}

// checkMethods reports optional methods of O with a wrong signature, which the SDK would never
// call.
func checkMethods[O, In any](spec Spec) error {
	t := reflect.TypeFor[O]()
	if t.Kind() == reflect.Interface {
		return nil // the methods of an interface's value are known only at the call
	}
	_, hasPartial := t.MethodByName("Partial")
	previews := t.Implements(reflect.TypeFor[Previewer[In]]())
	var problems []error
	switch {
	case hasPartial && !previews:
		problems = append(problems, fmt.Errorf("the method Partial of %s must be Partial(context.Context, %s)", t, reflect.TypeFor[In]()))
	case previews && !spec.PartialArguments:
		problems = append(problems, fmt.Errorf("%s has a method Partial, but the spec does not declare PartialArguments", t))
	case !previews && spec.PartialArguments:
		problems = append(problems, fmt.Errorf("it declares PartialArguments, but %s has no method Partial(context.Context, %s)", t, reflect.TypeFor[In]()))
	}
	if _, has := t.MethodByName("Close"); has && !t.Implements(reflect.TypeFor[interface{ Close() error }]()) {
		problems = append(problems, fmt.Errorf("the method Close of %s must be Close() error", t))
	}
	return errors.Join(problems...)
}

func typedCall[In, Out any](fn func(context.Context, In) (Out, error)) func(context.Context, json.RawMessage, decoder) (any, error) {
	return func(ctx context.Context, arguments json.RawMessage, decode decoder) (any, error) {
		var in In
		if err := decode(arguments, &in); err != nil {
			return nil, err
		}
		return fn(ctx, in)
	}
}

func typedPartial[In any](p Previewer[In]) func(context.Context, json.RawMessage) {
	return func(ctx context.Context, soFar json.RawMessage) {
		var in In
		// A wrong type leaves its field empty, and the preview is still useful. A value such as
		// half a date does not decode at all, but a later text may.
		if err := unmarshal(soFar, &in); err != nil {
			if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
				return
			}
		}
		p.Partial(ctx, in)
	}
}
