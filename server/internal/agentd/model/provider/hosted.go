//go:build !demo

package provider

import (
	"fmt"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/anthropic"
	"github.com/toolhost/toolhost/server/internal/agentd/model/gemini"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/responses"
)

// hosted opens a model of a provider with a network API.
func (c Choice) hosted(provider, name string) (model.Model, error) {
	switch provider {
	case "anthropic":
		return c.anthropic(name)
	case "openai":
		return c.openai(name)
	case "openai-responses":
		return c.responses(name)
	case "gemini":
		return c.gemini(name)
	}
	return nil, fmt.Errorf("there is no model provider %q: use --model %s", provider, forms)
}

func (c Choice) anthropic(name string) (model.Model, error) {
	config := anthropic.Config{Model: name, APIKey: c.env("ANTHROPIC_API_KEY"), BaseURL: c.base("ANTHROPIC_BASE_URL"), HTTPClient: c.HTTPClient, Thinking: c.Thinking}
	if config.APIKey == "" && config.BaseURL == "" {
		return nil, noKey("anthropic:"+name, "ANTHROPIC_API_KEY")
	}
	m, err := anthropic.New(config)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (c Choice) openai(name string) (model.Model, error) {
	config := openai.Config{Model: name, APIKey: c.env("OPENAI_API_KEY"), BaseURL: c.base("OPENAI_BASE_URL"), HTTPClient: c.HTTPClient}
	if config.APIKey == "" && config.BaseURL == "" {
		return nil, noKey("openai:"+name, "OPENAI_API_KEY")
	}
	m, err := openai.New(config)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (c Choice) responses(name string) (model.Model, error) {
	config := responses.Config{Model: name, APIKey: c.env("OPENAI_API_KEY"), BaseURL: c.base("OPENAI_BASE_URL"), HTTPClient: c.HTTPClient}
	if config.APIKey == "" && config.BaseURL == "" {
		return nil, noKey("openai-responses:"+name, "OPENAI_API_KEY")
	}
	m, err := responses.New(config)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (c Choice) gemini(name string) (model.Model, error) {
	config := gemini.Config{Model: name, APIKey: c.geminiKey(), BaseURL: c.base("GOOGLE_GEMINI_BASE_URL"), HTTPClient: c.HTTPClient}
	if config.APIKey == "" && config.BaseURL == "" {
		return nil, noKey("gemini:"+name, "GEMINI_API_KEY")
	}
	m, err := gemini.New(config)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// geminiKey returns the key from the variables that Google's SDK reads, in its order.
func noKey(name, variable string) error {
	return fmt.Errorf("%s needs a key: set %s, or use --base-url for a server that needs none", name, variable)
}

func (c Choice) base(variable string) string {
	if c.BaseURL != "" {
		return c.BaseURL
	}
	return c.env(variable)
}
