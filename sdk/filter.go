package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/internal/rpc/filterjson"
	"github.com/toolhost/toolhost/tool"
)

// Filter is a function that a toolhost asks around calls of tools, also of other plugins' tools. The operator's
// configuration says around which calls, and in which order.
//
//	sdk.Filter{Name: "no_secrets", Description: "Keeps keys out of results.", After: func(ctx context.Context, c *sdk.FilterCall) error {
//		for i, block := range c.Result.Content {
//			c.Result.Content[i].Text = key.ReplaceAllString(block.Text, "[removed]")
//		}
//		c.SetResult(c.Result)
//		return nil
//	}}
//
// Its functions are called from many goroutines at once, and should return soon after their context is done. The context
// is that of a call of its own: CallID gives that one's id, and Logger writes to its log. An error, or a panic, says that
// the filter failed; what becomes of the call then is the operator's choice: most often it ends with an error. To keep a
// call from being made, use FilterCall.Deny.
type Filter struct {
	// Name is 1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter; no tool of the plugin may have it.
	Name string
	// Description says what the filter does, for operators. It may be empty.
	Description string
	// Before is asked before a call, whose arguments have been neither repaired nor validated. It may call Deny, Answer or
	// SetArguments. Nil: the filter is not asked then.
	Before func(ctx context.Context, call *FilterCall) error
	// After is asked when the tool has answered, also if the result says that it failed. It may call SetResult. Nil: the
	// filter is not asked then.
	After func(ctx context.Context, call *FilterCall) error
}

// FilterCall is a call as a filter sees it. Where a filter says several things of one call, the last one counts; where it
// says nothing, all stays as it is, whatever it does to the fields. It may be used by one goroutine at a time.
type FilterCall struct {
	CallID    string // of the call that is filtered; empty if it has none
	Principal string // who calls
	Session   string // empty: none
	Tool      string
	Plugin    string // that ships the tool
	// Arguments are a JSON object, or what a model took for one; after the call those that were executed.
	Arguments json.RawMessage
	// Result is what the tool answered. It is empty before the call.
	Result Result

	phase  filterjson.Phase
	answer filterjson.Answer
	err    error // what was said wrongly
}

// DecodeArguments decodes the arguments into the value that a pointer points to, as json.Unmarshal does.
func (c *FilterCall) DecodeArguments(into any) error {
	if err := json.Unmarshal(c.Arguments, into); err != nil {
		return fmt.Errorf("decoding the arguments of the call: %w", err)
	}
	return nil
}

// Deny keeps the call from being made: it ends with an error of kind denied. The caller is told the reason.
func (c *FilterCall) Deny(reason string) {
	if c.only(filterjson.Before, "Deny") {
		c.answer = filterjson.Answer{Deny: &reason}
	}
}

// Answer ends the call with a result, as if it were the tool's, which is not called.
func (c *FilterCall) Answer(result Result) {
	if c.only(filterjson.Before, "Answer") {
		c.answer = filterjson.Answer{Answer: &result}
	}
}

// SetArguments replaces the arguments by a value whose JSON form is an object. They are repaired and validated as those of
// a caller.
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

// SetResult replaces the result. How long the tool took stays, and so do usage and cost where the result has none.
func (c *FilterCall) SetResult(result Result) {
	if c.only(filterjson.After, "SetResult") {
		c.answer = filterjson.Answer{Result: &result}
	}
}

// only reports whether the phase is the one in which a method has a meaning, and notes an error if it is not.
func (c *FilterCall) only(phase filterjson.Phase, method string) bool {
	if c.phase != phase {
		c.err = fmt.Errorf("the filter called %s, which can only be called %s the tool", method, phase)
		return false
	}
	return true
}

func isObject(text json.RawMessage) bool { return len(text) > 0 && text[0] == '{' }

// open returns the filter as what serves one call.
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
		CallID: q.CallID, Principal: q.Principal, Session: q.Session, Tool: q.Tool, Plugin: q.Plugin, Arguments: q.Arguments,
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

// spec returns what the filter declares.
func (f Filter) spec() tool.Filter {
	return tool.Filter{Name: f.Name, Description: f.Description, Before: f.Before != nil, After: f.After != nil}
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
