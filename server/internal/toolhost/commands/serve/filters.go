package serve

import (
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
)

// hostFilters converts the filters of the configuration for the host.
func hostFilters(configured []config.Filter) []host.Filter {
	filters := make([]host.Filter, len(configured))
	for i, f := range configured {
		filters[i] = host.Filter{Name: f.Filter, Tools: f.Tools, Tags: f.Tags, Optional: f.WhenItFails == "skip", Timeout: f.Timeout}
	}
	return filters
}
