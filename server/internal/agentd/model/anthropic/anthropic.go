// Package anthropic implements model.Model with Anthropic's Messages API and the official SDK. It
// always streams.
//
// It owns the translation between the types of package model and the wire format: the form of each
// block, the meaning of each event, and which failures are retryable. It does not retry, because
// the agent does, so the SDK's retries are off. It reads no environment variables.
//
// Blocks that only Anthropic understands (thinking, redacted thinking, server tools) become
// model.Opaque and return to the API unchanged. Opaque blocks of other providers are omitted. The
// package requests prompt caching after the tools, after the system prompt, and after the user's
// last two messages. Each turn thus reads the cache entry that the turn before it wrote.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// provider marks the opaque blocks of this provider.
const provider = "anthropic"

// defaultMaxTokens is the response limit if a request has none, because the API requires one. It is
// enough for a long file in one call and within the limit of every current Claude model.
const defaultMaxTokens = 16384

// LeastThinking is the API's minimum of thinking tokens.
const LeastThinking = 1024

// The optional parameters of a request. Compatible servers and gateways refuse some.
const (
	cacheControl  = "cache_control"
	inputExamples = "input_examples"
	display       = "thinking.display" // the text of the thinking
)

// Config selects the model and the API.
type Config struct {
	// Model is the model's name in the API, such as claude-sonnet-5-5. It is required.
	Model string
	// BaseURL is the URL of the API without the path v1/messages. Empty means Anthropic's.
	BaseURL string
	// APIKey is the value of the header X-Api-Key. Empty means no header, which only suits a local
	// server.
	APIKey string
	// Thinking is the limit of thinking tokens per response, in addition to the response's own
	// limit. Adaptive models think as much as they need within it. 0 means the model's default. The
	// effort of a request replaces it.
	Thinking int64
	// HTTPClient sends the requests. It follows no redirect to another origin (see
	// model.HTTPClient). Nil means a client with separate connections, which waits ten minutes for
	// the start of a response.
	HTTPClient *http.Client
}

// Model is one model of Anthropic. It is safe for concurrent use. There is no need to close it.
type Model struct {
	name       string
	server     string // the host of a compatible server; empty for Anthropic's own
	thinking   int64
	generation generation
	optional   *model.Optional
	messages   sdk.MessageService
}

// New returns a model. It does no I/O.
func New(config Config) (*Model, error) {
	if config.Model == "" {
		return nil, errors.New("configuring an Anthropic model: the model's name is missing")
	}
	if config.Thinking != 0 && config.Thinking < LeastThinking {
		return nil, fmt.Errorf("configuring an Anthropic model: %d tokens are too few to think; use %d or more", config.Thinking, LeastThinking)
	}
	options := []option.RequestOption{option.WithoutEnvironmentDefaults(), option.WithMaxRetries(0), option.WithMiddleware(unmask)}
	var server string
	if config.BaseURL != "" {
		base, err := model.ParseBaseURL(config.BaseURL)
		if err != nil {
			return nil, fmt.Errorf("configuring an Anthropic model: %w", err)
		}
		server = compatible(base.Hostname())
		options = append(options, option.WithBaseURL(config.BaseURL))
	}
	if config.APIKey != "" {
		options = append(options, option.WithAPIKey(config.APIKey))
	}
	client := sdk.NewClient(append(options, option.WithHTTPClient(model.HTTPClient(config.HTTPClient)))...)
	return &Model{
		name: config.Model, server: server, thinking: config.Thinking, generation: generationOf(config.Model), messages: client.Messages,
		optional: model.NewOptional(cacheControl, inputExamples, display),
	}, nil
}

// Name returns "anthropic:" and the model's name.
func (m *Model) Name() string { return "anthropic:" + m.name }

// Generate streams one response. Leaving the loop early or canceling ctx closes the connection.
func (m *Model) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return model.Stream(func(yield func(model.Chunk) bool) (bool, error) {
		return m.optional.Stream(req, yield, func(req model.Request, yield func(model.Chunk) bool) (bool, error) { return m.stream(ctx, req, yield) })
	})
}

// stream passes chunks to yield until the response ends or yield returns false.
func (m *Model) stream(ctx context.Context, req model.Request, yield func(model.Chunk) bool) (left bool, err error) {
	params, names, err := m.params(req)
	if err != nil {
		return false, err
	}
	yield = names.read(yield)
	var response *http.Response
	events := m.messages.NewStreaming(ctx, params, option.WithResponseInto(&response))
	defer events.Close()
	a := answer{server: m.server}
	defer func() { err = model.Spent(err, a.usage()) }()
	for events.Next() {
		chunks, err := a.add(events.Current())
		if err != nil {
			return false, err
		}
		for _, chunk := range chunks {
			if !yield(chunk) {
				return true, nil
			}
		}
		// The rest of the stream is not read. A server may keep it open after its last event.
		if a.stopped {
			whole, err := a.response()
			if err != nil {
				return false, err
			}
			return !yield(model.Chunk{Response: whole}), nil
		}
		if len(chunks) == 0 && !yield(model.Chunk{Alive: true}) {
			return true, nil
		}
	}
	if err := events.Err(); err != nil || ctx.Err() != nil {
		return false, failure(ctx, err)
	}
	return false, cutShort(response, a.begun)
}
