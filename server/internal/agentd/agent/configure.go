package agent

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// configs has the configuration for new runs, and earlier ones by their models.
//
// A run keeps the configuration with which it began to work. In a store that agents share, it stops
// working while it waits for a person. It then continues with the latest configuration that has its
// model. Its limits, its prompt and its choice of tools are in its journal. So a run that began
// with one model never continues with another one because of a reload.
type configs struct {
	current atomic.Pointer[configured]

	mu      sync.Mutex
	earlier map[modelKey]*configured // the latest of each model that current does not have
}

// config returns the configuration for new runs.
func (a *Agent) config() *configured { return a.configs.current.Load() }

// configFor returns the configuration for a run: the latest with its first model, or else the one
// for new runs.
func (a *Agent) configFor(started *loop.RunStarted) *configured {
	a.configs.mu.Lock()
	defer a.configs.mu.Unlock()
	current, first := a.config(), started.Models()[0]
	if earlier := a.configs.earlier[keyOf(first)]; earlier != nil && !current.ModelForAll && current.find(first) == nil {
		return earlier
	}
	return current
}

// modelsFor returns the models of a run. A fallback that no configuration has any more is left out.
// Without the first model, the run cannot go on: another model must not continue it unless the user
// or the operator says so.
func (a *Agent) modelsFor(config *configured, started *loop.RunStarted) ([]routed, error) {
	if config.ModelForAll {
		return []routed{{config.theDefault(), 0}}, nil
	}
	a.configs.mu.Lock()
	defer a.configs.mu.Unlock()
	var models []routed
	for place, want := range started.Models() {
		found := config.find(want)
		if earlier := a.configs.earlier[keyOf(want)]; found == nil && earlier != nil {
			found = earlier.find(want)
		}
		switch {
		case found != nil:
			models = append(models, routed{found, place})
		case place == 0 && config.ModelForLost:
			config.Log.Warn("the model of this process continues a run", "run", started.RunID, "model", config.Model.Name(), "error", lostModel(want))
			models = append(models, routed{config.theDefault(), 0})
		case place == 0:
			return nil, lostModel(want)
		default:
			config.Log.Warn("a fallback of a run is not configured any more", "run", started.RunID, "error", lostModel(want))
		}
	}
	return models, nil
}

// lostModel returns the error for a model that the configuration does not have.
func lostModel(m loop.RunModel) error {
	key := "model"
	if m.Name != "" && m.Name != m.Model {
		key = "models." + m.Name
	}
	at := ""
	if m.BaseURL != "" {
		at = " at " + m.BaseURL
	}
	return fmt.Errorf("the run has the model %s%s, which agentd.yaml does not have any more (key %s); configure it again, or name another model with --model", m.Model, at, key)
}

// Reconfigure replaces the configuration for runs that start from now on. Runs that work keep
// theirs. The agent keeps its Store, Tools, ListChangedTools, ToolsKnown, Search, LedgerID,
// ReadArtifact, Workspace, Statistics, MaxRuns, AttachmentMemory, Engine, Observer, Notifier and
// Log, whatever cfg has. An error means that nothing has changed.
func (a *Agent) Reconfigure(cfg Config) error {
	a.configs.mu.Lock()
	defer a.configs.mu.Unlock()
	before := a.config()
	cfg.Store, cfg.Tools, cfg.Search, cfg.LedgerID, cfg.ReadArtifact = before.Store, before.Tools, before.Search, before.LedgerID, before.ReadArtifact
	cfg.ListChangedTools, cfg.ToolsKnown = before.ListChangedTools, before.ToolsKnown
	cfg.Workspace, cfg.Statistics = before.Workspace, before.Statistics
	cfg.MaxRuns, cfg.AttachmentMemory, cfg.Engine = before.MaxRuns, before.AttachmentMemory, before.Engine
	cfg.Observer, cfg.Notifier, cfg.Log = before.Observer, before.Notifier, before.Log
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	next := newConfigured(cfg)
	if a.configs.earlier == nil {
		a.configs.earlier = map[modelKey]*configured{}
	}
	for key := range before.keys() {
		a.configs.earlier[key] = before
	}
	for key := range next.keys() {
		delete(a.configs.earlier, key)
	}
	a.configs.current.Store(next)
	return nil
}
