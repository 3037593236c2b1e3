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

// failure turns what the SDK returned into a *model.Error. The response is that of a refused request, with its body in
// memory, or nil. The SDK's error is not enough: it has no status if the body is not OpenAI's.
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
	// An account without money left answers 429 too, and waiting does not help.
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

// errNoReasoning marks a complaint about the reasoning effort.
type errNoReasoning struct{ error }

func wantsNoReasoning(err error) bool {
	failed, ok := errors.AsType[*model.Error](err)
	if !ok || failed.Status != http.StatusBadRequest {
		return false
	}
	_, ok = failed.Err.(errNoReasoning)
	return ok && strings.Contains(failed.Message, "tools")
}

// brokenOff is an error in the middle of a stream. It is worth another try unless its code says that the request is
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

// malformed is an answer that cannot be: worth another try, since another may be whole.
func malformed(err error) error {
	return &model.Error{Message: "the model's answer makes no sense: " + err.Error(), Retryable: true, Malformed: true, Err: err}
}

// cutShort is a stream that ended in order, but without saying why.
func cutShort(response *http.Response, begun bool) error {
	if kind := response.Header.Get("Content-Type"); !begun && !strings.HasPrefix(kind, "text/event-stream") {
		return &model.Error{
			Status:  response.StatusCode,
			Message: fmt.Sprintf("the answer is of type %q, not an event stream; check that the base URL is that of an OpenAI-compatible API, which often ends with /v1", kind),
		}
	}
	return &model.Error{Message: "the model's stream ended before it was finished", Retryable: true}
}

// problem is what servers write about an error: an object, or its text alone.
type problem struct {
	Message loose `json:"message"`
	Detail  loose `json:"detail"` // what some servers call the message
	Type    loose `json:"type"`
	Code    loose `json:"code"`
	Param   loose `json:"param"`
	Status  loose `json:"status"` // what Gemini's endpoint calls the type
	body    string
}

// readProblem reads the body of an error, or what is in its field error.
func readProblem(body []byte) problem {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	// Gemini's endpoint wraps it in a list.
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

// final reports whether the code says that the same request will never succeed. There may be no status that says so: an
// error may come in the middle of a stream, or with the status of a success.
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

// longestMessage keeps the page of a proxy out of a terminal.
const longestMessage = 300

func (p problem) message() string {
	text := strings.Join(strings.Fields(cmp.Or(string(p.Message), string(p.Detail), p.body)), " ")
	if len(text) > longestMessage {
		text = strings.ToValidUTF8(text[:longestMessage], "") + "…"
	}
	return cmp.Or(text, "it did not say why")
}

// overflows knows OpenAI's code for a conversation that is too long, and the words of servers that have none.
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
