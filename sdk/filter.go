package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/tool"
)

// Filter is a function that a toolhost runs around calls of tools, also of other plugins' tools.
// The operator's configuration selects the calls and the order of filters. Tools applies a filter
// to tools of its own plugin without that.
//
//	sdk.Filter{Name: "no_secrets", Description: "Keeps keys out of results.", After: func(ctx context.Context, c *sdk.FilterCall) error {
//		for i, block := range c.Result.Content {
//			c.Result.Content[i].Text = key.ReplaceAllString(block.Text, "[removed]")
//		}
//		c.SetResult(c.Result)
//		return nil
//	}}
//
// Many goroutines call its functions at once. A function should return soon after its context ends.
// The context is that of the filter's own call: CallID returns the id of that call, and Logger
// writes to its log. An error or a panic means that the filter has failed. The operator's
// configuration decides what happens to the call then; by default it ends with an error. For the
// tools in Tools, it always ends with an error. To deny a call, use FilterCall.Deny.
type Filter struct {
	// Name has 1 to 64 of the characters A-Z a-z 0-9 _ - and begins with a letter. No tool of the
	// plugin may have the same name.
	Name string
	// Description tells operators what the filter does. It may be empty.
	Description string
	// Tools are names of tools of the same plugin whose calls always pass the filter, whatever the
	// operator configures. nil: only the operator's configuration applies the filter.
	//
	// The filter runs closest to the tool: before a call after all filters of the operator, and after
	// it before them. If it fails, the call fails. Before runs before the operator's policy and the
	// approval of a person, which decide about the arguments that it makes. So it must have no side
	// effects, and it must not call Answer: the tool can return what the filter would answer. It gets
	// no calls that the policy denies whatever their arguments are. FilterCall has the principal only
	// if the tool declares the context key toolhost.principal.
	Tools []string
	// Before runs before a call, whose arguments are neither repaired nor validated yet. It may
	// call Deny, Answer or SetArguments. nil: the filter does not run before calls.
	Before func(ctx context.Context, call *FilterCall) error
	// After runs when the tool has returned, also if the result says that the call failed. It may
	// call SetResult. nil: the filter does not run after calls.
	After func(ctx context.Context, call *FilterCall) error
}

// FilterCall is a call that a filter sees. Only the methods change the call; changes of the fields
// have no effect. If a filter calls several methods, the last call wins. Only one goroutine at a
// time may use a FilterCall.
type FilterCall struct {
	CallID    string // the id of the filtered call; empty if it has none
	Principal string // the key of the principal that the call is for; empty for some calls, see Filter.Tools
	Groups    []string
	Via       string // the key of the delegate that makes the call; empty: the principal itself
	Session   string // empty: none
	Tool      string
	Plugin    string // the plugin of the tool
	// Arguments are a JSON object, or the text that a model wrote in its place. In After, they are
	// the executed arguments.
	Arguments json.RawMessage
	// Result is the result of the tool. In Before it is empty.
	Result Result

	phase  filterjson.Phase
	answer filterjson.Answer
	err    error // the first wrong use of a method
}

// DecodeArguments decodes the arguments into the value that into points to, as json.Unmarshal does,
// except that in a part of type any, an integer beyond ±2^53 becomes a json.Number.
func (c *FilterCall) DecodeArguments(into any) error {
	if err := unmarshal(c.Arguments, into); err != nil {
		return fmt.Errorf("decoding the arguments of the call: %w", err)
	}
	return nil
}

// Deny ends the call with an error of kind denied. The caller gets the reason.
func (c *FilterCall) Deny(reason string) {
	if c.only(filterjson.Before, "Deny") {
		c.answer = filterjson.Answer{Deny: &reason}
	}
}

// Answer ends the call with a result, and toolhost does not call the tool. For the tools in
// Filter.Tools, the call ends with an error instead.
func (c *FilterCall) Answer(result Result) {
	if c.only(filterjson.Before, "Answer") {
		c.answer = filterjson.Answer{Answer: &result}
	}
}

// SetArguments replaces the arguments by a value whose JSON form is an object. toolhost repairs and
// validates them like those of a caller.
func (c *FilterCall) SetArguments(arguments any) {
	if !c.only(filterjson.Before, "SetArguments") {
		return
	}
	text, err := encodeJSON(arguments)
	if err == nil && !isObject(text) {
		err = errors.New("they are no object")
	}
	if err != nil {
		c.err = fmt.Errorf("setting the arguments: %w", err)
		return
	}
	c.answer = filterjson.Answer{Arguments: text}
}

// SetResult replaces the result. It keeps the duration, and keeps usage and cost if the new result
// has none.
func (c *FilterCall) SetResult(result Result) {
	if c.only(filterjson.After, "SetResult") {
		c.answer = filterjson.Answer{Result: &result}
	}
}

// only reports whether the phase is the one in which a method is allowed. If not, it records an
// error.
func (c *FilterCall) only(phase filterjson.Phase, method string) bool {
	if c.phase != phase {
		c.err = fmt.Errorf("the filter called %s, which can only be called %s the tool", method, phase)
		return false
	}
	return true
}

func isObject(text json.RawMessage) bool { return len(text) > 0 && text[0] == '{' }

// open returns the object that serves one call of the filter.
func (f Filter) open(context.Context) (object, error) {
	return object{call: func(ctx context.Context, arguments json.RawMessage, _ decoder) (any, error) {
		q, err := filterjson.DecodeRequest(arguments)
		if err != nil {
			return nil, Internal("%w", err)
		}
		return f.ask(ctx, q)
	}}, nil
}

func (f Filter) ask(ctx context.Context, q filterjson.Request) (any, error) {
	c := &FilterCall{
		CallID: q.CallID, Principal: q.Principal, Groups: q.Groups, Via: q.Via, Session: q.Session, Tool: q.Tool, Plugin: q.Plugin, Arguments: q.Arguments,
		phase: q.Phase,
	}
	if q.Result != nil {
		c.Result = *q.Result
	}
	function := f.Before
	if q.Phase == filterjson.After {
		function = f.After
	}
	if function == nil {
		return nil, nil
	}
	if err := errors.Join(function(ctx, c), c.err); err != nil {
		return nil, err
	}
	for _, result := range []*Result{c.answer.Answer, c.answer.Result} {
		if result == nil {
			continue
		}
		formed, err := wellFormed(*result)
		if err != nil {
			return nil, err
		}
		*result = formed
	}
	answer, err := filterjson.EncodeAnswer(c.answer)
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// spec returns the declaration of the filter.
func (f Filter) spec() tool.Filter {
	return tool.Filter{Name: f.Name, Description: f.Description, Before: f.Before != nil, After: f.After != nil, Tools: f.Tools}
}

func (f Filter) check() error {
	var problems []error
	if err := tool.CheckName(f.Name); err != nil {
		problems = append(problems, err)
	}
	if f.Before == nil && f.After == nil {
		problems = append(problems, errors.New("it has neither Before nor After"))
	}
	return errors.Join(problems...)
}

// checkTools returns an error if the filter applies to a tool that the plugin does not have.
func (f Filter) checkTools(tools []Tool) error {
	var problems []error
	for i, name := range f.Tools {
		if !slices.ContainsFunc(tools, func(t Tool) bool { return t.spec.Name == name }) {
			problems = append(problems, fmt.Errorf("it applies to the tool %q, which the plugin does not have", name))
		}
		if slices.Contains(f.Tools[:i], name) {
			problems = append(problems, fmt.Errorf("it names the tool %q twice", name))
		}
	}
	return errors.Join(problems...)
}
