package model

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
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
	// Unusable says that this client cannot use the model at all: the key is wrong or gives no access,
	// the account has no credit, or the model does not exist. Waiting does not help, but another model
	// may answer the same request. It is false if the provider refuses the request or its content.
	Unusable bool
	// Busy says that the provider had no capacity, where Status and Code do not say it.
	Busy bool
	// RefusedImage says that the provider refused the request because of an image in it. Without the
	// image, it may answer.
	RefusedImage bool
	// Parameter is the parameter that made the provider refuse the request, such as
	// "reasoning.effort", as far as a field of the error names it. See RefusesParameter.
	Parameter string
	// Malformed says that the response is invalid or ended for an unknown reason. Such an error is
	// retryable, because another response may be valid. But a server that repeats it usually keeps
	// repeating it, so the agent retries it fewer times.
	Malformed bool
	// Usage is what the failed request used, as far as the provider said. It counts in the run's
	// budget.
	Usage tool.Usage
	// Err is the cause. It may be nil.
	Err error

	words string // what Understand has read, in lower case
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

// Overloaded reports whether the provider had no capacity for the request, or not for this client.
// It is false if repeating the request cannot help, such as after the end of a credit.
func (e *Error) Overloaded() bool {
	if !e.Retryable || e.Busy {
		return e.Busy
	}
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded:
		return true
	}
	// An error within a stream has a code and often no status. These are the codes of Anthropic,
	// OpenAI and Google.
	switch e.Code {
	case "overloaded_error", "rate_limit_error", "rate_limit_exceeded", "server_overloaded", "server_is_overloaded", "slow_down", "overloaded",
		"UNAVAILABLE", "RESOURCE_EXHAUSTED":
		return true
	}
	return false
}

// RateLimited reports whether the provider refused the request because this client sends too many,
// and may accept it later.
func (e *Error) RateLimited() bool {
	switch e.Code {
	case "rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED":
		return e.Retryable
	}
	return e.Retryable && e.Status == http.StatusTooManyRequests
}

// RefusesTokenLimit reports whether the provider refused the request because of its limit for the
// response, for example because the model cannot write so many tokens.
func (e *Error) RefusesTokenLimit() bool {
	if e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity || e.ContextOverflow {
		return false
	}
	return slices.ContainsFunc([]string{
		"max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "max output tokens",
	}, func(name string) bool { return strings.Contains(e.Message, name) })
}

// Unusable reports whether an HTTP status or one of a provider's codes means Error.Unusable.
//
// The status 403 alone does not. Some providers also refuse content with it, so its code decides.
func Unusable(status int, codes ...string) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusNotFound:
		return true
	}
	return slices.ContainsFunc(codes, func(code string) bool { return unusableCodes[code] })
}

// unusableCodes are the codes of Anthropic, OpenAI and Google for Error.Unusable.
var unusableCodes = map[string]bool{
	"authentication_error": true, "billing_error": true, "permission_error": true, "not_found_error": true,
	"invalid_api_key": true, "insufficient_quota": true, "billing_not_active": true, "billing_hard_limit_reached": true, "model_not_found": true,
	"unsupported_country_region_territory": true,
	"UNAUTHENTICATED":                      true, "PERMISSION_DENIED": true, "NOT_FOUND": true, "API_KEY_INVALID": true,
}

// statusOverloaded is the status of Anthropic's API for an overload.
const statusOverloaded = 529

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
