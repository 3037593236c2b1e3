package model

import (
	"errors"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Error is why a response could not be had.
type Error struct {
	// Status is the HTTP status; 0 if there was no HTTP response.
	Status int
	// Code is the provider's own word for the failure, such as "overloaded_error". May be empty.
	Code string
	// Message says what happened.
	Message string
	// RetryAfter is how long the provider asks to wait; 0 if it said nothing.
	RetryAfter time.Duration
	// Retryable is whether the same request may succeed later: no response, 408, 409, 429, 5xx, a stream cut short.
	Retryable bool
	// ContextOverflow is whether the conversation does not fit the model.
	ContextOverflow bool
	// Malformed is whether an answer came and makes no sense, or ends for a reason that is not known. Such an error is
	// retryable, since another answer may be whole, but a server that repeats it will not stop to.
	Malformed bool
	// Usage is what was used up before the response failed, as far as the provider said; it has to be paid.
	Usage tool.Usage
	// Err is the cause. May be nil.
	Err error
}

// Spent notes in an error what was used up before it, if it is or wraps an *Error, and returns it.
func Spent(err error, usage tool.Usage) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Usage = usage
	}
	return err
}

// Error says what happened.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP status %d)", e.Message, e.Status)
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// UnknownStop returns the error of a response that ended for a reason that is not known, or with an error. What such a reason
// means for the response's calls nobody can say, so that none of them may be executed.
func UnknownStop(reason string) error {
	return &Error{
		Code: reason, Retryable: true, Malformed: true,
		Message: fmt.Sprintf("the model's response ended for the reason %.40q, which agentd does not know: nothing of it was executed", reason),
	}
}
