package arguments

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// ofProperty returns the schemas that apply to a property by its name. It charges the steps of
// matching the name with patterns first, and returns none if the steps are used up.
func (w *work) ofProperty(s *jsonschema.Schema, name string) []*jsonschema.Schema {
	var subs []*jsonschema.Schema
	if sub := s.Properties[name]; sub != nil {
		subs = append(subs, sub)
	}
	for pattern, sub := range s.PatternProperties {
		if w.match(pattern, name); w.left <= 0 {
			return nil
		}
		if pattern.MatchString(name) {
			subs = append(subs, sub)
		}
	}
	if rest, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && len(subs) == 0 {
		subs = append(subs, rest)
	}
	return subs
}

// all returns the given schemas and all schemas that they apply to the same value.
func (w *work) all(schemas []*jsonschema.Schema) []*jsonschema.Schema {
	var all []*jsonschema.Schema
	seen := map[*jsonschema.Schema]bool{nil: true}
	for open := slices.Clone(schemas); len(open) > 0; {
		s := open[len(open)-1]
		open = open[:len(open)-1]
		if w.left--; seen[s] || w.left <= 0 {
			continue
		}
		seen[s], all = true, append(all, s)
		open = append(open, s.Ref, s.Then, s.Else)
		open = slices.Concat(open, s.AllOf, s.AnyOf, s.OneOf, w.late(s))
		open = slices.AppendSeq(open, maps.Values(s.DependentSchemas))
	}
	return all
}

// maxDefaultHops bounds the schemas that are searched for a default.
const maxDefaultHops = 64

// defaultOf returns the default of a schema: its own, or the first behind $ref and allOf; nil if
// there is none.
func defaultOf(s *jsonschema.Schema) *any {
	hops := maxDefaultHops
	return defaultWithin(s, &hops)
}

func defaultWithin(s *jsonschema.Schema, hops *int) *any {
	if *hops--; s == nil || *hops < 0 {
		return nil
	}
	if s.Default != nil {
		return s.Default
	}
	if found := defaultWithin(s.Ref, hops); found != nil {
		return found
	}
	for _, sub := range s.AllOf {
		if found := defaultWithin(sub, hops); found != nil {
			return found
		}
	}
	return nil
}

// ofItem returns the schema that applies to the i-th item, or nil.
func ofItem(s *jsonschema.Schema, i int) *jsonschema.Schema {
	first, rest := s.PrefixItems, s.Items2020
	switch items := s.Items.(type) { // draft-07 and 2019-09
	case *jsonschema.Schema:
		rest = items
	case []*jsonschema.Schema:
		first = items
		rest, _ = s.AdditionalItems.(*jsonschema.Schema)
	}
	if i < len(first) {
		return first[i]
	}
	return rest
}

// locations returns all parts of a schema by location.
func locations(root *jsonschema.Schema) map[string]*jsonschema.Schema {
	found := map[string]*jsonschema.Schema{}
	seen := map[*jsonschema.Schema]bool{nil: true}
	for open := []*jsonschema.Schema{root}; len(open) > 0; {
		s := open[len(open)-1]
		open = open[:len(open)-1]
		if !seen[s] {
			seen[s], found[s.Location] = true, s
			open = append(open, within(s)...)
		}
	}
	return found
}

// within returns all schemas that a schema contains or refers to. Some of them are nil.
func within(s *jsonschema.Schema) []*jsonschema.Schema {
	subs := []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else, propertyNames(s), s.UnevaluatedProperties,
		s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema}
	subs = slices.Concat(subs, s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems)
	if s.DynamicRef != nil {
		subs = append(subs, s.DynamicRef.Ref)
	}
	subs = slices.AppendSeq(subs, maps.Values(s.Properties))
	subs = slices.AppendSeq(subs, maps.Values(s.PatternProperties))
	subs = slices.AppendSeq(subs, maps.Values(s.DependentSchemas))
	for _, dependency := range s.Dependencies {
		if sub, ok := dependency.(*jsonschema.Schema); ok {
			subs = append(subs, sub)
		}
	}
	for _, other := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		switch other := other.(type) {
		case *jsonschema.Schema:
			subs = append(subs, other)
		case []*jsonschema.Schema:
			subs = append(subs, other...)
		}
	}
	return subs
}

// nameRule replaces the keyword propertyNames of a schema. The validator's own errors for that
// keyword share the memory of their location with later validations, so they would name the
// location of another value.
type nameRule struct{ schema *jsonschema.Schema }

// Validate implements jsonschema.SchemaExt.
func (r nameRule) Validate(ctx *jsonschema.ValidatorContext, v any) {
	object, _ := v.(map[string]any)
	for name := range object {
		if misfit, ok := errors.AsType[*jsonschema.ValidationError](r.schema.Validate(name)); ok {
			ctx.AddErr(&jsonschema.ValidationError{
				SchemaURL:        r.schema.Location,
				InstanceLocation: slices.Clone(ctx.ValueLocation()),
				ErrorKind:        &kind.PropertyNames{Property: name},
				Causes:           misfit.Causes,
			})
		}
	}
}

// takeOverNames replaces propertyNames in all parts of a schema. It leaves the metaschemas
// unchanged, to which a schema may refer.
func (s *Schema) takeOverNames() {
	roots := []*jsonschema.Schema{s.compiled}
	for _, late := range s.dynamic {
		roots = append(roots, late...)
	}
	for _, root := range roots {
		for _, part := range locations(root) {
			if part.PropertyNames != nil && strings.HasPrefix(part.Location, schemaURL) {
				part.Extensions = append(part.Extensions, nameRule{part.PropertyNames})
				part.PropertyNames = nil
			}
		}
	}
}

// propertyNames returns the schema for the names of properties, or nil.
func propertyNames(s *jsonschema.Schema) *jsonschema.Schema {
	for _, ext := range s.Extensions {
		if rule, ok := ext.(nameRule); ok {
			return rule.schema
		}
	}
	return s.PropertyNames
}
