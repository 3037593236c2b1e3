package model

import (
	"errors"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Error is the reason why a request produced no response.
type Error struct {
	// Status is the HTTP status. 0 means that there was no HTTP response.
	Status int
	// Code is the provider's error code, such as "overloaded_error". It may be empty.
	Code string
	// Message describes the failure for people.
	Message string
	// RetryAfter is how long the provider asks the client to wait. 0 means that it did not say.
	RetryAfter time.Duration
	// Retryable says that the same request may succeed later: after no response, 408, 409, 429,
	// 5xx, or a truncated stream.
	Retryable bool
	// ContextOverflow says that the conversation exceeds the model's window.
	ContextOverflow bool
	// Malformed says that the response is invalid or ended for an unknown reason. Such an error is
	// retryable, because another response may be valid. But a server that repeats it usually keeps
	// repeating it, so the agent retries it fewer times.
	Malformed bool
	// Usage is what the failed request used, as far as the provider said. It counts in the run's
	// budget.
	Usage tool.Usage
	// Err is the cause. It may be nil.
	Err error
}

// Spent stores usage in err if err is or wraps an *Error. It returns err.
func Spent(err error, usage tool.Usage) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Usage = usage
	}
	return err
}

// Error returns the message, with the HTTP status if there is one.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP status %d)", e.Message, e.Status)
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// UnknownStop returns the error for a response that ended with an error or for an unknown reason.
// It is unknown what such a reason means for the calls of the response, so the agent executes none
// of them.
func UnknownStop(reason string) error {
	return &Error{
		Code: reason, Retryable: true, Malformed: true,
		Message: fmt.Sprintf("the model's response ended for the reason %.40q, which agentd does not know: nothing of it was executed", reason),
	}
}
