package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// checkTools reports settings of tools that cannot have an effect.
func (d *decoder) checkTools() {
	for _, key := range slices.Sorted(maps.Keys(d.config.Tools)) {
		d.checkTool(yamldoc.Join("tools", yamldoc.ShownKey(key)), key, d.config.Tools[key])
	}
}

func (d *decoder) checkTool(parent, key string, s ToolSettings) {
	if at, given := d.At[yamldoc.Join(parent, "plugin")]; given && strings.Contains(key, ".") {
		d.Fail(at, yamldoc.Join(parent, "plugin"), "this key has a meaning only under the name of a tool alone, and this is %s", key)
	}
	for _, text := range []struct{ key, value string }{{"description", s.Description}, {"category", s.Category}} {
		full := yamldoc.Join(parent, text.key)
		if at, given := d.At[full]; given && text.value == "" && !d.Failed(full) {
			d.Fail(at, full, "the text is empty; leave the key out for what the plugin declares")
		}
	}
	for i, key := range s.Effects {
		if key == "" {
			d.Fail(d.At[yamldoc.Join(parent, "effects")], yamldoc.Join(parent, "effects"), "key %d is empty", i+1)
		}
	}
	for i, tag := range s.Tags {
		if tag == "" {
			d.Fail(d.At[yamldoc.Join(parent, "tags")], yamldoc.Join(parent, "tags"), "tag %d is empty", i+1)
		}
	}
}
