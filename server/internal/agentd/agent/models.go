package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// OfferedModel is a model that runs can name.
type OfferedModel struct {
	// Model is nil if the model cannot be used here. Problem then says why.
	Model   model.Model
	Problem error
	// BaseURL is the address of the model's API, for the journal; see Config.BaseURL.
	BaseURL string
	// Window is the size of the model's window in tokens. 0 means that of Config.Window.
	Window int64
	// Price is the price of the model's tokens. Nil means that it is unknown.
	Price *model.Price
}

func (m *OfferedModel) key() modelKey { return modelKey{m.Model.Name(), m.BaseURL} }

// cost returns the cost of tokens of the model, or 0 if the price is unknown.
func (m *OfferedModel) cost(u tool.Usage) float64 {
	if m == nil || m.Price == nil {
		return 0
	}
	return m.Price.Cost(u)
}

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
