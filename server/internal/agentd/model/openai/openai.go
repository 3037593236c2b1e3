// Package openai implements model.Model for OpenAI's Chat Completions API and compatible servers.
// It always streams.
//
// It owns the translation between the types of package model and the wire format. Compatible
// servers differ most in how they stream tool calls. The types answer and calls document which
// deviations are accepted. The package does not retry, because the agent does, so the SDK's retries
// are off. It reads no environment variables.
//
// The official SDK builds and sends requests. This package reads responses itself, because the
// SDK's stream hides details that matter with other servers: comments that keep a connection alive,
// events that are not separated or terminated correctly, whether [DONE] arrived, "error": null, an
// index that is missing rather than 0, and error bodies in other forms than OpenAI's.
package openai

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/openai/openai-go/v3/option"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/wire"
)

// Config selects the model and the server.
type Config = wire.Config

// Model is one model of one server. It is safe for concurrent use. There is no need to close it.
type Model struct {
	name     string
	server   wire.Server
	optional *model.Optional
	// noReasoning is set when the server has said that it accepts tools only without reasoning.
	noReasoning atomic.Bool
	// otherLimit is set when the server has accepted the limit of a response only under the name that
	// its host does not suggest; see limitName.
	otherLimit atomic.Bool
}

// New returns a model. It does no I/O.
func New(config Config) (*Model, error) {
	server, err := wire.Open(config)
	if err != nil {
		return nil, err
	}
	return &Model{name: config.Model, server: server, optional: model.NewOptional(streamOptions, cacheKey)}, nil
}

// Name returns "openai:" and the model's name.
func (m *Model) Name() string { return "openai:" + m.name }

// Features implements model.Featured. OpenAI makes a response fit a schema and reads PDF files. Of
// other servers, some refuse a request for either.
func (m *Model) Features() model.Features {
	return model.Features{Schema: m.server.Official, Attachments: wire.AttachmentTypes(m.server.Official)}
}

// Generate streams one response. Leaving the loop early or canceling ctx closes the connection.
func (m *Model) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return model.Stream(func(yield func(model.Chunk) bool) (bool, error) {
		return m.optional.Stream(req, yield, func(req model.Request, yield func(model.Chunk) bool) (bool, error) { return m.stream(ctx, req, yield) })
	})
}

// stream passes chunks to yield until the response ends or yield returns false.
func (m *Model) stream(ctx context.Context, req model.Request, yield func(model.Chunk) bool) (left bool, err error) {
	response, err := m.post(ctx, req)
	if err != nil {
		return false, err
	}
	events := wire.NewEvents(response)
	defer events.Close()
	a := answer{server: m.server.Host}
	defer func() { err = model.Spent(err, a.usage) }()
	for !a.done {
		event, more := events.Next()
		if !more {
			break
		}
		chunks, err := a.add(event)
		if err != nil {
			return false, err
		}
		for _, chunk := range chunks {
			if !yield(chunk) {
				return true, nil
			}
		}
		if len(chunks) == 0 && !yield(model.Chunk{Alive: true}) {
			return true, nil
		}
	}
	// An error after the finish reason only loses the usage.
	if err := events.Err(); ctx.Err() != nil || err != nil && !a.complete() {
		return false, wire.Failure(ctx, nil, err)
	}
	if !a.complete() {
		return false, wire.CutShort(response, a.begun)
	}
	rest := a.rest()
	whole, err := a.response()
	if err != nil {
		return false, err
	}
	for _, chunk := range rest {
		if !yield(chunk) {
			return true, nil
		}
	}
	return !yield(model.Chunk{Response: whole}), nil
}

// The optional parameters of a request.
const (
	streamOptions = "stream_options" // the usage of the response
	cacheKey      = "prompt_cache_key"
)

// form is what differs between the requests that servers accept. No API says it in advance.
type form struct {
	noReasoning bool // with tools, reasoning is switched off
	otherLimit  bool // the limit of a response has the other name
}

// post sends the request and returns when the response has started. If a server refuses the form of
// a request, post sends it once more in the other form. This is not a retry after a failure, which
// is the agent's task.
//
// OpenAI's newer models accept tools in this API only with reasoning switched off, so post switches
// it off, unless the request names an effort. Gateways differ in the name of the limit of a
// response, so post tries the other name.
func (m *Model) post(ctx context.Context, req model.Request) (*http.Response, error) {
	as := form{m.noReasoning.Load(), m.otherLimit.Load()}
	var renamed error // the refusal of the limit's first name
	for {
		response, err := m.send(ctx, req, as)
		switch {
		case err == nil:
			if renamed != nil {
				m.otherLimit.Store(as.otherLimit)
			}
			return response, nil
		case !as.noReasoning && wantsNoReasoning(err):
			if req.Sampling.Effort != "" {
				failed := *modelError(err)
				failed.Message += ", or use the Responses API (openai-responses:" + m.name + ")"
				return nil, &failed
			}
			m.noReasoning.Store(true)
			as.noReasoning = true
		case m.refusesLimit(err, req, as) && renamed == nil:
			renamed, as.otherLimit = err, !as.otherLimit
		case m.refusesLimit(err, req, as):
			return nil, renamed // the server refuses both names, or the number
		default:
			return nil, err
		}
	}
}

func wantsNoReasoning(err error) bool {
	failed := modelError(err)
	return failed != nil && failed.Parameter == "reasoning_effort" && strings.Contains(err.Error(), "tools")
}

// The two names of the limit of a response.
const (
	oldLimit = "max_tokens"            // of most servers
	newLimit = "max_completion_tokens" // of OpenAI and Azure
)

// limitName returns the name of the limit of a response in a request.
func (m *Model) limitName(as form) string {
	if m.server.Official != as.otherLimit {
		return newLimit
	}
	return oldLimit
}

// refusesLimit reports whether a server refuses a request and names the limit of the response.
func (m *Model) refusesLimit(err error, req model.Request, as form) bool {
	failed := modelError(err)
	if req.MaxTokens <= 0 || failed == nil || failed.ContextOverflow {
		return false
	}
	switch failed.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return strings.Contains(failed.Message, m.limitName(as)) || failed.Parameter == m.limitName(as)
	}
	return false
}

func modelError(err error) *model.Error {
	failed, _ := errors.AsType[*model.Error](err)
	return failed
}

func (m *Model) send(ctx context.Context, req model.Request, as form) (*http.Response, error) {
	if err := m.Features().CheckAttachments(req.Messages); err != nil {
		return nil, err
	}
	var response *http.Response
	err := m.server.Client.Post(ctx, "chat/completions", m.params(req, as), &response, option.WithJSONSet("stream", true))
	if err != nil {
		return nil, wire.Failure(ctx, response, err)
	}
	return response, nil
}
