package conformance

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/tool"
)

const (
	// mostProperties bounds how many properties of one schema are looked at, which a schema of a person does not reach.
	mostProperties = 1000
	// mostValues bounds how many values of an enum are tried.
	mostValues = 1000
	// deepestProperty bounds how deep properties are nested that are looked at.
	deepestProperty = 32
)

// apiProperty matches the names of arguments that each API of a model accepts: Anthropic's refuses all others, and with one
// of them the whole request.
var apiProperty = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// adviseSchema looks for what an input schema says that cannot be meant.
func (x *examiner) adviseSchema(spec *tool.Spec) {
	var root map[string]any
	if json.Unmarshal(spec.InputSchema, &root) != nil {
		return // what is no such schema is a finding of its own
	}
	properties, _ := root["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !apiProperty.MatchString(name) {
			x.fail("advice.schemas", spec.Name, "the name of the parameter %s is not accepted by Anthropic's API: RenderTools leaves the tool out there", quote(name))
		}
	}
	v := schemaAdvice{x: x, tool: spec.Name, root: root, left: mostProperties}
	v.object("", root, 0)
}

// schemaAdvice walks a schema.
type schemaAdvice struct {
	x    *examiner
	tool string
	root map[string]any
	left int // properties that may still be looked at
}

func (v *schemaAdvice) fail(format string, args ...any) {
	v.x.fail("advice.schemas", v.tool, format, args...)
}

// object looks at a schema's properties and at its required names. at names the place, empty at the top.
func (v *schemaAdvice) object(at string, schema map[string]any, depth int) {
	if depth > deepestProperty {
		return
	}
	properties, declares := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	elsewhere := slices.ContainsFunc([]string{"$ref", "allOf", "anyOf", "oneOf", "patternProperties"}, func(k string) bool { return schema[k] != nil })
	for _, r := range required {
		if name, ok := r.(string); ok && declares && !elsewhere && properties[name] == nil {
			v.fail("%s is required and not declared among the properties", quote(at+name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, ok := properties[name].(map[string]any)
		if v.left--; !ok || v.left < 0 {
			continue
		}
		v.values(at+name, property)
		v.object(at+name+".", property, depth+1)
		if items, ok := property["items"].(map[string]any); ok {
			v.values(at+name+"[]", items)
			v.object(at+name+"[].", items, depth+1)
		}
	}
}

// values looks at the default and the enum of a schema.
func (v *schemaAdvice) values(at string, schema map[string]any) {
	value, given := schema["default"]
	enum, limited := schema["enum"].([]any)
	if !given && !limited {
		return
	}
	fits, ok := v.judge(schema)
	if !ok {
		return
	}
	if given && !fits(value) {
		v.fail("the default %s of %s does not fit its schema", quote(textOf(value)), quote(at))
	}
	if limited && len(enum) > 0 && !slices.ContainsFunc(enum[:min(len(enum), mostValues)], fits) {
		v.fail("no value fits %s: its enum has none that the rest of its schema allows, such as %s", quote(at), quote(textOf(enum[0])))
	}
}

// judge returns a function that tells whether a value fits a part of the schema.
func (v *schemaAdvice) judge(part map[string]any) (fits func(value any) bool, ok bool) {
	whole := map[string]any{"type": "object", "properties": map[string]any{"value": part}}
	for _, keyword := range []string{"$schema", "$defs", "definitions"} {
		if v.root[keyword] != nil {
			whole[keyword] = v.root[keyword]
		}
	}
	compiled, err := arguments.Compile(json.RawMessage(textOf(whole)))
	if err != nil {
		return nil, false // such as a reference to another place of the whole schema
	}
	return func(value any) bool {
		parsed, err := arguments.Parse(json.RawMessage(textOf(map[string]any{"value": value})))
		return err == nil && compiled.Validate(parsed) == nil
	}, true
}

// textOf returns a value that was read from JSON as JSON.
func textOf(value any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // what was read can be written
	return strings.TrimSpace(b.String())
}
