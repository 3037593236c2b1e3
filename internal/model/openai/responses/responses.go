// Package responses implements model.Model for OpenAI's Responses API and compatible servers. It
// always streams.
//
// It owns the translation between the types of package model and the wire format. The server stores
// nothing: each request has the whole conversation, with the reasoning of earlier responses in its
// encrypted form. The package wire reads the events, for the reasons that package openai states. The
// package does not retry, because the agent does. It reads no environment variables.
package responses

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/openai/openai-go/v3/option"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/internal/model/openai/wire"
)

// Config selects the model and the server.
type Config = wire.Config

// Model is one model of one server. It is safe for concurrent use. There is no need to close it.
type Model struct {
	name   string
	server wire.Server
	extras extras
}

// New returns a model. It does no I/O.
func New(config Config) (*Model, error) {
	server, err := wire.Open(config)
	if err != nil {
		return nil, err
	}
	return &Model{name: config.Model, server: server}, nil
}

// Name returns "openai-responses:" and the model's name.
func (m *Model) Name() string { return "openai-responses:" + m.name }

// Features implements model.Featured. Of the other servers, few read PDF files.
func (m *Model) Features() model.Features {
	return model.Features{Schema: true, Attachments: wire.AttachmentTypes(m.server.Official)}
}

// Generate streams one response. Leaving the loop early or canceling ctx closes the connection.
func (m *Model) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return model.Stream(func(yield func(model.Chunk) bool) (bool, error) { return m.stream(ctx, req, yield) })
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

// mostPosts is one request with all extras, and one after each of the three refusals.
const mostPosts = 4

// post sends the request and returns when the response has started. If the server refuses an extra of
// the request, post sends the request again without that extra. This is not a retry after a failure,
// which is the agent's task.
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
		if ctx.Err() != nil || posts == mostPosts || !m.extras.refused(err, req) {
			return nil, err
		}
	}
}

// tryWithout makes an error within a stream retryable if the next request omits what the server
// refused.
func (m *Model) tryWithout(err error, req model.Request) error {
	failed, ok := errors.AsType[*model.Error](err)
	if !ok || failed.Retryable || failed.Status != 0 || !m.extras.refused(err, req) {
		return err
	}
	again := *failed
	again.Retryable = true
	return &again
}
