package render

import (
	"bytes"
	"encoding/json"
	"slices"
)

// An API that refuses alternatives at the root of a schema would show the model a tool without
// arguments if they were only removed. So the root gets what they say of its properties: all
// properties that one of them names, and those in required that all of them require. The result
// accepts more than the schema: toolhost still validates by the schema, and the description has the
// alternatives, as far as there is room.

// maxAlternatives bounds the parts of the root that are merged. References can repeat a part many
// times.
const maxAlternatives = 128

// shape is what a schema says of the properties of an object.
type shape struct {
	properties object // schemas by name, in the order in which the author has them
	required   []string
}

// merger reads shapes of the parts of a root.
type merger struct {
	root object
	left int
}

// withAlternatives returns a root with the properties and the required names of those of its
// keywords that will be removed.
func withAlternatives(root object, removed []string) object {
	m := merger{root: root, left: maxAlternatives}
	s := shapeAtRoot(root)
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if slices.Contains(removed, keyword) {
			s = s.and(m.alternatives(root, keyword))
		}
	}
	o := root
	if given := shapeAtRoot(root); len(s.properties) > 0 && !slices.EqualFunc(s.properties, given.properties, equalMembers) {
		o = o.with("properties", s.properties.text())
	}
	if given, _ := namesIn(root.get("required")); len(s.required) > len(given) {
		text, _ := encode(s.required) // texts can always be encoded
		o = o.with("required", text)
	}
	return o
}

func shapeAtRoot(o object) shape {
	properties, _ := parseObject(o.get("properties"))
	required, _ := namesIn(o.get("required"))
	return shape{slices.Clone(properties), required}
}

func namesIn(text json.RawMessage) (list []string, ok bool) {
	return list, json.Unmarshal(text, &list) == nil
}

// shape returns what a schema says of the properties of an object. ok is false if no object fits
// it.
func (m *merger) shape(text json.RawMessage) (s shape, ok bool) {
	o, isObject := parseObject(text)
	if m.left--; m.left < 0 || !isObject {
		return shape{}, string(bytes.TrimSpace(text)) != "false"
	}
	if kind := o.get("type"); kind != nil && !bytes.Contains(kind, []byte(`"object"`)) {
		return shape{}, false
	}
	s = shapeAtRoot(o)
	if target, found := resolve(m.root, unquote(o.get("$ref"))); found {
		behind, _ := m.shape(target.text())
		s = s.and(behind)
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		s = s.and(m.alternatives(o, keyword))
	}
	return s, true
}

// alternatives returns the shape of one of the keywords of a schema that have a list of schemas.
func (m *merger) alternatives(o object, keyword string) shape {
	var list []json.RawMessage
	if json.Unmarshal(o.get(keyword), &list) != nil {
		return shape{}
	}
	var all []shape
	for _, text := range list {
		if s, ok := m.shape(text); ok {
			all = append(all, s)
		}
	}
	if keyword != "allOf" {
		return either(all)
	}
	var s shape
	for _, more := range all {
		s = s.and(more)
	}
	return s
}

// and returns the shape of objects that have both shapes.
func (s shape) and(t shape) shape {
	both := shape{properties: slices.Clone(s.properties), required: slices.Clone(s.required)}
	for _, p := range t.properties {
		if at := both.properties.index(p.name); at >= 0 {
			both.properties[at].value = allOf(both.properties[at].value, p.value)
		} else {
			both.properties = append(both.properties, p)
		}
	}
	for _, name := range t.required {
		if !slices.Contains(both.required, name) {
			both.required = append(both.required, name)
		}
	}
	return both
}

// either returns the shape of objects that have one of the shapes.
func either(all []shape) shape {
	var one shape
	variants := map[string][]json.RawMessage{}
	for i, s := range all {
		if i == 0 {
			one.required = slices.Clone(s.required)
		}
		one.required = slices.DeleteFunc(one.required, func(name string) bool { return !slices.Contains(s.required, name) })
		for _, p := range s.properties {
			if one.properties.index(p.name) < 0 {
				one.properties = append(one.properties, p)
			}
			if !slices.ContainsFunc(variants[p.name], func(v json.RawMessage) bool { return bytes.Equal(v, p.value) }) {
				variants[p.name] = append(variants[p.name], p.value)
			}
		}
	}
	for i, p := range one.properties {
		one.properties[i].value = anyOf(variants[p.name])
	}
	return one
}

// anyOf returns a schema that accepts what one of the schemas accepts. Schemas that permit only
// some values become one enum, as those of a property that tells the alternatives apart.
func anyOf(schemas []json.RawMessage) json.RawMessage {
	if len(schemas) == 1 {
		return schemas[0]
	}
	var values []json.RawMessage
	var first object
	for i, text := range schemas {
		o, _ := parseObject(text)
		some, ok := permitted(o)
		rest := o.without("const").without("enum").without("description").without("title").without("default")
		if i == 0 {
			first = o
		} else if !slices.EqualFunc(rest, first.without("const").without("enum").without("description").without("title").without("default"), equalMembers) {
			ok = false
		}
		if !ok {
			text, _ := encode(map[string][]json.RawMessage{"anyOf": schemas}) // parts of JSON
			return text
		}
		for _, v := range some {
			if !slices.ContainsFunc(values, func(known json.RawMessage) bool { return bytes.Equal(known, v) }) {
				values = append(values, v)
			}
		}
	}
	text, _ := encode(values)
	at := slices.IndexFunc(first, func(m member) bool { return m.name == "const" || m.name == "enum" })
	merged := slices.Clone(first).without("default")
	at = slices.IndexFunc(merged, func(m member) bool { return m.name == first[at].name })
	merged[at] = member{"enum", text}
	return merged.text()
}

// permitted returns the values that a schema permits by const or enum.
func permitted(o object) (values []json.RawMessage, ok bool) {
	if value := o.get("const"); value != nil {
		return []json.RawMessage{value}, true
	}
	return values, json.Unmarshal(o.get("enum"), &values) == nil && len(values) > 0
}

// allOf returns a schema that accepts what both schemas accept. It joins the members of schemas
// that do not contradict each other.
func allOf(a, b json.RawMessage) json.RawMessage {
	one, isObject := parseObject(a)
	other, isObject2 := parseObject(b)
	joined := slices.Clone(one)
	for _, m := range other {
		switch given := one.get(m.name); {
		case given == nil:
			joined = append(joined, m)
		case bytes.Equal(given, m.value), m.name == "description", m.name == "title", m.name == "default":
		default:
			isObject = false
		}
	}
	if isObject && isObject2 {
		return joined.text()
	}
	text, _ := encode(map[string][]json.RawMessage{"allOf": {a, b}}) // parts of JSON
	return text
}
