package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Tool is one tool of a plugin: what it declares, and the Go code behind it. Func and Object make them. A Tool is
// immutable and may be used by several plugins.
type Tool struct {
	spec    Spec
	derived bool  // the schemas that the spec left out were made of the types
	err     error // what is wrong with the declaration, for Plugin.Validate
	open    func(ctx context.Context) (object, error)
	plain   plain                                      // decodes most inputs; nil: none
	decode  func()                                     // decodes an empty input; nil: that is the author's code
	vary    func(ctx context.Context) (Variant, error) // nil: it is not dynamic
}

// Spec returns what the tool declares, with the schemas that were derived.
func (t Tool) Spec() Spec { return t.spec }

// object is what serves one call, without its types. The functions are never called concurrently.
type object struct {
	call    func(ctx context.Context, arguments json.RawMessage, decode decoder) (any, error)
	partial func(ctx context.Context, soFar json.RawMessage) // nil: wants no previews
	close   func() error                                     // nil: nothing to close
}

// Func returns a tool that calls fn. In is a struct, a map or json.RawMessage; see the package documentation for what
// becomes of it and of Out.
//
// fn is called from many goroutines at once, one for each call. It should return soon after its context is done.
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
	// Call does the work, once, with complete arguments.
	Call(ctx context.Context, in In) (Out, error)
}

// Previewer is a Caller that sees its arguments while the model still writes them. Its tool must declare
// Spec.PartialArguments.
type Previewer[In any] interface {
	// Partial is shown what has arrived so far: a string may be cut, a list may be short, and what has not come is the
	// zero value. Defaults are not filled in and nothing is validated. It is for previews alone, such as a ReportStatus,
	// and must have no effect.
	//
	// While it runs, newer text gathers, and only the latest is shown next. Its context is done when the arguments are
	// complete: it should return then, because Call waits for it.
	Partial(ctx context.Context, soFar In)
}

// Object returns a tool that opens an object for each call. Everything of one call id reaches one object, and its
// methods are never called concurrently. The types are inferred:
//
//	sdk.Object(spec, func(ctx context.Context) (*editor, error) { return &editor{}, nil })
//
// The object may also be a Previewer, and it may have a method Close() error, which is called exactly once at the end of
// the call, however the call ended: also if it was cancelled, abandoned before its arguments were complete, or panicked.
//
// open is called when the call begins, which is before its arguments are complete; its context is the call's. An error
// of it ends the call as an error of Call would.
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

// checkMethods reports optional methods of O that would never be called, so that a slip in a signature is no riddle.
func checkMethods[O, In any](spec Spec) error {
	t := reflect.TypeFor[O]()
	if t.Kind() == reflect.Interface {
		return nil // what the object can do is known only once there is one
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
		// A wrong type leaves its field empty and spoils no preview; a value such as half a date does not decode at all,
		// and the next text may.
		if err := json.Unmarshal(soFar, &in); err != nil {
			if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
				return
			}
		}
		p.Partial(ctx, in)
	}
}
