package config

import (
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
	"github.com/toolhost/toolhost/internal/settings"
	"github.com/toolhost/toolhost/tool"
)

// decoder decodes what only toolhost.yaml has: settings of plugins over their defaults, environments, tools, secrets.
type decoder struct {
	*settings.Decoder
	config *Config
}

// mapping decodes what stands at a key whose value has names for keys.
func (d *decoder) mapping(v reflect.Value, key string, node ast.Node) bool {
	switch v.Interface().(type) {
	case map[string]string:
		d.variables(v, key, node)
	case map[string]ToolSettings:
		d.tools(key, node)
	case map[string]Secret:
		d.secrets(key, node)
	default:
		d.plugins(key, node)
	}
	return true
}

// variables decodes an environment into v, which keeps the variables that it has.
func (d *decoder) variables(v reflect.Value, key string, node ast.Node) {
	if settings.IsNull(node) {
		return
	}
	entries, ok := d.Entries(key, node)
	if !ok {
		d.Fail(settings.PlaceOf(node), key, "%s is not %s", settings.Given(node), settings.Describe(v.Type(), ""))
		return
	}
	env := v.Interface().(map[string]string)
	if env == nil && len(entries) > 0 {
		env = map[string]string{}
	}
	for _, e := range entries {
		name := settings.Join(key, settings.ShownKey(e.Key))
		s, single := settings.ScalarOf(e.Value)
		switch {
		case notAVariable(e.Key) != "":
			d.Fail(e.At, name, "%s", notAVariable(e.Key))
		case settings.IsNull(e.Value):
			d.Fail(settings.PlaceOf(e.Value), name, `there is no value; write "" for an empty one`)
		case !single:
			d.Fail(settings.PlaceOf(e.Value), name, "%s is not a text", settings.Kind(e.Value))
		case strings.ContainsRune(s.Text, 0):
			d.Fail(settings.PlaceOf(e.Value), name, "a variable cannot hold a zero byte")
		default:
			env[e.Key] = s.Text
		}
	}
	v.Set(reflect.ValueOf(env))
}

// notAVariable says why the operator cannot give a plugin a variable of a name; empty if that is possible.
func notAVariable(name string) string {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00"):
		return "a variable's name must not be empty or hold = or a zero byte"
	case strings.HasPrefix(name, "PLUGIN_") || name == proc.MarkName:
		return "this variable is toolhost's to set"
	}
	return ""
}

// plugins decodes the settings of each plugin over a copy of the defaults.
func (d *decoder) plugins(key string, node ast.Node) {
	if settings.IsNull(node) {
		return
	}
	entries, ok := d.Entries(key, node)
	if !ok {
		d.Fail(settings.PlaceOf(node), key, "%s is not a mapping from names of plugins to their settings", settings.Given(node))
		return
	}
	if len(entries) > 0 {
		d.config.ByPlugin = make(map[string]PluginSettings, len(entries))
	}
	for _, e := range entries {
		name := settings.Join(key, settings.ShownKey(e.Key))
		if err := tool.CheckName(e.Key); err != nil {
			d.Fail(e.At, name, "%v", err)
			continue
		}
		plugin := d.config.Defaults.clone()
		d.Structure(reflect.ValueOf(&plugin).Elem(), name, e.Value)
		d.config.ByPlugin[e.Key] = plugin
	}
}
