package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/tool"
)

// declarations judges a plugin's description of itself.
type declarations struct {
	*findings
	plugin *tool.Description
}

func (d *declarations) judgeNames(manifestName string) {
	if err := tool.CheckName(d.plugin.Name); err != nil {
		d.fail("describe.plugin", "", "%v", err)
	} else if manifestName != "" && manifestName != d.plugin.Name {
		d.fail("describe.plugin", "", "it says that its name is %q, but its plugin.yaml says %q", d.plugin.Name, manifestName)
	}
	d.pass("describe.plugin", "")
	const check = "describe.tools"
	d.pass(check, "")
	if len(d.plugin.Tools)+len(d.plugin.Filters) == 0 {
		d.fail(check, "", "it has neither tools nor filters")
	}
	seen := map[string]bool{}
	name := func(what, name string) {
		if err := tool.CheckName(name); err != nil {
			d.fail(check, name, "%v", err)
		}
		if seen[name] {
			d.fail(check, name, "the name of the %s is declared twice", what)
		}
		seen[name] = true
	}
	for _, spec := range d.plugin.Tools {
		name("tool", spec.Name)
		if strings.TrimSpace(spec.Description) == "" {
			d.fail(check, spec.Name, "it has no description")
		}
	}
	applied := map[string]int{}
	for _, f := range d.plugin.Filters {
		name("filter", f.Name)
		if !f.Before && !f.After {
			d.fail(check, f.Name, "the filter is asked neither before nor after calls")
		}
		for i, name := range f.Tools {
			if !slices.ContainsFunc(d.plugin.Tools, func(spec tool.Spec) bool { return spec.Name == name }) {
				d.fail(check, f.Name, "the filter applies to the tool %s, which the plugin does not have", quote(name))
			}
			if slices.Contains(f.Tools[:i], name) {
				d.fail(check, f.Name, "the filter names the tool %s twice", quote(name))
			}
			applied[name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(applied)) {
		if applied[name] > tool.MaxOwnFilters {
			d.fail(check, name, "%d filters of the plugin apply to the tool, more than %d", applied[name], tool.MaxOwnFilters)
		}
	}
}

func (d *declarations) judgeSpec(spec *tool.Spec) {
	d.pass("describe.schemas", "")
	d.pass("describe.examples", "")
	d.pass("describe.declarations", "")
	input, err := arguments.Compile(spec.InputSchema)
	if err != nil {
		d.fail("describe.schemas", spec.Name, "its input schema cannot be used: %v", err)
	} else if kind := schemaType(spec.InputSchema); len(spec.InputSchema) > 0 && kind != "object" {
		d.fail("describe.schemas", spec.Name, "the type of its input schema is %s, not object", quote(kind))
	}
	if len(spec.OutputSchema) > 0 {
		if _, err := arguments.Compile(spec.OutputSchema); err != nil {
			d.fail("describe.schemas", spec.Name, "its output schema cannot be used: %v", err)
		}
	}
	for i, example := range spec.InputExamples {
		parsed, err := arguments.Parse(example.Arguments)
		if err == nil && input != nil {
			err = input.Validate(parsed)
		}
		if err != nil {
			d.fail("describe.examples", spec.Name, "its example %d, %s, does not fit: %v", i+1, quote(string(example.Arguments)), err)
		}
	}
	d.judgeDeclarations(spec)
}

// schemaType returns the type of a schema, or "" if it declares none.
func schemaType(schema json.RawMessage) string {
	var s struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(schema, &s) != nil || s.Type == nil {
		return ""
	}
	return fmt.Sprint(s.Type)
}

func (d *declarations) judgeDeclarations(spec *tool.Spec) {
	complain := func(format string, args ...any) { d.fail("describe.declarations", spec.Name, format, args...) }
	for key, value := range spec.Metadata {
		if !validJSON(value) {
			complain("the metadata %s is %s, which is no JSON", quote(key), quote(string(value)))
		}
	}
	if spec.Timeout < 0 || spec.Retry.InitialBackoff < 0 || spec.Retry.MaxBackoff < 0 {
		complain("a duration is negative")
	}
	if spec.CostPerUse < 0 {
		complain("its cost is %v, less than nothing", spec.CostPerUse)
	}
	if spec.ReadOnly && spec.Dangerous {
		complain("it is declared both read_only, which changes nothing, and dangerous")
	}
	if spec.ReadOnly && spec.Settles {
		complain("it is declared both read_only, which changes nothing, and settles")
	}
	if spec.Seals && !spec.Settles {
		complain("it is declared seals, but not settles: it has no check that could seal")
	}
	if spec.Serial && spec.Parallel {
		complain("it is declared both serial, never beside another call, and parallel")
	}
	for _, name := range slices.Concat(spec.RequiresAuth, spec.ContextKeys, spec.EffectKeys, spec.Tags) {
		if strings.TrimSpace(name) == "" {
			complain("the name of a secret, context key or tag is empty")
		}
	}
}

func (d *declarations) judgePermissions() {
	for _, path := range slices.Concat(d.plugin.Permissions.Read, d.plugin.Permissions.Write) {
		if !filepath.IsAbs(path) {
			d.fail("describe.declarations", "", "it asks for the path %s, which is not absolute", quote(path))
		}
	}
}
