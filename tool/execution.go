package tool

import "context"

// Execution is a call under way, as its caller holds it. The host makes them, and the client makes the same of a host
// elsewhere. Send, Next and Cancel may be used from different goroutines; each of them from one at a time.
type Execution interface {
	// Send adds argument text to a call that was opened without complete arguments; complete says that nothing follows,
	// so that the call is validated and executed. Text may be split anywhere. Send returns once the text is handed on,
	// not when it is used. After the call has ended it does nothing.
	Send(ctx context.Context, text []byte, complete bool) error
	// Next returns the next event and blocks until there is one. The event with Ended set is the last; after it Next
	// returns io.EOF. Any other error is ctx's, or an *Error that says why the events cannot be had, although the call
	// may go on.
	Next(ctx context.Context) (Event, error)
	// Cancel asks to stop the call. It does not block; the call still ends with an Ended event.
	Cancel(reason string)
	// Close says that the caller is not interested any more, and releases what the execution holds. A call whose
	// arguments are not complete is abandoned: nothing is executed. A call without an id of the caller's choice is
	// cancelled; any other goes on. Close may be called more than once, from any goroutine.
	Close()
}
