package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// configured is one configuration in force, with what the agent derives from it. It does not
// change.
type configured struct {
	Config
	tools *toolFilter
}

func newConfigured(cfg Config) *configured { return &configured{cfg, newToolFilter(&cfg)} }

// chosen is a model with its entry in the journal.
type chosen struct {
	loop.RunModel
	offered *OfferedModel
}

// theDefault returns the default model.
func (config *configured) theDefault() *OfferedModel {
	m := &OfferedModel{Model: config.Model, BaseURL: config.BaseURL, Window: config.Window.Tokens}
	if price, known := config.Prices[config.Model.Name()]; known {
		m.Price = &price
	}
	return m
}

// named returns the model with a name, which may also be the full name of the default model. Empty
// means the default model.
func (config *configured) named(name string) (chosen, error) {
	offered := config.theDefault()
	if m, ok := config.Models[name]; ok {
		offered = &m
	} else if name != "" && name != config.Model.Name() {
		if len(config.Models) == 0 {
			return chosen{}, fmt.Errorf("there is no model %q; there is only the default model %s", loop.Clip(name), config.Model.Name())
		}
		return chosen{}, fmt.Errorf("there is no model %q; there are %s", loop.Clip(name), strings.Join(slices.Sorted(maps.Keys(config.Models)), ", "))
	} else {
		name = config.ModelName
	}
	if offered.Model == nil {
		return chosen{}, fmt.Errorf("the model %s cannot be used: %w", name, offered.Problem)
	}
	return chosen{loop.RunModel{Name: name, Model: offered.Model.Name(), BaseURL: offered.BaseURL, Window: offered.Window}, offered}, nil
}

// modelsNamed returns the models with the names. No names mean the default model.
func (config *configured) modelsNamed(names []string) ([]chosen, error) {
	if len(names) == 0 {
		names = []string{""}
	}
	models := make([]chosen, len(names))
	for i, name := range names {
		var err error
		if models[i], err = config.named(name); err != nil {
			return nil, err
		}
	}
	return models, nil
}

// find returns the model of a journal, by its name in the configuration, or else by its full name
// and address. It returns nil if the configuration does not have it.
func (config *configured) find(want loop.RunModel) *OfferedModel {
	key := modelKey{want.Model, want.BaseURL}
	is := func(m *OfferedModel) bool { return m.Model != nil && m.key() == key }
	if m, ok := config.Models[want.Name]; ok && is(&m) {
		return &m
	}
	if m := config.theDefault(); is(m) {
		return m
	}
	for _, name := range slices.Sorted(maps.Keys(config.Models)) {
		if m := config.Models[name]; is(&m) {
			return &m
		}
	}
	// Journals of earlier versions do not have the address. The configuration decides about it.
	if m := config.theDefault(); want.BaseURL == "" && m.Model.Name() == want.Model {
		return m
	}
	return nil
}

// keys returns the models of the configuration that can be used.
func (config *configured) keys() map[modelKey]bool {
	keys := map[modelKey]bool{config.theDefault().key(): true}
	for _, m := range config.Models {
		if m.Model != nil {
			keys[m.key()] = true
		}
	}
	return keys
}
