package config

import (
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/toolhost/toolhost/internal/settings"
	"github.com/toolhost/toolhost/tool"
)

// tools decodes what is said about each tool.
func (d *decoder) tools(key string, node ast.Node) {
	if settings.IsNull(node) {
		return
	}
	entries, ok := d.Entries(key, node)
	if !ok {
		d.Fail(settings.PlaceOf(node), key, "%s is not a mapping from names of tools to what is said about them", settings.Given(node))
		return
	}
	if len(entries) > 0 {
		d.config.Tools = make(map[string]ToolSettings, len(entries))
	}
	for _, e := range entries {
		name := settings.Join(key, settings.ShownKey(e.Key))
		if err := checkToolKey(e.Key); err != nil {
			d.Fail(e.At, name, "%v", err)
			continue
		}
		var settings ToolSettings
		d.Structure(reflect.ValueOf(&settings).Elem(), name, e.Value)
		d.checkTool(name, e.Key, settings)
		d.config.Tools[e.Key] = settings
	}
}

// checkToolKey returns what is wrong with TOOL or PLUGIN.TOOL.
func checkToolKey(key string) error {
	plugin, name, qualified := strings.Cut(key, ".")
	if err := tool.CheckName(plugin); err != nil || !qualified {
		return err
	}
	return tool.CheckName(name)
}

func (d *decoder) checkTool(parent, key string, s ToolSettings) {
	if at, given := d.At[settings.Join(parent, "plugin")]; given && strings.Contains(key, ".") {
		d.Fail(at, settings.Join(parent, "plugin"), "this key has a meaning only under the name of a tool alone, and this is %s", key)
	}
	for _, text := range []struct{ key, value string }{{"description", s.Description}, {"category", s.Category}} {
		full := settings.Join(parent, text.key)
		if at, given := d.At[full]; given && text.value == "" && !d.Failed(full) {
			d.Fail(at, full, "the text is empty; leave the key out for what the plugin declares")
		}
	}
	for i, key := range s.Effects {
		if key == "" {
			d.Fail(d.At[settings.Join(parent, "effects")], settings.Join(parent, "effects"), "key %d is empty", i+1)
		}
	}
	for i, tag := range s.Tags {
		if tag == "" {
			d.Fail(d.At[settings.Join(parent, "tags")], settings.Join(parent, "tags"), "tag %d is empty", i+1)
		}
	}
}
