package gemini

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

var (
	errBrokenOff = errors.New("the server sent an error")
	errNoStream  = errors.New("the answer is not an event stream")
	errTooLarge  = fmt.Errorf("an event is larger than %d bytes", largestEvent)
)

// failure returns the *model.Error for a request without a response. err is the SDK's error; it may
// be nil.
func (e *exchange) failure(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return cancelled(cause)
	}
	if ended := cmp.Or(model.ClientError(e.err), model.ClientError(err)); ended != nil {
		return ended
	}
	err = cmp.Or(e.err, err)
	if known, ok := errors.AsType[*model.Error](err); ok {
		return known
	}
	switch {
	case e.status >= 400:
		return e.refused(err)
	case errors.Is(err, errNoStream):
		return e.noStream()
	case errors.Is(err, errBrokenOff):
		return brokenOff(e.problem)
	case errors.Is(err, errTooLarge):
		return malformed(err)
	case e.err == nil && e.status != 0:
		return malformed(err) // the SDK could not read an event
	}
	return &model.Error{Message: "reading Gemini's answer failed: " + err.Error(), Retryable: true, Err: err}
}

func cancelled(cause error) error {
	return &model.Error{Message: "the request to Gemini was cancelled: " + cause.Error(), Err: cause}
}

// refused is the error for an HTTP status that is not success.
func (e *exchange) refused(cause error) error {
	p := readProblem(e.problem)
	failed := &model.Error{
		Status: e.status, Code: p.Status, Err: cause,
		Retryable:  model.Retryable(e.status, e.header) || e.status == statusCancelled,
		RetryAfter: cmp.Or(model.RetryAfter(e.header, time.Now()), p.wait()),
	}
	failed.Unusable = !failed.Retryable && p.unusable(e.status)
	failed.Understand(cmp.Or(p.Message, p.body))
	failed.Message = "Gemini refused the request: " + p.message()
	if failed.Retryable {
		failed.Message = "Gemini could not take the request: " + p.message()
	}
	if e.status == http.StatusUnauthorized || p.reason() == "API_KEY_INVALID" {
		failed.Message += "; check the API key"
	}
	return failed
}

// brokenOff is the error for an error event, and for an error that arrived with the status of
// success.
func brokenOff(event []byte) error {
	p := readProblem(event)
	status := p.status()
	failed := &model.Error{
		Status: status, Code: p.Status, RetryAfter: p.wait(),
		Message:   "Gemini broke the stream off: " + p.message(),
		Retryable: model.RetryableStatus(status) || status == statusCancelled,
		Unusable:  p.unusable(status),
	}
	failed.Understand(cmp.Or(p.Message, p.body))
	return failed
}

// noStream is the error for a response of another kind, such as the page of a proxy.
func (e *exchange) noStream() error {
	return &model.Error{
		Status: e.status,
		Message: fmt.Sprintf("the answer is of type %.100q, not an event stream; check that the base URL is that of a Gemini API, without v1beta",
			e.header.Get("Content-Type")),
	}
}

// malformed is the error for an invalid event. It is retryable, because another stream may be
// valid.
func malformed(err error) error {
	// The SDK's errors quote the whole event.
	return &model.Error{Message: "Gemini's stream makes no sense: " + problem{body: err.Error()}.message(), Retryable: true, Malformed: true, Err: err}
}

// statusCancelled is the HTTP status of the code CANCELLED: the server ended the request itself.
const statusCancelled = 499

// statuses are the HTTP statuses of the API's codes.
var statuses = map[string]int{
	"INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "OUT_OF_RANGE": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403,
	"NOT_FOUND": 404, "ALREADY_EXISTS": 409, "ABORTED": 409, "RESOURCE_EXHAUSTED": 429, "CANCELLED": statusCancelled,
	"INTERNAL": 500, "UNKNOWN": 500, "DATA_LOSS": 500, "UNIMPLEMENTED": 501, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}

// problem is a server's description of an error. All of it is the server's text.
type problem struct {
	Code    json.Number       `json:"code"`
	Message string            `json:"message"`
	Status  string            `json:"status"`
	Details []json.RawMessage `json:"details"`
	body    string
}

// problemIn reports whether JSON text is an error: an object with the field error, or a list of
// such objects, as the API sends it in place of an event stream.
func problemIn(text []byte) bool { return errorIn(text) != nil }

func errorIn(text []byte) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && len(list) > 0 {
		text = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(text, &outer) != nil || string(outer.Error) == "null" {
		return nil
	}
	return outer.Error
}

// readProblem parses the body of an error. Any other body, such as the page of a proxy, becomes the
// message.
func readProblem(text []byte) problem {
	var p problem
	inner := errorIn(text)
	if inner == nil {
		return problem{body: string(text)}
	}
	if json.Unmarshal(inner, &p) != nil {
		p = problem{body: string(bytes.Trim(inner, `"`))}
	}
	return p
}

// status returns the HTTP status that belongs to the error, or 0, which makes it retryable.
func (p problem) status() int {
	if code, err := strconv.Atoi(string(p.Code)); err == nil && code >= 400 && code < 600 {
		return code
	}
	return statuses[p.Status]
}

// longestMessage truncates error pages of proxies, in bytes.
const longestMessage = 300

func (p problem) message() string {
	text := strings.Join(strings.Fields(cmp.Or(p.Message, p.body)), " ")
	if len(text) > longestMessage {
		text = strings.ToValidUTF8(text[:longestMessage], "") + "…"
	}
	return cmp.Or(text, "it did not say why")
}

// detail decodes the first detail of a type of google.rpc into v.
func (p problem) detail(name string, v any) {
	for _, detail := range p.Details {
		var kind struct {
			Type string `json:"@type"`
		}
		if json.Unmarshal(detail, &kind) == nil && kind.Type == "type.googleapis.com/google.rpc."+name {
			_ = json.Unmarshal(detail, v) // a detail of another shape says nothing
			return
		}
	}
}

// wait returns how long the server asks the client to wait, or 0.
func (p problem) wait() time.Duration {
	var retry struct {
		Delay string `json:"retryDelay"`
	}
	p.detail("RetryInfo", &retry)
	wait, err := time.ParseDuration(retry.Delay)
	if err != nil {
		return 0
	}
	return max(0, wait)
}

func (p problem) reason() string {
	var info struct {
		Reason string `json:"reason"`
	}
	p.detail("ErrorInfo", &info)
	return info.Reason
}

// unusable detects a model that the client cannot use. A wrong key is an INVALID_ARGUMENT with a
// reason, and a country or an account that the API does not serve is a FAILED_PRECONDITION.
func (p problem) unusable(status int) bool {
	return model.Unusable(status, p.Status, p.reason()) || p.Status == "FAILED_PRECONDITION"
}
