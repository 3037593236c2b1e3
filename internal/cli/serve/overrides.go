package serve

import (
	"log/slog"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
)

// overrides returns what the configuration says about tools, for the catalogue.
func overrides(tools map[string]config.ToolSettings) catalog.Overrides {
	all := make(catalog.Overrides, len(tools))
	for key, s := range tools {
		o := catalog.Override{
			Plugin: s.Plugin, Disabled: s.Disabled, Rename: s.Rename, Description: s.Description, Category: s.Category, Tags: s.Tags,
			Dangerous: s.Dangerous, Strict: s.Strict, Timeout: s.Timeout, MaxConcurrent: s.MaxConcurrent, CostPerUse: s.CostPerUse,
			Effects: s.Effects,
		}
		if s.RateLimitPerMinute != nil {
			o.RateLimitPerMinute = new(uint32(*s.RateLimitPerMinute))
		}
		all[key] = o
	}
	return all
}

// concurrency returns how many calls of a tool may be executed at the same time.
func concurrency(known *catalog.Catalog) func(tool string) int {
	return func(tool string) int {
		if t := known.Snapshot().Tool(tool); t != nil {
			return t.MaxConcurrent
		}
		return 0 // it has just gone, or is a filter
	}
}

// warnOfStrays says which of the operator's words about tools count for nothing.
func warnOfUnknownTools(known *catalog.Snapshot, logger *slog.Logger) {
	for _, key := range known.Strays() {
		logger.Warn("the configuration speaks of a tool that no plugin ships", "key", "tools."+key)
	}
}
