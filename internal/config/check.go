package config

import (
	"fmt"
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/yamldoc"
)

// check reports values that are valid alone and contradict each other.
func (d *decoder) check() {
	calls := d.config.Calls
	ordered(d, "calls", "default_timeout", calls.DefaultTimeout, "max_timeout", calls.MaxTimeout)
	d.checkFilters()
	d.settings("defaults", d.config.Defaults)
	for name, s := range d.config.ByPlugin {
		parent := yamldoc.Join("plugin", name)
		d.settings(parent, s)
		d.unused(parent, s)
	}
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

// ordered reports a value that must not be above another one and is. It does so at the value that
// the mapping itself has. If the mapping inherits both, the error is at the defaults.
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
		{"max_calls_per_instance", s.Isolation != lifecycle.PerCall, "isolation: shared or session"},
		{"recycle_after_calls", s.Isolation != lifecycle.PerCall, "isolation: shared or session"},
	} {
		if at, given := d.At[yamldoc.Join(parent, only.key)]; given && !only.means {
			d.Fail(at, yamldoc.Join(parent, only.key), "this key has a meaning only with %s; the plugin has isolation: %s", only.instead, s.Isolation)
		}
	}
}
