package client

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// NewCall returns a call of a tool whose arguments are the JSON encoding of a Go value: usually a map or
// a struct. nil means no arguments. The caller may set the other fields of the call. Errors:
// invalid_argument if the value cannot be encoded.
func NewCall(toolName string, arguments any) (tool.Call, error) {
	call := tool.Call{Tool: toolName}
	if arguments == nil {
		return call, nil
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return tool.Call{}, tool.Errorf(tool.KindInvalidArgument, "encoding the arguments of %q: %w", toolName, err)
	}
	call.Arguments = text
	return call, nil
}

// Open begins a call. If complete, call.Arguments are all the arguments, else their beginning, and Send brings the
// rest. ctx bounds only the opening; the principal of the call is ignored, because the server knows who calls.
//
// All calls of a client share one stream, on which none holds up another. The error is that nothing could be sent:
// what the host says of the call, also that there is no such tool, is in the Ended event. If the connection is lost,
// open calls end with KindUnavailable where they cannot have been executed, else with KindOutcomeUnknown: the same
// call id, sent again, then tells. The next Open connects anew.
//
// The execution must be closed. Events that nobody reads are held back by the host, at no cost to other calls.
func (c *Client) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	s, err := c.shared(ctx)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, call, complete)
}

// Call executes a call and waits for its end. The error is the outcome's: a failure of the machinery, always a
// *tool.Error. A tool that says that it failed is no error but a result with IsError. When ctx ends, the call is
// cancelled at the host, whether it has an id or not, and Call waits at most a second more to say how it ended.
func (c *Client) Call(ctx context.Context, call tool.Call) (tool.Outcome, error) {
	call.OutcomeOnly = true
	return c.Follow(ctx, call, func(tool.Event) {})
}

// Follow is Call, and shows every event but the end as it comes. It calls show from its own goroutine, one event at a
// time.
func (c *Client) Follow(ctx context.Context, call tool.Call, show func(tool.Event)) (tool.Outcome, error) {
	execution, err := c.Open(ctx, call, true)
	if err != nil {
		return failed(call.ID, err)
	}
	defer execution.Close()
	for {
		event, err := execution.Next(ctx)
		switch {
		case err != nil:
			return cancelled(ctx, err, call.ID, execution)
		case event.Ended != nil:
			return outcomeOf(event.Ended)
		}
		show(event)
	}
}

// cancelGrace is how long Call waits for the end of a call that it cancelled: most tools stop at once, and then the
// host says what was done and what was not.
const cancelGrace = time.Second

// cancelled ends a call whose caller stopped waiting because of err.
func cancelled(ctx context.Context, err error, callID string, execution tool.Execution) (tool.Outcome, error) {
	execution.Cancel("the caller stopped waiting: " + err.Error())
	if ctx.Err() != nil {
		err = ctx.Err() // the kind is that of the context, whatever cause it was given
	}
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelGrace)
	defer stop()
	for {
		event, nextErr := execution.Next(grace)
		if nextErr != nil {
			return failed(callID, err)
		}
		if event.Ended == nil {
			continue
		}
		if e := event.Ended.Err; e != nil && e.Kind == tool.KindCancelled {
			e.Kind = tool.AsError(err).Kind // it was this caller's time that was up
		}
		return outcomeOf(event.Ended)
	}
}

func outcomeOf(o *tool.Outcome) (tool.Outcome, error) {
	if o.Err != nil {
		return *o, o.Err
	}
	return *o, nil
}

func failed(callID string, err error) (tool.Outcome, error) {
	failure := *tool.AsError(err)
	if failure.CallID == "" {
		failure.CallID = callID
	}
	return tool.Outcome{CallID: failure.CallID, Err: &failure}, &failure
}
