package config

import (
	"cmp"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
)

// check reports values that are valid alone and contradict each other.
func (d *decoder) check() {
	calls := d.config.Calls
	ordered(d, "calls", "default_timeout", calls.DefaultTimeout, "max_timeout", calls.MaxTimeout)
	d.checkFilters()
	d.checkWorkspace()
	d.settings("defaults", d.config.Defaults)
	for name, s := range d.config.ByPlugin {
		parent := yamldoc.Join("plugin", name)
		d.settings(parent, s)
		d.unused(parent, s)
	}
}

// checkMCP reports listeners of MCP that contradict the other listeners.
func (d *decoder) checkMCP() {
	if len(d.Errs) > 0 {
		return
	}
	others := map[string]bool{d.config.Listen: d.config.Listen != ""}
	admits := ""
	for _, l := range d.config.Listeners {
		others[l.Address] = true
		admits = cmp.Or(admits, l.Admits)
	}
	for i, l := range d.config.MCP.Listeners {
		key := fmt.Sprintf("mcp.listeners[%d]", i)
		switch {
		case others[l.Address]:
			d.Fail(d.At[key+".address"], key+".address", "gRPC clients connect to this address; MCP needs another one")
		case l.Admits != "" && admits != "" && l.Admits != admits:
			d.Fail(d.At[key+".admits"], key+".admits", "a plain listener under listeners admits %s; all have to admit the same role, because their callers are the same principal, anonymous", admits)
		}
	}
}

// plugins returns the settings of plugins by their names.
func plugins(c *Config, names []string) []PluginSettings {
	all := make([]PluginSettings, len(names))
	for i, name := range names {
		all[i] = c.Plugin(name)
	}
	return all
}

func (d *decoder) settings(parent string, s PluginSettings) {
	ordered(d, parent, "backoff.initial", s.Backoff.Initial, "backoff.max", s.Backoff.Max)
	switch {
	case s.MaxInstances == 0: // auto depends on the others
	case s.Isolation == lifecycle.Shared:
		ordered(d, parent, "min_instances", s.MinInstances, "max_instances", s.MaxInstances)
	case s.Isolation == lifecycle.PerCall:
		ordered(d, parent, "prewarmed", s.Prewarmed, "max_instances", s.MaxInstances)
	}
}

// ordered reports a value that is above another one although it must not be. If the mapping itself
// has one of the two values, the error is at that value. If the mapping inherits both, the error is
// at the defaults.
func ordered[T int | time.Duration](d *decoder, parent, lowKey string, low T, highKey string, high T) {
	if low <= high {
		return
	}
	if at, ok := d.At[yamldoc.Join(parent, lowKey)]; ok {
		d.Fail(at, yamldoc.Join(parent, lowKey), "%s is more than %s, which is %s", plain(low), highKey, plain(high))
	} else if at, ok := d.At[yamldoc.Join(parent, highKey)]; ok {
		d.Fail(at, yamldoc.Join(parent, highKey), "%s is less than %s, which is %s", plain(high), lowKey, plain(low))
	}
}

func plain(v any) string {
	if d, ok := v.(time.Duration); ok {
		return yamldoc.FormatDuration(d)
	}
	return fmt.Sprint(v)
}

// unused reports keys of one plugin that have no effect with its isolation. In the defaults, such
// keys may be for other plugins.
func (d *decoder) unused(parent string, s PluginSettings) {
	for _, only := range []struct {
		key     string
		means   bool
		instead string
	}{
		{"min_instances", s.Isolation == lifecycle.Shared, "isolation: shared"},
		{"prewarmed", s.Isolation == lifecycle.PerCall, "isolation: call"},
		{"max_calls_per_instance", s.Isolation != lifecycle.PerCall, "isolation: shared, principal or session"},
		{"recycle_after_calls", s.Isolation != lifecycle.PerCall, "isolation: shared, principal or session"},
	} {
		if at, given := d.At[yamldoc.Join(parent, only.key)]; given && !only.means {
			d.Fail(at, yamldoc.Join(parent, only.key), "this key has a meaning only with %s; the plugin has isolation: %s", only.instead, s.Isolation)
		}
	}
}
