package anthropic

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// failure converts an error of the SDK into a *model.Error.
func failure(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return &model.Error{Message: "the request to Anthropic was cancelled: " + cause.Error(), Err: cause}
	}
	if ended := model.ClientError(err); ended != nil {
		return ended
	}
	if errors.Is(err, bufio.ErrTooLong) {
		return malformed(errors.New("an event is larger than the Anthropic SDK reads"))
	}
	answered, ok := errors.AsType[*sdk.Error](err)
	if !ok {
		return &model.Error{Message: "reading Anthropic's answer failed: " + err.Error(), Retryable: true, Err: err}
	}
	code, message := envelope(answered.RawJSON())
	failed := &model.Error{Status: answered.StatusCode, Code: code, Err: err}
	if failed.Status < 400 {
		// An error event follows a successful start of the stream, so the HTTP status says nothing.
		failed.Status = statusOf(code)
		failed.Retryable = model.RetryableStatus(failed.Status)
		failed.Unusable = model.Unusable(failed.Status, code)
		failed.Understand(message)
		failed.Message = "Anthropic broke the stream off: " + message
		return failed
	}
	failed.Retryable = model.RetryableStatus(failed.Status)
	if answered.Response != nil {
		failed.Retryable = model.Retryable(failed.Status, answered.Response.Header)
	}
	if answered.Response != nil {
		failed.RetryAfter = model.RetryAfter(answered.Response.Header, time.Now())
	}
	failed.Unusable = !failed.Retryable && model.Unusable(failed.Status, code)
	failed.Understand(message)
	failed.Message = "Anthropic refused the request: " + message
	if failed.Retryable {
		failed.Message = "Anthropic could not take the request: " + message
	}
	if failed.Status == http.StatusUnauthorized {
		failed.Message += "; check the API key"
	}
	return failed
}

// statusOf returns the HTTP status that the API uses for an error type before a stream. It returns
// 0 for unknown types, which makes them retryable.
func statusOf(code string) int {
	switch code {
	case "invalid_request_error":
		return http.StatusBadRequest
	case "authentication_error":
		return http.StatusUnauthorized
	case "billing_error":
		return http.StatusPaymentRequired
	case "permission_error":
		return http.StatusForbidden
	case "not_found_error":
		return http.StatusNotFound
	case "request_too_large":
		return http.StatusRequestEntityTooLarge
	case "rate_limit_error":
		return http.StatusTooManyRequests
	case "api_error":
		return http.StatusInternalServerError
	case "timeout_error":
		return http.StatusGatewayTimeout
	case "overloaded_error":
		return 529 // specific to Anthropic
	}
	return 0
}

// longestMessage truncates error pages of proxies, in bytes.
const longestMessage = 300

// envelope parses an error body. Any other body, such as a proxy's page, becomes the message
// itself.
func envelope(body string) (code, message string) {
	var parsed struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(body), &parsed) == nil && parsed.Error.Message != "" {
		return parsed.Error.Type, parsed.Error.Message
	}
	message = strings.Join(strings.Fields(body), " ")
	if message == "" {
		message = "it did not say why"
	}
	if len(message) > longestMessage {
		message = strings.ToValidUTF8(message[:longestMessage], "") + "…"
	}
	return parsed.Error.Type, message
}

// malformed is the error for an invalid event. It is retryable, because another stream may be
// valid.
func malformed(err error) error {
	return &model.Error{Message: "Anthropic's stream makes no sense: " + err.Error(), Retryable: true, Malformed: true, Err: err}
}

// cutShort is the error for a stream that ended without its last event.
func cutShort(response *http.Response, begun bool) error {
	if !begun && response != nil {
		if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
			return &model.Error{
				Status:  response.StatusCode,
				Message: fmt.Sprintf("the answer is of type %q, not an event stream; check that the base URL is that of an Anthropic API", kind),
			}
		}
	}
	return &model.Error{Message: "Anthropic's stream ended before its last event", Retryable: true}
}

// unmask corrects the status of an error body that has a success status, as some gateways send it.
// It recognizes the body by its first byte: no line of an event stream begins with a brace.
func unmask(request *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	response, err := next(request)
	if err != nil || response.StatusCode >= 300 {
		return response, err
	}
	const longest = 1 << 20
	body := bufio.NewReader(response.Body)
	original := response.Body
	response.Body = struct {
		io.Reader
		io.Closer
	}{body, original}
	first, err := body.Peek(1)
	if err != nil || first[0] != '{' {
		return response, nil // the next read returns the error
	}
	text, err := io.ReadAll(io.LimitReader(body, longest))
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), body), original}
	var answer struct {
		Error *struct {
			Type string `json:"type"`
		} `json:"error"`
	}
	if err != nil || json.Unmarshal(text, &answer) != nil || answer.Error == nil {
		return response, nil
	}
	response.StatusCode = statusOf(answer.Error.Type)
	if response.StatusCode == 0 {
		response.StatusCode = http.StatusBadGateway
	}
	return response, nil
}
