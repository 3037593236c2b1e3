package tool

import "context"

// Execution is a running call of the caller. A host returns it, and a client returns one for a
// remote host. Different goroutines may use Send, Next and Cancel at the same time, but only one
// goroutine may use each of them.
type Execution interface {
	// Send adds argument text to a call that was opened without complete arguments. The text may
	// end anywhere. complete says that no text follows: the host then validates and executes the
	// call. Send returns when it has passed the text on, before the host uses it. After the end of
	// the call, Send does nothing.
	Send(ctx context.Context, text []byte, complete bool) error
	// Next returns the next event, and blocks until there is one. The last event has Ended set;
	// after it, Next returns io.EOF. Any other error is that of ctx, or an *Error that says why
	// events are not available although the call may continue.
	Next(ctx context.Context) (Event, error)
	// Cancel requests the end of the call. It does not block. The call still ends with an Ended
	// event.
	Cancel(reason string)
	// Close releases the resources of the execution. The host abandons a call whose arguments are
	// not complete, and executes nothing. It cancels a call whose id the host generated. Any other
	// call continues. Any goroutine may call Close, and more than once.
	Close()
}
