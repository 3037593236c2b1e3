package conformance

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/text/render"
	"github.com/toolhost/toolhost/tool"
)

const (
	// mostProperties bounds the properties of one schema that are examined. A schema that a person
	// wrote has fewer.
	mostProperties = 1000
	// mostValues bounds the values of an enum that are validated.
	mostValues = 1000
	// deepestProperty bounds the depth of the properties that are examined.
	deepestProperty = 32
)

// adviseSchema reports what the APIs of models do not accept of an input schema, and mistakes that
// its author cannot have meant.
func (a *adviser) adviseSchema(spec *tool.Spec) {
	var root map[string]any
	if json.Unmarshal(spec.InputSchema, &root) != nil {
		return // another check reports a schema of another form
	}
	for _, loss := range render.Losses(spec) {
		a.fail("advice.schemas", spec.Name, "%s", loss)
	}
	v := schemaAdvice{a: a, tool: spec.Name, root: root, left: mostProperties}
	v.object("", root, 0)
}

// schemaAdvice walks through a schema.
type schemaAdvice struct {
	a    *adviser
	tool string
	root map[string]any
	left int // the number of properties that may still be examined
}

func (v *schemaAdvice) fail(format string, args ...any) {
	v.a.fail("advice.schemas", v.tool, format, args...)
}

// object examines a schema's properties and required names. at is the path, empty at the root.
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

// values examines the default and the enum of a schema.
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

// judge returns a function that reports whether a value fits a part of the schema.
func (v *schemaAdvice) judge(part map[string]any) (fits func(value any) bool, ok bool) {
	whole := map[string]any{"type": "object", "properties": map[string]any{"value": part}}
	for _, keyword := range []string{"$schema", "$defs", "definitions"} {
		if v.root[keyword] != nil {
			whole[keyword] = v.root[keyword]
		}
	}
	compiled, err := arguments.Compile(json.RawMessage(textOf(whole)))
	if err != nil {
		return nil, false // for example, it refers to another part of the schema
	}
	return func(value any) bool {
		parsed, err := arguments.Parse(json.RawMessage(textOf(map[string]any{"value": value})))
		return err == nil && compiled.Validate(parsed) == nil
	}, true
}

// textOf returns a value that was decoded from JSON as JSON.
func textOf(value any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // a decoded value can be encoded
	return strings.TrimSpace(b.String())
}
