// Package provider opens a model by its name.
//
// It owns the list of providers, the environment variables that they use, and the default models.
// It is the only package that imports all providers, so that package model and the agent import
// none. The build tag demo leaves out the providers with a network API, whose libraries take a
// third of the time of a first build.
package provider

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/scripted"
	"github.com/toolhost/toolhost/server/internal/agentd/model/textform"
)

// The default models if only an API key selects the provider. For Anthropic it is the middle model
// for agents. For OpenAI it is the newest one that accepts tools in the Chat Completions API by
// default. For Google it is the API's own name of its latest fast model.
const (
	DefaultAnthropic = "claude-sonnet-5-5"
	DefaultOpenAI    = "gpt-5.4"
	DefaultGemini    = "gemini-flash-latest"
)

// Choice selects a model.
type Choice struct {
	// Model is anthropic:NAME, openai:NAME, openai-responses:NAME, gemini:NAME or scripted:FILE. If
	// it is empty, the first API key that is set selects the provider: ANTHROPIC_API_KEY, then
	// OPENAI_API_KEY, then GOOGLE_API_KEY or GEMINI_API_KEY.
	Model string
	// BaseURL is the URL of the API. If it is empty, ANTHROPIC_BASE_URL, OPENAI_BASE_URL or
	// GOOGLE_GEMINI_BASE_URL is used, or the provider's default. With a base URL, no key is required.
	BaseURL string
	// Thinking is the limit of thinking tokens per response. 0 means the provider's default. Only
	// models of Anthropic use it.
	Thinking int64
	// TextTools says that the model writes its tool calls as text, in the form of package textform.
	// It is for models without function calling.
	TextTools bool
	// Getenv returns an environment variable, like os.Getenv. Nil means an empty environment.
	Getenv func(string) string
	// HTTPClient sends the requests. Nil means the provider's default client.
	HTTPClient *http.Client
}

// Open returns the selected model. It reads a script file, but does not connect. Its errors say
// what to do.
func Open(choice Choice) (model.Model, error) {
	m, err := open(choice)
	if err != nil || !choice.TextTools {
		return m, err
	}
	return textform.Wrap(m), nil
}

func open(choice Choice) (model.Model, error) {
	if choice.Getenv == nil {
		choice.Getenv = func(string) string { return "" }
	}
	if choice.Model == "" {
		named, err := choice.byKey()
		if err != nil {
			return nil, err
		}
		choice.Model = named
	}
	provider, name, _ := strings.Cut(choice.Model, ":")
	if name == "" {
		return nil, choice.noName()
	}
	if provider != "scripted" {
		return choice.hosted(provider, name)
	}
	if choice.BaseURL != "" {
		return nil, errors.New("a scripted model has no base URL: leave --base-url out")
	}
	return script(name)
}

const forms = "anthropic:NAME, openai:NAME, openai-responses:NAME, gemini:NAME or scripted:FILE"

func (c Choice) byKey() (string, error) {
	switch {
	case c.env("ANTHROPIC_API_KEY") != "":
		return "anthropic:" + DefaultAnthropic, nil
	case c.env("OPENAI_API_KEY") != "":
		return "openai:" + DefaultOpenAI, nil
	case c.geminiKey() != "":
		return "gemini:" + DefaultGemini, nil
	case c.BaseURL != "":
		return "", errors.New("no model is chosen: say which one the server at the base URL is to run, " +
			"with --model openai:NAME, --model anthropic:NAME or --model gemini:NAME")
	}
	return "", errors.New("no model is chosen: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, " +
		"or use --model scripted:FILE to run without a key, or --model openai:NAME --base-url URL for a server of your own")
}

func (c Choice) noName() error {
	switch {
	case strings.HasSuffix(c.Model, ".yaml"), strings.HasSuffix(c.Model, ".yml"):
		return fmt.Errorf("%q names no model: for a script use --model scripted:%s", c.Model, c.Model)
	case strings.HasPrefix(c.Model, "claude"):
		return fmt.Errorf("%q names no provider: use --model anthropic:%s", c.Model, c.Model)
	case strings.HasPrefix(c.Model, "gpt"):
		return fmt.Errorf("%q names no provider: use --model openai:%s", c.Model, c.Model)
	case strings.HasPrefix(c.Model, "gemini-"):
		return fmt.Errorf("%q names no provider: use --model gemini:%s", c.Model, c.Model)
	}
	return fmt.Errorf("%q names no model: use --model %s", c.Model, forms)
}

func (c Choice) geminiKey() string { return cmp.Or(c.env("GOOGLE_API_KEY"), c.env("GEMINI_API_KEY")) }

func script(path string) (model.Model, error) {
	m, err := scripted.Load(path)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// env removes surrounding space. A key that was read from a file often ends with a newline, which
// an HTTP header cannot contain.
func (c Choice) env(variable string) string { return strings.TrimSpace(c.Getenv(variable)) }
