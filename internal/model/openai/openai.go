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
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/toolhost/toolhost/internal/model"
)

// Config selects the model and the server.
type Config struct {
	// Model is the model's name at the server, such as gpt-5.4 or llama3.3. It is required.
	Model string
	// BaseURL is the URL of the API with its version, such as http://127.0.0.1:11434/v1. Empty
	// means OpenAI's.
	BaseURL string
	// APIKey is the bearer token. Empty means no token, as for most local servers.
	APIKey string
	// HTTPClient sends the requests. It follows no redirect to another origin (see
	// model.HTTPClient). Nil means a client with separate connections, which waits ten minutes for
	// the start of a response.
	HTTPClient *http.Client
}

// Model is one model of one server. It is safe for concurrent use. It needs no Close.
type Model struct {
	name   string
	client sdk.Client
	// newLimit says that the server expects the response limit as max_completion_tokens, as OpenAI
	// does. Other servers only know the older max_tokens.
	newLimit bool
	// noReasoning is set when the server has said that it accepts tools only without reasoning.
	noReasoning atomic.Bool
}

// New returns a model. It does no I/O.
func New(config Config) (*Model, error) {
	if config.Model == "" {
		return nil, errors.New("configuring an OpenAI model: the model's name is missing")
	}
	m := &Model{name: config.Model, newLimit: true}
	options := []option.RequestOption{option.WithEnvironmentProduction(), option.WithMaxRetries(0)}
	if config.BaseURL != "" {
		base, err := model.ParseBaseURL(config.BaseURL)
		if err != nil {
			return nil, fmt.Errorf("configuring an OpenAI model: %w", err)
		}
		host := base.Hostname()
		m.newLimit = host == "api.openai.com" || strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
		options = append(options, option.WithBaseURL(config.BaseURL))
	}
	if config.APIKey != "" {
		options = append(options, option.WithAPIKey(config.APIKey))
	}
	// sdk.NewClient would read environment variables.
	m.client = sdk.Client{Options: append(options, option.WithHTTPClient(model.HTTPClient(config.HTTPClient)))}
	return m, nil
}

// Name returns "openai:" and the model's name.
func (m *Model) Name() string { return "openai:" + m.name }

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
	events := newEvents(response)
	defer events.close()
	var a answer
	defer func() { err = model.Spent(err, a.usage) }()
	for !a.done {
		event, more := events.next()
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
	if err := events.err; ctx.Err() != nil || err != nil && !a.complete() {
		return false, failure(ctx, nil, err)
	}
	if !a.complete() {
		return false, cutShort(response, a.begun)
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

// post sends the request and returns when the response has started. OpenAI's newer models accept
// tools in this API only with reasoning switched off, and no API says so in advance. If a server
// refuses a request for this reason, post sends it once more without reasoning. This is not a retry
// after a failure, which is the agent's task.
func (m *Model) post(ctx context.Context, req model.Request) (*http.Response, error) {
	off := m.noReasoning.Load()
	response, err := m.send(ctx, req, off)
	if err == nil || off || !wantsNoReasoning(err) {
		return response, err
	}
	m.noReasoning.Store(true)
	return m.send(ctx, req, true)
}

func (m *Model) send(ctx context.Context, req model.Request, noReasoning bool) (*http.Response, error) {
	var response *http.Response
	err := m.client.Post(ctx, "chat/completions", m.params(req, noReasoning), &response, option.WithJSONSet("stream", true))
	if err != nil {
		return nil, failure(ctx, response, err)
	}
	return response, nil
}
