package commands

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/provider"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// modelChoice is the models of a configuration, and which of them a command works with: a flag, the
// run that it continues, or the configuration decides.
type modelChoice struct {
	config  *agentconfig.Config
	getenv  func(string) string
	flag    string // --model; empty: not set
	baseURL string // --base-url; empty: not set
}

// openedModel is the model of a command, open, with what the configuration says about it.
type openedModel struct {
	model.Model
	name   string       // its full name; empty: none is open
	prices model.Prices // empty if they are not known
	window int64        // in tokens
	// reachedAt is the address of the model's API, without a password. Empty means the provider's
	// own address.
	reachedAt string
	// forAll means that the model of --model continues the run, which began with another one.
	forAll bool
}

// openModel opens the model. An unavailable one is a usage error, which names the flag or variable
// that helps.
func (c modelChoice) openModel() (openedModel, error) {
	choice, err := c.config.Choose(c.defaultModel())
	if err != nil {
		return openedModel{}, cli.Usage("--model: %w", err)
	}
	if c.baseURL != "" {
		choice.BaseURL = c.baseURL
	}
	m, err := c.open(&choice)
	if err != nil {
		return openedModel{}, cli.Usage("%w", err)
	}
	opened := openedModel{Model: m, name: m.Name(), window: choice.Window, reachedAt: redacted(choice.BaseURL)}
	if choice.Price != nil {
		opened.prices = model.Prices{m.Name(): *choice.Price}
	}
	return opened, nil
}

// open opens a model of the configuration.
func (c modelChoice) open(choice *agentconfig.Choice) (model.Model, error) {
	return provider.Open(provider.Choice{
		Model: choice.Name, BaseURL: choice.BaseURL, Thinking: choice.Thinking, TextTools: choice.TextTools, Getenv: c.keysFrom(choice.APIKeyEnv),
	})
}

// openModels opens the models that agents and callers can name. A model that cannot be used, such
// as one without a key, is an error only for the runs that name it.
func (c modelChoice) openModels() map[string]agent.OfferedModel {
	models := make(map[string]agent.OfferedModel)
	for _, name := range c.config.NamedModels() {
		choice, err := c.config.Choose(name)
		var m agent.OfferedModel
		if err == nil {
			m = agent.OfferedModel{BaseURL: redacted(choice.BaseURL), Window: choice.Window, Price: choice.Price}
			m.Model, err = c.open(&choice)
		}
		if err != nil {
			m.Model, m.Problem = nil, err
		}
		models[name] = m
	}
	return models
}

// defaultModel returns the model of runs that name none. A file whose default agent has a model
// needs no other one.
func (c modelChoice) defaultModel() string {
	return cmp.Or(c.flag, c.config.Model, c.config.Agents[c.config.Agent].Model)
}

// modelName returns the name of the default model in the configuration. Empty means that it has
// none.
func (c modelChoice) modelName() string {
	name := c.defaultModel()
	if _, known := c.config.Models[name]; !known || c.baseURL != "" {
		return ""
	}
	return name
}

// chosenModel returns the model that --model names, as the agent that works on the run knows it.
// Empty means that the agent of the run decides.
func (s *setup) chosenModel(server serverChoice) string {
	if s.model == "" || server != (serverChoice{}) {
		return s.model
	}
	return cmp.Or(s.models().modelName(), s.opened.name)
}

// openModelOf is openModel for a run. A run that exists keeps its model, whatever the configuration
// of the current folder says. Only --model changes it.
func (c modelChoice) openModelOf(ctx context.Context, store runstore.Store, runID string) (openedModel, error) {
	run, err := store.Get(ctx, runID)
	begun, reachedAt := agent.ModelOf(&run)
	if err != nil || c.flag != "" || begun == "" {
		// The run is new, or reading its journal reports the error later.
		opened, unavailable := c.openModel()
		opened.forAll = err == nil && (c.flag != "" || c.baseURL != "")
		return opened, unavailable
	}
	c.flag = c.config.Called(begun)
	opened, err := c.openModel()
	if err == nil && opened.name != begun {
		err = fmt.Errorf("%q is %s here", begun, opened.name)
	}
	if err != nil {
		return openedModel{}, cli.Usage("run %s was begun with the model %s, which this agentd cannot open: %w; "+
			"use --config with the agentd.yaml that the run was begun with, or let another model go on with --model MODEL", runID, begun, err)
	}
	if reachedAt != "" && opened.reachedAt != reachedAt && c.baseURL == "" {
		// The user decides where agentd sends a conversation and a key. The journal may come from
		// another user.
		return openedModel{}, cli.Usage("run %s was begun with its model at %s, and here the model is at %s; name the address that is right with --base-url",
			runID, reachedAt, cmp.Or(opened.reachedAt, "the provider's own address"))
	}
	opened.forAll = c.baseURL != ""
	return opened, nil
}

// redacted returns a URL without its password.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return strconv.Quote(text)
	}
	return u.Redacted()
}

// keysFrom returns an environment in which the named variable holds the key of every provider. If
// variable is empty, each provider has its usual variable.
func (c modelChoice) keysFrom(variable string) func(string) string {
	if variable == "" {
		return c.getenv
	}
	return func(name string) string {
		if slices.Contains(modelKeys, name) {
			name = variable
		}
		return c.getenv(name)
	}
}
