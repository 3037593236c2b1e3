package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/model"
)

// failure converts an error of the SDK into a *model.Error. response is the refused request's
// response with its body in memory, or nil. The SDK's error alone has no status if the body has
// another form than OpenAI's.
func failure(ctx context.Context, response *http.Response, err error) error {
	if cause := ctx.Err(); cause != nil {
		return &model.Error{Message: "the request to the model was cancelled: " + cause.Error(), Err: cause}
	}
	if refused := model.RedirectRefused(err); refused != nil {
		return refused
	}
	if response == nil || response.StatusCode < 400 {
		return &model.Error{Message: "reading the model's answer failed: " + err.Error(), Retryable: true, Err: err}
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	p := readProblem(body)
	failed := &model.Error{
		Status:          response.StatusCode,
		Code:            p.code(),
		RetryAfter:      model.RetryAfter(response.Header, time.Now()),
		ContextOverflow: p.overflows() || response.StatusCode == http.StatusRequestEntityTooLarge,
		Err:             err,
	}
	// An account without credit also answers 429. Waiting does not help there.
	failed.Retryable = model.Retryable(failed.Status, response.Header) && !failed.ContextOverflow && !p.final()
	failed.Message = "the model's server refused the request: " + p.message()
	if failed.Retryable {
		failed.Message = "the model's server could not take the request: " + p.message()
	}
	if failed.Status == http.StatusUnauthorized {
		failed.Message += "; check the API key"
	}
	if p.Param == "reasoning_effort" {
		failed.Err = errNoReasoning{err}
	}
	return failed
}

// errNoReasoning marks an error about the reasoning effort.
type errNoReasoning struct{ error }

func wantsNoReasoning(err error) bool {
	failed, ok := errors.AsType[*model.Error](err)
	if !ok || failed.Status != http.StatusBadRequest {
		return false
	}
	_, ok = failed.Err.(errNoReasoning)
	return ok && strings.Contains(failed.Message, "tools")
}

// brokenOff is an error event in a stream. It is retryable unless its code says that the request is
// wrong.
func brokenOff(raw json.RawMessage) error {
	p := readProblem(raw)
	failed := &model.Error{
		Code:            p.code(),
		Message:         "the model's server broke the stream off: " + p.message(),
		ContextOverflow: p.overflows(),
	}
	if status, err := strconv.Atoi(string(p.Code)); err == nil && status >= 400 && status < 600 {
		failed.Status = status
		failed.ContextOverflow = failed.ContextOverflow || status == http.StatusRequestEntityTooLarge
	}
	failed.Retryable = model.RetryableStatus(failed.Status) && !failed.ContextOverflow && !p.final()
	return failed
}

// malformed is the error for an invalid response. It is retryable, because another response may be
// valid.
func malformed(err error) error {
	return &model.Error{Message: "the model's answer makes no sense: " + err.Error(), Retryable: true, Malformed: true, Err: err}
}

// cutShort is the error for a stream that ended without a finish reason and without [DONE].
func cutShort(response *http.Response, begun bool) error {
	if kind := response.Header.Get("Content-Type"); !begun && !strings.HasPrefix(kind, "text/event-stream") {
		return &model.Error{
			Status:  response.StatusCode,
			Message: fmt.Sprintf("the answer is of type %q, not an event stream; check that the base URL is that of an OpenAI-compatible API, which often ends with /v1", kind),
		}
	}
	return &model.Error{Message: "the model's stream ended before it was finished", Retryable: true}
}

// problem is a server's description of an error: an object, or only a text.
type problem struct {
	Message loose `json:"message"`
	Detail  loose `json:"detail"` // the message, as some servers name it
	Type    loose `json:"type"`
	Code    loose `json:"code"`
	Param   loose `json:"param"`
	Status  loose `json:"status"` // the type, as Gemini's endpoint names it
	body    string
}

// readProblem parses the body of an error, or the value of its field error.
func readProblem(body []byte) problem {
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
	var p problem
	if json.Unmarshal(body, &p) != nil {
		p = problem{}
		_ = json.Unmarshal(body, &p.Message)
	}
	p.Type = cmp.Or(p.Type, p.Status)
	p.body = string(bytes.TrimSpace(body))
	return p
}

// final reports whether the code says that the same request can never succeed. The HTTP status
// alone may not say so: an error may arrive in a stream or with a success status.
func (p problem) final() bool {
	for _, word := range []loose{p.Code, p.Type} {
		switch word {
		case "insufficient_quota", "invalid_api_key", "model_not_found", "invalid_request_error", "authentication_error",
			"permission_error", "not_found_error", "INVALID_ARGUMENT", "UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND":
			return true
		}
	}
	return false
}

func (p problem) code() string { return string(cmp.Or(p.Code, p.Type)) }

// longestMessage truncates error pages of proxies, in bytes.
const longestMessage = 300

func (p problem) message() string {
	text := strings.Join(strings.Fields(cmp.Or(string(p.Message), string(p.Detail), p.body)), " ")
	if len(text) > longestMessage {
		text = strings.ToValidUTF8(text[:longestMessage], "") + "…"
	}
	return cmp.Or(text, "it did not say why")
}

// overflows detects a conversation that is too long by OpenAI's code, and by the messages of
// servers without a code.
func (p problem) overflows() bool {
	if p.Code == "context_length_exceeded" || p.Type == "exceed_context_size_error" {
		return true
	}
	text := strings.ToLower(string(p.Message))
	return slices.ContainsFunc([]string{
		"maximum context length",                               // OpenAI, vLLM, DeepSeek, Mistral, OpenRouter
		"exceeds the available context size",                   // llama.cpp
		"exceeds the context window", "context window is full", // LM Studio and others
		"exceeds the maximum number of tokens allowed", // Gemini
		"maximum prompt length is",                     // xAI
		"prompt is too long", "input is too long",      // Anthropic and Bedrock behind a gateway
		"reduce the length of the messages", // Groq
	}, func(words string) bool { return strings.Contains(text, words) })
}
