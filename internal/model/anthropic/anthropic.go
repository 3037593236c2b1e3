// Package anthropic is a model of Anthropic's Messages API, through the official SDK, always streamed.
//
// It owns the translation between the neutral messages of package model and the wire: which blocks are sent and in
// which form, what each event of a stream means, and which failures are worth another try. It does not try again: the
// agent owns that, and the SDK's own retries are off. It reads no environment variables.
//
// Blocks that only Anthropic understands (thinking, redacted thinking, server tools) become model.Opaque and are sent
// back to it unchanged; opaque blocks of other providers are left out. Prompt caching is asked for after the tools,
// after the system prompt and after the user's last two messages, so that each turn reads what the one before it has
// written.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/toolhost/toolhost/internal/model"
)

// provider marks the opaque blocks that are ours.
const provider = "anthropic"

// defaultMaxTokens is the response cap where a request names none, since the API insists on one: room for a long file
// in one call, and within what every current Claude allows.
const defaultMaxTokens = 16384

// LeastThinking is the smallest number of tokens for thoughts that the API takes.
const LeastThinking = 1024

// Config says which model to talk to.
type Config struct {
	// Model is the model's name at the API, such as claude-sonnet-5-5. Required.
	Model string
	// BaseURL is where the API is, without the path v1/messages. Empty: Anthropic's own.
	BaseURL string
	// APIKey is sent as X-Api-Key. Empty: none is sent, which suits a local server only.
	APIKey string
	// Thinking is how many tokens the model may think for one response, beside what it writes. 0: it is not asked to think.
	Thinking int64
	// HTTPClient sends the requests, and follows no redirect to another origin; see model.HTTPClient. Nil: a client with
	// connections of its own, which waits ten minutes for an answer to begin.
	HTTPClient *http.Client
}

// Model is one Claude. It is safe for concurrent use and holds nothing that has to be closed.
type Model struct {
	name     string
	thinking int64
	messages sdk.MessageService
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
	if config.BaseURL != "" {
		base, err := url.Parse(config.BaseURL)
		if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
			return nil, fmt.Errorf("configuring an Anthropic model: the base URL %q is no http or https URL", config.BaseURL)
		}
		options = append(options, option.WithBaseURL(config.BaseURL))
	}
	if config.APIKey != "" {
		options = append(options, option.WithAPIKey(config.APIKey))
	}
	client := sdk.NewClient(append(options, option.WithHTTPClient(model.HTTPClient(config.HTTPClient)))...)
	return &Model{name: config.Model, thinking: config.Thinking, messages: client.Messages}, nil
}

// Name returns "anthropic:" and the model's name.
func (m *Model) Name() string { return "anthropic:" + m.name }

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
	var response *http.Response
	events := m.messages.NewStreaming(ctx, m.params(req), option.WithResponseInto(&response))
	defer events.Close()
	var a answer
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
		// The stream is not read to its end: a server that keeps it open has nothing more to say.
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
