package agentconfig

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// scripted is the provider whose models are script files.
const scripted = "scripted"

// forms are the models that need no entry in models.
const forms = "anthropic:NAME, openai:NAME, openai-responses:NAME, gemini:NAME or scripted:FILE"

// check reports values that are valid alone and contradict each other.
func check(d *yamldoc.Decoder, c *Config) {
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		checkModel(d, yamldoc.Join("models", yamldoc.ShownKey(name)), name, c.Models[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tools)) {
		key := yamldoc.Join(yamldoc.Join("tools", yamldoc.ShownKey(name)), "plugin")
		if c.Tools[name].Plugin != "" && !slices.Contains(loop.SystemTools(), name) {
			d.Fail(d.At[key], key, "agentd has no tool %q of its own that a plugin's tool could replace; its own tools are %s. Which plugin any "+
				"other tool is of is set in toolhost.yaml", name, strings.Join(loop.SystemTools(), ", "))
		}
	}
	if at, given := d.At["model"]; given && !d.Failed("model") && !strings.Contains(c.Model, ":") {
		if _, known := c.Models[c.Model]; !known {
			d.Fail(at, "model", "%q is not a name of models; %s, or write %s", c.Model, listed(c.Models), forms)
		}
	}
	checkMemory(c.Memory, func(key, format string, args ...any) {
		if list, _, _ := strings.Cut(key, "["); !d.Failed(key) {
			d.Fail(d.At[list], key, format, args...)
		}
	})
	checkAgents(d, c)
	checkConsole(d, c)
	c.HTTP.Check(d)
	c.Nodes.Check(d, "agentd", "journal", c.Journal, c.Listeners)
	if at, given := d.At["limits.max_cost"]; given && c.Limits.MaxCost > 0 && !d.Failed("limits.max_cost") && len(d.Errs) == 0 {
		if c.Models[c.Model].Price.Input == nil {
			d.Fail(at, "limits.max_cost", "the price of the model is unknown; set model to a name of models that has a price")
		}
	}
}

// CheckJournal returns an error if a text looks like a database and is not the URL of a PostgreSQL
// database without a password. Others can read a command line, and often a configuration file. A
// text that begins with ./ or / and is no URL is always a file.
func CheckJournal(text string) error {
	if !strings.Contains(text, "://") {
		return postgres.CheckFile(text)
	}
	return postgres.CheckPublic(text)
}

// listed returns the names for an error.
func listed[T any](names map[string]T) string {
	if len(names) == 0 {
		return "there are none"
	}
	return "there are " + strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

func checkModel(d *yamldoc.Decoder, parent, name string, m Model) {
	fail := func(key, format string, args ...any) {
		full := yamldoc.Join(parent, key)
		if !d.Failed(full) {
			d.Fail(d.At[full], full, format, args...)
		}
	}
	if strings.Contains(name, ":") {
		d.Fail(d.At[yamldoc.Join(parent, "provider")], parent, "a name of models must not hold a colon, which the names of providers' models do")
	}
	if _, given := d.At[yamldoc.Join(parent, "model")]; given && m.Model == "" {
		fail("model", "the name is empty")
	}
	if m.BaseURL != "" {
		u, err := url.Parse(m.BaseURL)
		switch {
		case m.Provider == scripted:
			fail("base_url", "a scripted model has no base URL")
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			fail("base_url", "%q is no URL such as https://HOST/v1", m.BaseURL)
		}
	}
	if m.Thinking > 0 && m.Provider != "anthropic" {
		fail("thinking", "a model of %s cannot be asked to think so; this is for models of anthropic", m.Provider)
	}
	switch p := m.Price; {
	case p.Input == nil && p.Output == nil && p.CacheRead == nil && p.CacheWrite == nil:
	case p.Input == nil || p.Output == nil:
		fail("price", "a price needs input and output")
	}
}

// modelOf returns the model with a name of the file, or with a provider's name such as openai:NAME.
func (c *Config) modelOf(name string) (Model, error) {
	if m, ok := c.Models[name]; ok {
		return m, nil
	}
	provider, model, qualified := strings.Cut(name, ":")
	if !qualified && len(c.Models) > 0 {
		return Model{}, fmt.Errorf("%q is no name of models in the configuration; %s", name, listed(c.Models))
	}
	return Model{Provider: provider, Model: model}, nil
}
