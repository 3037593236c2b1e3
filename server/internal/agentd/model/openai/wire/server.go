// Package wire has what the Chat Completions API and the Responses API of OpenAI have in common:
// the connection to a server, the events of a stream, texts in several forms, failures, and the
// forms of attachments and schemas in requests.
//
// It does not know the messages of either API. The packages openai and responses translate those.
package wire

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
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

// Server is the server of a Config.
type Server struct {
	// Client sends requests to the server. It does not repeat a request, and it reads no
	// environment variables.
	Client sdk.Client
	// Official says that the server is OpenAI's or Azure's. Other servers of the same APIs know
	// fewer parameters, and some refuse a request with an unknown one.
	Official bool
	// Host is the name of the server's host, without the port.
	Host string
}

// Open returns the server of a configuration. It does no I/O.
func Open(config Config) (Server, error) {
	if config.Model == "" {
		return Server{}, errors.New("configuring an OpenAI model: the model's name is missing")
	}
	s := Server{Official: true, Host: "api.openai.com"}
	options := []option.RequestOption{option.WithEnvironmentProduction(), option.WithMaxRetries(0)}
	if config.BaseURL != "" {
		base, err := model.ParseBaseURL(config.BaseURL)
		if err != nil {
			return Server{}, fmt.Errorf("configuring an OpenAI model: %w", err)
		}
		host := base.Hostname()
		s.Host = host
		s.Official = host == "api.openai.com" || strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
		options = append(options, option.WithBaseURL(config.BaseURL))
	}
	if config.APIKey != "" {
		options = append(options, option.WithAPIKey(config.APIKey))
	}
	// sdk.NewClient would read environment variables.
	s.Client = sdk.Client{Options: append(options, option.WithHTTPClient(model.HTTPClient(config.HTTPClient)))}
	return s, nil
}
