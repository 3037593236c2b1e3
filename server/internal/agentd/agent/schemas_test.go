//go:build !race

package agent_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

type object = map[string]any

// generator generates schemas with values that fit them by construction, and mutations of values.
type generator struct {
	*rand.Rand
	defs  object
	names int
}

// sample is a schema with a value that fits it.
type sample struct{ schema, value any }

// root returns a schema of type object that has the definitions, with a value.
func (g *generator) root() sample {
	g.defs = object{}
	s := g.object(2)
	schema := s.schema.(object)
	if len(g.defs) > 0 {
		schema["$defs"] = g.defs
	}
	return s
}

// any returns a schema that is at most depth levels deep.
func (g *generator) any(depth int) sample {
	simple := []func() sample{g.text, g.pattern, g.integer, g.number, g.enum, g.constant, g.boolean, g.nullable}
	if depth == 0 {
		return simple[g.IntN(len(simple))]()
	}
	deep := []func(int) sample{g.object, g.array, g.tuple, g.oneOf, g.anyOf, g.allOf, g.ref, g.tree, g.dictionary, g.conditional}
	if n := g.IntN(len(simple) + len(deep)); n < len(deep) {
		return deep[n](depth - 1)
	}
	return simple[g.IntN(len(simple))]()
}

func (g *generator) name() string {
	g.names++
	return fmt.Sprintf("%s_%d", []string{"name", "größe", "a b", "x/y", "type"}[g.IntN(5)], g.names)
}

func (g *generator) object(depth int) sample {
	properties, required, value := object{}, []any{}, object{}
	for i := range 1 + g.IntN(4) {
		name, s := g.name(), g.any(depth)
		properties[name] = s.schema
		if i == 0 || g.IntN(2) == 0 {
			required = append(required, name)
			value[name] = s.value
		} else if g.IntN(2) == 0 {
			value[name] = s.value
		}
	}
	schema := object{"type": "object", "properties": properties, "required": required}
	switch g.IntN(3) {
	case 0:
		schema["additionalProperties"] = false
	case 1:
		schema["additionalProperties"] = object{"type": "integer"}
		value[g.name()] = g.IntN(9)
	}
	return sample{schema, value}
}

func (g *generator) dictionary(depth int) sample {
	s := g.any(depth)
	value := object{}
	for i := range 1 + g.IntN(3) {
		value[fmt.Sprintf("k%d", i)] = s.value
	}
	return sample{object{
		"type": "object", "patternProperties": object{"^k[0-9]$": s.schema}, "additionalProperties": false, "minProperties": 1, "maxProperties": 3,
	}, value}
}

func (g *generator) array(depth int) sample {
	s := g.any(depth)
	value := []any{s.value, s.value}
	schema := object{"type": "array", "items": s.schema, "minItems": g.IntN(3), "maxItems": 2 + g.IntN(2)}
	if g.IntN(3) == 0 {
		schema["uniqueItems"], schema["minItems"], value = true, 1, value[:1]
	}
	return sample{schema, value}
}

func (g *generator) tuple(depth int) sample {
	a, b := g.any(depth), g.any(depth)
	return sample{object{"type": "array", "prefixItems": []any{a.schema, b.schema}, "items": false, "minItems": 2}, []any{a.value, b.value}}
}

// oneOf returns alternatives that a constant tells apart.
func (g *generator) oneOf(depth int) sample {
	var branches []any
	var values []any
	for i := range 2 + g.IntN(2) {
		kind, s := fmt.Sprintf("kind%d", i), g.any(depth)
		branches = append(branches, object{
			"type": "object", "properties": object{"kind": object{"const": kind}, "body": s.schema}, "required": []any{"kind", "body"}, "additionalProperties": false,
		})
		values = append(values, object{"kind": kind, "body": s.value})
	}
	return sample{object{"oneOf": branches}, values[g.IntN(len(values))]}
}

func (g *generator) anyOf(depth int) sample {
	a, b := g.any(depth), g.any(depth)
	return sample{object{"anyOf": []any{a.schema, b.schema}}, []any{a.value, b.value}[g.IntN(2)]}
}

func (g *generator) allOf(depth int) sample {
	s := g.object(depth)
	return sample{object{"allOf": []any{s.schema, object{"minProperties": 1}, object{"not": object{"required": []any{"forbidden"}}}}}, s.value}
}

func (g *generator) ref(depth int) sample {
	s := g.any(depth)
	name := fmt.Sprintf("d%d", len(g.defs))
	g.defs[name] = s.schema
	return sample{object{"$ref": "#/$defs/" + name}, s.value}
}

// tree returns a schema that refers to itself.
func (g *generator) tree(int) sample {
	self := object{"$ref": "#/$defs/tree"}
	g.defs["tree"] = object{
		"type": "object", "properties": object{"n": object{"type": "integer"}, "children": object{"type": "array", "items": self}},
		"required": []any{"n"}, "additionalProperties": false,
	}
	value := object{"n": g.IntN(100)}
	for range g.IntN(4) {
		value = object{"n": g.IntN(100), "children": []any{value, object{"n": 1}}}
	}
	return sample{self, value}
}

func (g *generator) conditional(int) sample {
	return sample{object{
		"type": "object", "properties": object{"on": object{"type": "boolean"}, "level": object{"type": "integer", "minimum": 0}}, "required": []any{"on"},
		"if": object{"properties": object{"on": object{"const": true}}}, "then": object{"required": []any{"level"}}, "else": object{"maxProperties": 1},
	}, []any{object{"on": true, "level": g.IntN(5)}, object{"on": false}}[g.IntN(2)]}
}

func (g *generator) text() sample {
	value := []rune("äbc <&> \u2028 \"quoted\" 日本 \\ \n end")[:3+g.IntN(20)]
	return sample{object{"type": "string", "minLength": len(value) - 2, "maxLength": len(value) + g.IntN(3)}, string(value)}
}

func (g *generator) pattern() sample {
	all := [][2]string{{"^[a-z]{3}-[0-9]+$", "abc-42"}, {"^(red|green)$", "red"}, {"[0-9]{4}-[0-9]{2}", "in 2024-05"}, {"^\\S+@\\S+\\.org$", "a@b.org"}}
	p := all[g.IntN(len(all))]
	return sample{object{"type": "string", "pattern": p[0]}, p[1]}
}

func (g *generator) integer() sample {
	low, step := g.IntN(2000)-1000, 1+g.IntN(5)
	low -= low % step
	schema := object{"type": "integer", "minimum": low, "maximum": low + 10*step, "multipleOf": step}
	return sample{schema, low + step*g.IntN(11)}
}

func (g *generator) number() sample {
	low := float64(g.IntN(100))
	return sample{object{"type": "number", "exclusiveMinimum": low, "exclusiveMaximum": low + 1}, low + 0.25 + g.Float64()/2}
}

func (g *generator) enum() sample {
	values := []any{"small", "large", 7, true, nil, []any{1, "two"}, object{"deep": 1.5}}
	return sample{object{"enum": values}, values[g.IntN(len(values))]}
}

func (g *generator) constant() sample {
	value := []any{"fixed", 42, false, []any{}}[g.IntN(4)]
	return sample{object{"const": value}, value}
}

func (g *generator) boolean() sample { return sample{object{"type": "boolean"}, g.IntN(2) == 0} }

func (g *generator) nullable() sample {
	return sample{object{"type": []any{"string", "null"}, "maxLength": 4}, []any{"abcd", nil}[g.IntN(2)]}
}

// spaced returns JSON text with the white space that models write.
func (g *generator) spaced(text json.RawMessage) string {
	if g.IntN(2) == 0 {
		return string(text)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		panic(err)
	}
	data, err := json.MarshalIndent(value, " ", "\t")
	if err != nil {
		panic(err)
	}
	return "\n" + string(data) + "\n"
}

// mutation returns a changed answer, which may still fit: the text is broken, or one value in it is
// removed, added, or replaced by another.
func (g *generator) mutation(text string) string {
	switch g.IntN(12) {
	case 0:
		return text[:len(text)/2]
	case 1:
		return "Here it is: " + text
	case 2:
		return "```json\n" + text + "\n```\nThat is it."
	case 3:
		return "[" + text + "]"
	case 4:
		return text + text
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		panic(err)
	}
	for range 1 + g.IntN(2) {
		value = g.change(value)
	}
	return string(encoded(value))
}

// change returns a value with one change at a random place.
func (g *generator) change(v any) any {
	others := []any{nil, true, -1e6, 0.5, "", strings.Repeat("long", 20), []any{}, object{}, []any{nil, nil, nil, nil, nil}, object{"other": 1}}
	switch v := v.(type) {
	case object:
		names := slices.Sorted(maps.Keys(v))
		changed := maps.Clone(v)
		switch n := g.IntN(4); {
		case n == 0:
			changed[[]string{"extra", "forbidden", "kind"}[g.IntN(3)]] = others[g.IntN(len(others))]
			return changed
		case n == 1 && len(names) > 0:
			delete(changed, names[g.IntN(len(names))])
			return changed
		case len(names) > 0:
			name := names[g.IntN(len(names))]
			changed[name] = g.change(v[name])
			return changed
		}
	case []any:
		if len(v) > 0 && g.IntN(3) > 0 {
			i := g.IntN(len(v))
			changed := slices.Clone(v)
			changed[i] = g.change(v[i])
			return changed
		}
		if g.IntN(2) == 0 {
			return append(slices.Clone(v), others[g.IntN(len(others))], 1, 1)
		}
	}
	return others[g.IntN(len(others))]
}
