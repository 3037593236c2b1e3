package render

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// noArguments is the schema of a tool that declares no arguments.
const noArguments = `{"type":"object","properties":{},"additionalProperties":false}`

// maxReferences bounds the references that are followed in a row. A longer chain is a cycle.
const maxReferences = 16

// schemaRules are an API's restrictions on the root of a tool's schema. APIs accept anything below
// the root.
type schemaRules struct {
	properties bool     // must be present, but may be empty
	refused    []string // keywords that the API refuses
}

// fit is fitted, without schemas that are true or false.
func (r schemaRules) fit(schema json.RawMessage) (fitting json.RawMessage, refused object, err error) {
	fitting, refused, err = r.fitted(schema)
	return withoutBooleans(fitting), refused, err
}

// fitted returns a schema that satisfies the rules and has the type object, and the members that
// were removed. The properties of removed alternatives are merged. fitted returns a schema that
// already satisfies the rules unchanged. The error says why the schema cannot satisfy them.
func (r schemaRules) fitted(schema json.RawMessage) (fitting json.RawMessage, refused object, err error) {
	if len(bytes.TrimSpace(schema)) == 0 {
		return json.RawMessage(noArguments), nil, nil
	}
	given, _ := parseObject(compact(schema)) // the schema true has no members
	o := given
	if len(r.refused) > 0 {
		o = withAlternatives(expandReference(o), r.refused)
	}
	o = slices.DeleteFunc(slices.Clone(o), func(m member) bool {
		unfit := slices.Contains(r.refused, m.name)
		if unfit {
			refused = append(refused, m)
		}
		return unfit
	})
	if string(o.get("type")) != `"object"` {
		o = append(object{{"type", json.RawMessage(`"object"`)}}, o.without("type")...)
	}
	if r.properties && o.get("properties") == nil {
		at := slices.IndexFunc(o, func(m member) bool { return m.name == "type" }) + 1
		o = slices.Insert(o, at, member{"properties", json.RawMessage("{}")})
	}
	if slices.EqualFunc(o, given, equalMembers) {
		return schema, nil, nil
	}
	fitting, err = settle(o, given)
	return fitting, refused, err
}

func equalMembers(a, b member) bool { return a.name == b.name && bytes.Equal(a.value, b.value) }

// expandReference replaces $ref at the root by its target, because APIs look for properties at the
// root and do not follow references there. It returns the root unchanged if a keyword beside $ref
// contradicts the target.
func expandReference(root object) object {
	o, followed := root, []string{}
	for range maxReferences {
		reference := o.get("$ref")
		if reference == nil {
			return withoutUnused(o, followed)
		}
		followed = append(followed, unquote(reference))
		target, ok := resolve(root, unquote(reference))
		if !ok {
			return root
		}
		expanded := object{}
		for _, m := range o {
			if m.name != "$ref" {
				expanded = append(expanded, m)
				continue
			}
			for _, t := range target {
				switch value := o.get(t.name); {
				case value == nil || t.name == "$ref":
					expanded = append(expanded, t)
				case t.name != "description" && t.name != "title" && !bytes.Equal(value, t.value):
					return root
				}
			}
		}
		o = expanded
	}
	return root
}

// withoutUnused returns a schema without the definitions that were expanded and have no other
// reference, so that a model does not read them twice.
func withoutUnused(o object, followed []string) object {
	for _, reference := range followed {
		keyword, name, ok := strings.Cut(strings.TrimPrefix(reference, "#/"), "/")
		definitions, isObject := parseObject(o.get(keyword))
		if keyword != "$defs" && keyword != "definitions" || !ok || !isObject || bytes.Contains(o.text(), quote(reference)) {
			continue
		}
		o = slices.Clone(o)
		at := slices.IndexFunc(o, func(m member) bool { return m.name == keyword })
		if left := definitions.without(name); len(left) > 0 {
			o[at].value = left.text()
		} else {
			o = slices.Delete(o, at, at+1)
		}
	}
	return o
}
