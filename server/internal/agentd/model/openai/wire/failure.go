package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// Failure converts an error of the SDK into a *model.Error. response is the refused request's
// response with its body in memory, or nil. The SDK's error alone has no status if the body has
// another form than OpenAI's.
func Failure(ctx context.Context, response *http.Response, err error) error {
	if cause := ctx.Err(); cause != nil {
		return &model.Error{Message: "the request to the model was cancelled: " + cause.Error(), Err: cause}
	}
	if ended := model.ClientError(err); ended != nil {
		return ended
	}
	if errors.Is(err, errTooLarge) {
		return Malformed(err)
	}
	if response == nil || response.StatusCode < 400 {
		return &model.Error{Message: "reading the model's answer failed: " + err.Error(), Retryable: true, Err: err}
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	p := ReadProblem(body)
	failed := &model.Error{
		Status:          response.StatusCode,
		Code:            p.code(),
		RetryAfter:      cmp.Or(model.RetryAfter(response.Header, time.Now()), p.wait()),
		ContextOverflow: p.overflows(),
		Parameter:       string(p.Param),
		Err:             err,
	}
	// An account without credit also answers 429. Waiting does not help there.
	failed.Retryable = model.Retryable(failed.Status, response.Header) && !p.final()
	failed.Unusable = p.unusable(failed)
	failed.Understand(p.words())
	failed.Message = "the model's server refused the request: " + p.message()
	if failed.Retryable {
		failed.Message = "the model's server could not take the request: " + p.message()
	}
	if failed.Status == http.StatusUnauthorized {
		failed.Message += "; check the API key"
	}
	if (failed.Status == http.StatusBadRequest || failed.Status == http.StatusNotFound) && p.Param != "" {
		failed.Message += hint(string(p.Param))
	}
	return failed
}

// hint says which setting of the operator leads to a parameter that a server refuses. It is empty
// for parameters without a setting.
func hint(param string) string {
	switch param {
	case "temperature", "top_p":
		return "; remove " + param + " from the sampling of this model"
	case "reasoning_effort", "reasoning.effort":
		return "; change the effort in the sampling of this model"
	}
	return ""
}

// BrokenOff is an error event in a stream. It is retryable unless its code says that the request is
// wrong.
func BrokenOff(raw json.RawMessage) error {
	p := ReadProblem(raw)
	failed := &model.Error{
		Code:            p.code(),
		Message:         "the model's server broke the stream off: " + p.message(),
		ContextOverflow: p.overflows(),
		Parameter:       string(p.Param),
	}
	if status, err := strconv.Atoi(string(p.Code)); err == nil && status >= 400 && status < 600 {
		failed.Status = status
	}
	failed.RetryAfter = p.wait()
	failed.Retryable = model.RetryableStatus(failed.Status) && !p.final()
	failed.Unusable = p.unusable(failed)
	failed.Understand(p.words())
	return failed
}

// Malformed is the error for an invalid response. It is retryable, because another response may be
// valid.
func Malformed(err error) error {
	return &model.Error{Message: "the model's answer makes no sense: " + err.Error(), Retryable: true, Malformed: true, Err: err}
}

// CutShort is the error for a stream that ended without a finish reason and without [DONE].
func CutShort(response *http.Response, begun bool) error {
	if kind := response.Header.Get("Content-Type"); !begun && !strings.HasPrefix(kind, "text/event-stream") {
		return &model.Error{
			Status:  response.StatusCode,
			Message: fmt.Sprintf("the answer is of type %q, not an event stream; check that the base URL is that of an OpenAI-compatible API, which often ends with /v1", kind),
		}
	}
	return &model.Error{Message: "the model's stream ended before it was finished", Retryable: true}
}

// Problem is a server's description of an error: an object, or only a text.
type Problem struct {
	Message Text `json:"message"`
	Detail  Text `json:"detail"` // the message, as some servers name it
	Type    Text `json:"type"`
	Code    Text `json:"code"`
	Param   Text `json:"param"`
	Status  Text `json:"status"` // the type, as Gemini's endpoint names it
	// Metadata.Raw is the error of the server behind OpenRouter, whose own message says nothing.
	Metadata struct {
		Raw Text `json:"raw"`
	} `json:"metadata"`
	body string
}

// ReadProblem parses the body of an error, or the value of its field error.
func ReadProblem(body []byte) Problem {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	// Gemini's endpoint sends a list with one object.
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	if json.Unmarshal(body, &outer) == nil && len(outer.Error) > 0 {
		body = outer.Error
	}
	var p Problem
	if json.Unmarshal(body, &p) != nil {
		p = Problem{}
		_ = json.Unmarshal(body, &p.Message)
	}
	p.Type = cmp.Or(p.Type, p.Status)
	p.body = string(bytes.TrimSpace(body))
	return p
}

// final reports whether the code says that the same request can never succeed. The HTTP status
// alone may not say so: an error may arrive in a stream or with a success status.
func (p Problem) final() bool {
	return slices.ContainsFunc([]Text{p.Code, p.Type}, func(word Text) bool { return finalCodes[string(word)] })
}

// unusable returns model.Error.Unusable of the error.
func (p Problem) unusable(failed *model.Error) bool {
	return !failed.Retryable && !failed.ContextOverflow && model.Unusable(failed.Status, string(p.Code), string(p.Type))
}

// finalCodes are the codes and types of errors that the same request meets again.
var finalCodes = map[string]bool{
	// OpenAI's, of both APIs
	"insufficient_quota": true, "invalid_api_key": true, "model_not_found": true, "invalid_request_error": true,
	"authentication_error": true, "permission_error": true, "not_found_error": true, "billing_not_active": true, "billing_hard_limit_reached": true,
	// OpenAI's, of a response that failed
	"invalid_prompt": true, "bio_policy": true, "misalignment_policy_violation": true, "data_residency_mismatch": true,
	"invalid_encrypted_content": true,
	"invalid_image":             true, "invalid_image_format": true, "invalid_base64_image": true, "invalid_image_url": true,
	"image_too_large": true, "image_too_small": true, "image_parse_error": true, "image_content_policy_violation": true,
	"invalid_image_mode": true, "image_file_too_large": true, "unsupported_image_media_type": true, "empty_image_file": true,
	// Gemini's endpoint
	"INVALID_ARGUMENT": true, "UNAUTHENTICATED": true, "PERMISSION_DENIED": true, "NOT_FOUND": true,
}

// tryAgain matches the pause in the message of a rate limit, such as "20 seconds", "350ms" or
// "3h0m0s". A stream has no header for it, and some servers send none.
var tryAgain = regexp.MustCompile(`(?i)try again in((?: ?\d+(?:\.\d+)? ?(?:ms|seconds?|minutes?|hours?|[hms]))+)\b`)

// units has the units of tryAgain in the form of time.ParseDuration.
var units = strings.NewReplacer(" ", "", "seconds", "s", "second", "s", "minutes", "m", "minute", "m", "hours", "h", "hour", "h")

// wait returns the pause that the message requests, or 0.
func (p Problem) wait() time.Duration {
	found := tryAgain.FindStringSubmatch(string(p.Message))
	if found == nil {
		return 0
	}
	wait, _ := time.ParseDuration(units.Replace(strings.ToLower(found[1]))) // 0 if it is too large
	return wait
}

func (p Problem) code() string { return string(cmp.Or(p.Code, p.Type)) }

// longestMessage truncates error pages of proxies, in bytes.
const longestMessage = 300

// words returns what the server says in words, with its code.
func (p Problem) words() string {
	return strings.TrimSpace(p.said() + " " + string(p.Code))
}

func (p Problem) said() string {
	if p.Metadata.Raw != "" {
		return string(p.Message + ": " + p.Metadata.Raw)
	}
	return cmp.Or(string(p.Message), string(p.Detail), p.body)
}

func (p Problem) message() string {
	text := strings.Join(strings.Fields(p.said()), " ")
	if len(text) > longestMessage {
		text = strings.ToValidUTF8(text[:longestMessage], "") + "…"
	}
	return cmp.Or(text, "it did not say why")
}

// overflows detects a conversation that is too long by the codes of servers. For their words, see
// model.Error.Understand.
func (p Problem) overflows() bool {
	return p.Code == "context_length_exceeded" || p.Type == "exceed_context_size_error"
}
