package client

import (
	"context"

	"github.com/toolhost/toolhost/tool"
)

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
// *tool.Error. A tool that says that it failed is no error but a result with IsError. When ctx ends, Call returns at
// once and the call is cancelled at the host, whether it has an id or not.
func (c *Client) Call(ctx context.Context, call tool.Call) (tool.Outcome, error) {
	execution, err := c.Open(ctx, call, true)
	if err != nil {
		return failed(call.ID, err)
	}
	defer execution.Close()
	for {
		event, err := execution.Next(ctx)
		switch {
		case err != nil:
			execution.Cancel("the caller stopped waiting: " + err.Error())
			return failed(call.ID, err)
		case event.Ended != nil && event.Ended.Err != nil:
			return *event.Ended, event.Ended.Err
		case event.Ended != nil:
			return *event.Ended, nil
		}
	}
}

func failed(callID string, err error) (tool.Outcome, error) {
	failure := *tool.AsError(err)
	if failure.CallID == "" {
		failure.CallID = callID
	}
	return tool.Outcome{CallID: failure.CallID, Err: &failure}, &failure
}
