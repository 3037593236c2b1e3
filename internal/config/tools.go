package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/toolhost/toolhost/tool"
)

// tools decodes what is said about each tool.
func (d *decoder) tools(key string, node ast.Node) {
	if isNull(node) {
		return
	}
	entries, ok := d.entries(key, node)
	if !ok {
		d.fail(placeOf(node), key, "%s is not a mapping from names of tools to what is said about them", given(node))
		return
	}
	if len(entries) > 0 {
		d.config.Tools = make(map[string]ToolSettings, len(entries))
	}
	for _, e := range entries {
		name := join(key, shownKey(e.key))
		if err := checkToolKey(e.key); err != nil {
			d.fail(e.at, name, "%v", err)
			continue
		}
		var settings ToolSettings
		d.structure(reflect.ValueOf(&settings).Elem(), name, e.value)
		d.checkTool(name, e.key, settings)
		d.config.Tools[e.key] = settings
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
	if at, given := d.at[join(parent, "plugin")]; given && strings.Contains(key, ".") {
		d.fail(at, join(parent, "plugin"), "this key has a meaning only under the name of a tool alone, and this is %s", key)
	}
	for _, text := range []struct{ key, value string }{{"description", s.Description}, {"category", s.Category}} {
		full := join(parent, text.key)
		if at, given := d.at[full]; given && text.value == "" && !d.failed(full) {
			d.fail(at, full, "the text is empty; leave the key out for what the plugin declares")
		}
	}
	for i, tag := range s.Tags {
		if tag == "" {
			d.fail(d.at[join(parent, "tags")], join(parent, "tags"), "tag %d is empty", i+1)
		}
	}
}

// failed reports whether something is wrong with the value of a key.
func (d *decoder) failed(key string) bool {
	return slices.ContainsFunc(d.errs, func(before *Error) bool { return before.Key == key })
}
