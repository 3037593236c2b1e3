package serve

import (
	"log/slog"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

// overrides returns the tool settings of the configuration in the form of the catalog.
func overrides(tools map[string]config.ToolSettings) catalog.Overrides {
	all := make(catalog.Overrides, len(tools))
	for key, s := range tools {
		o := catalog.Override{
			Plugin: s.Plugin, Disabled: s.Disabled, Rename: s.Rename, Description: s.Description, Category: s.Category, Tags: s.Tags,
			Dangerous: s.Dangerous, Strict: s.Strict, Serial: s.Serial, Parallel: s.Parallel, Timeout: s.Timeout, MaxConcurrent: s.MaxConcurrent, MaxRetries: s.MaxRetries, CostPerUse: s.CostPerUse,
			Effects: s.Effects,
		}
		if s.RateLimitPerMinute != nil {
			o.RateLimitPerMinute = new(uint32(*s.RateLimitPerMinute))
		}
		o.AgentRates = agentRates(s)
		all[key] = o
	}
	return all
}

// agentRates returns the limits of single agents that the settings of a tool have.
func agentRates(s config.ToolSettings) catalog.AgentRates {
	rates := catalog.AgentRates{Each: s.AgentRateLimitPerMinute}
	for name, of := range s.Agents {
		if of.RateLimitPerMinute == nil {
			continue
		}
		if rates.Of == nil {
			rates.Of = map[string]int{}
		}
		rates.Of[name] = *of.RateLimitPerMinute
	}
	return rates
}

// warnOfUnknownTools logs the settings for tools that no plugin has, because they have no effect.
func warnOfUnknownTools(known *catalog.Snapshot, logger *slog.Logger) {
	for _, key := range known.Strays() {
		logger.Warn("the configuration speaks of a tool that no plugin ships", "key", "tools."+key)
	}
}
