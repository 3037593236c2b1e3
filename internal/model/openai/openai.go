// Package openai is a model of OpenAI's Chat Completions API, and of every server that speaks it, always streamed.
//
// It owns the translation between the neutral messages of package model and the wire. Servers that call themselves
// compatible differ most in how they stream tool calls; the types answer and calls say what is tolerated. It does not try
// again what failed: the agent owns that, and the SDK's own retries are off. It reads no environment variables.
//
// Requests are made and sent by the official SDK. The answer is read here, as the SDK's stream hides what matters with
// other servers: comments that keep a connection alive, events that are not separated or not ended as they should be,
// whether [DONE] was seen, "error": null, an index that is missing rather than 0, and the bodies of errors that are not
// OpenAI's.
package openai

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/toolhost/toolhost/internal/model"
)

// Config says which model to talk to.
type Config struct {
	// Model is the model's name at the server, such as gpt-5.4 or llama3.3. Required.
	Model string
	// BaseURL is where the API is, including the version, such as http://127.0.0.1:11434/v1. Empty: OpenAI's own.
	BaseURL string
	// APIKey is sent as a bearer token. Empty: none is sent, as local servers like it.
	APIKey string
	// HTTPClient sends the requests, and follows no redirect to another origin; see model.HTTPClient. Nil: a client with
	// connections of its own, which waits ten minutes for an answer to begin.
	HTTPClient *http.Client
}

// Model is one model of one server. It is safe for concurrent use and holds nothing that has to be closed.
type Model struct {
	name   string
	client sdk.Client
	// newLimit is whether the server wants the response cap as max_completion_tokens, as OpenAI does; others know
	// only the older max_tokens.
	newLimit bool
	// noReasoning is set once the server said that it takes tools only without reasoning.
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
		base, err := url.Parse(config.BaseURL)
		if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
			return nil, fmt.Errorf("configuring an OpenAI model: the base URL %q is no http or https URL", config.BaseURL)
		}
		host := base.Hostname()
		m.newLimit = host == "api.openai.com" || strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
		options = append(options, option.WithBaseURL(config.BaseURL))
	}
	if config.APIKey != "" {
		options = append(options, option.WithAPIKey(config.APIKey))
	}
	// Not sdk.NewClient, which would read the environment.
	m.client = sdk.Client{Options: append(options, option.WithHTTPClient(model.HTTPClient(config.HTTPClient)))}
	return m, nil
}

// Name returns "openai:" and the model's name.
func (m *Model) Name() string { return "openai:" + m.name }

// Generate streams one response. Leaving the loop early, and cancelling ctx, closes the connection.
func (m *Model) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		left, err := m.stream(ctx, req, func(chunk model.Chunk) bool { return yield(chunk, nil) })
		if err != nil && !left {
			yield(model.Chunk{}, err)
		}
	}
}

// stream hands over chunks until there are no more, or until yield says that nobody wants them.
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
	// What breaks after the finish reason takes the usage with it, no more.
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

// post sends the request and returns the answer once it has begun. OpenAI's newer models take tools at this API only if
// they are told not to reason, and there is no asking beforehand; so when a server says that, the request is sent once
// more in the way that it wants. This is not the retry of a failure, which is the agent's.
func (m *Model) post(ctx context.Context, req model.Request) (*http.Response, error) {
	told := m.noReasoning.Load()
	response, err := m.send(ctx, req, told)
	if err == nil || told || !wantsNoReasoning(err) {
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
