// Package responses implements model.Model for OpenAI's Responses API and compatible servers. It
// always streams.
//
// It owns the translation between the types of package model and the wire format. The server stores
// nothing: each request has the whole conversation, with the reasoning of earlier responses in its
// encrypted form. The package wire reads the events, for the reasons that package openai states.
// The package does not retry, because the agent does. It reads no environment variables.
package responses

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"

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
	thoughts thoughts
}

// New returns a model. It does no I/O.
func New(config Config) (*Model, error) {
	server, err := wire.Open(config)
	if err != nil {
		return nil, err
	}
	return &Model{name: config.Model, server: server, optional: model.NewOptional(encrypted, summary, store, cacheKey)}, nil
}

// Name returns "openai-responses:" and the model's name.
func (m *Model) Name() string { return "openai-responses:" + m.name }

// Features implements model.Featured. Of the other servers, few read PDF files.
func (m *Model) Features() model.Features {
	return model.Features{Schema: true, Attachments: wire.AttachmentTypes(m.server.Official)}
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
	var a answer
	defer func() { err = m.tryWithout(model.Spent(err, a.usage), req) }()
	for !a.complete() {
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

// mostPosts is one request, and one after the refusal of earlier reasoning and of all reasoning.
const mostPosts = 3

// post sends the request and returns when the response has started. If the server refuses
// reasoning, post sends the request again without it. This is not a retry after a failure, which is
// the agent's task.
func (m *Model) post(ctx context.Context, req model.Request) (*http.Response, error) {
	if err := m.Features().CheckAttachments(req.Messages); err != nil {
		return nil, err
	}
	for posts := 1; ; posts++ {
		var response *http.Response
		err := m.server.Client.Post(ctx, "responses", m.params(req), &response, option.WithJSONSet("stream", true))
		if err == nil {
			return response, nil
		}
		err = wire.Failure(ctx, response, err)
		if ctx.Err() != nil || posts == mostPosts || !m.thoughts.refused(err, req) && !m.refusesReasoning(err, req) {
			return nil, err
		}
	}
}

// refusesReasoning reports whether the server refuses all settings of reasoning, of which the
// request had only the summary.
func (m *Model) refusesReasoning(err error, req model.Request) bool {
	failed, ok := errors.AsType[*model.Error](err)
	return ok && req.Sampling.Effort == "" && strings.HasPrefix(failed.Parameter, "reasoning") && m.optional.Drop(summary)
}

// tryWithout makes an error within a stream retryable if the next request omits what the server
// refused.
func (m *Model) tryWithout(err error, req model.Request) error {
	failed, ok := errors.AsType[*model.Error](err)
	if !ok || failed.Retryable || failed.Status != 0 || !m.optional.Refused(err) && !m.thoughts.refused(err, req) {
		return err
	}
	again := *failed
	again.Retryable = true
	return &again
}
