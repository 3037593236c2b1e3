// Package gemini implements model.Model with the Gemini API (generateContent) and Google's official
// SDK. It always streams.
//
// It owns the translation between the types of package model and the wire format: the form of each
// part, the meaning of each event, and which failures are retryable. It does not retry, because the
// agent does, so the SDK's retries are off. The agent passes it the key and the base URL; the
// environment variables that the SDK reads change nothing.
//
// Parts that only Gemini understands become model.Opaque and return to the API unchanged. The most
// important ones are thought signatures: see signature.go. Gemini caches the beginning of prompts
// by itself. The package keeps that beginning the same from request to request and counts what came
// from the cache.
package gemini

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"google.golang.org/genai"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// provider marks the opaque blocks of this provider.
const provider = "gemini"

// publicAPI is the API of Google. It is set explicitly, because otherwise the SDK reads an
// environment variable.
const publicAPI = "https://generativelanguage.googleapis.com/"

// Config selects the model and the API.
type Config struct {
	// Model is the model's name in the API, such as gemini-2.5-pro. It is required.
	Model string
	// BaseURL is the URL of the API without the path v1beta. Empty means Google's.
	BaseURL string
	// APIKey is the value of the header X-Goog-Api-Key. Empty means no header, which only suits a
	// local server.
	APIKey string
	// HTTPClient sends the requests. It follows no redirect to another origin (see
	// model.HTTPClient). Nil means a client with separate connections, which waits ten minutes for
	// the start of a response.
	HTTPClient *http.Client
}

// thoughts is the optional parameter of a request: the model shows its thoughts.
const thoughts = "includeThoughts"

// Model is one model of Google. It is safe for concurrent use. There is no need to close it.
type Model struct {
	name       string
	generation generation
	optional   *model.Optional
	models     *genai.Models
}

// New returns a model. It does not connect.
func New(config Config) (*Model, error) {
	if config.Model == "" {
		return nil, errors.New("configuring a Gemini model: the model's name is missing")
	}
	base := publicAPI
	if config.BaseURL != "" {
		if _, err := model.ParseBaseURL(config.BaseURL); err != nil {
			return nil, fmt.Errorf("configuring a Gemini model: %w", err)
		}
		base = config.BaseURL
	}
	client := model.HTTPClient(config.HTTPClient)
	client.Transport = &transport{next: client.Transport, key: config.APIKey}
	// The SDK requires a key and otherwise takes one from the environment. The transport sends the
	// configured key, or none.
	sdk, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: "set by the transport", Backend: genai.BackendGeminiAPI, HTTPClient: client,
		HTTPOptions: genai.HTTPOptions{BaseURL: base, APIVersion: "v1beta"},
	})
	if err != nil {
		return nil, fmt.Errorf("configuring a Gemini model: %w", err)
	}
	return &Model{name: config.Model, generation: generationOf(config.Model), optional: model.NewOptional(thoughts), models: sdk.Models}, nil
}

// Name returns "gemini:" and the model's name.
func (m *Model) Name() string { return "gemini:" + m.name }

// Generate streams one response. Leaving the loop early or canceling ctx closes the connection.
func (m *Model) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return model.Stream(func(yield func(model.Chunk) bool) (bool, error) {
		return m.optional.Stream(req, yield, func(req model.Request, yield func(model.Chunk) bool) (bool, error) { return m.stream(ctx, req, yield) })
	})
}

// stream passes chunks to yield until the response ends or yield returns false.
func (m *Model) stream(ctx context.Context, req model.Request, yield func(model.Chunk) bool) (left bool, err error) {
	config, err := m.config(req)
	if err != nil {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, cancelled(err)
	}
	seen := &exchange{}
	next, stop := iter.Pull2(m.models.GenerateContentStream(seen.within(ctx), m.name, contents(req.Messages, m.generation), config))
	defer stop()
	var a answer
	defer func() { err = model.Spent(err, a.usage) }()
	for {
		event, err, more := step(next)
		switch {
		case seen.err != nil || err != nil || (!more && ctx.Err() != nil):
			return false, seen.failure(ctx, err)
		case !more:
			whole, err := a.response(seen)
			if err != nil {
				return false, err
			}
			return !yield(model.Chunk{Response: whole}), nil
		}
		chunks, err := a.add(event, seen.take())
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
}

// step returns the next event. The SDK panics on JSON of an unexpected shape, such as an object in
// place of a list. What a server answers must not end agentd, so step returns an error instead.
func step(next func() (*genai.GenerateContentResponse, error, bool)) (event *genai.GenerateContentResponse, err error, more bool) {
	defer func() {
		if cause := recover(); cause != nil {
			event, err, more = nil, malformed(fmt.Errorf("an event has an unexpected shape: %v", cause)), true
		}
	}()
	return next()
}
