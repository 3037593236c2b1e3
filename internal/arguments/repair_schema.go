package arguments

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ofProperty returns the schemas that a schema has for a property.
func ofProperty(s *jsonschema.Schema, name string) []*jsonschema.Schema {
	var subs []*jsonschema.Schema
	if sub := s.Properties[name]; sub != nil {
		subs = append(subs, sub)
	}
	for pattern, sub := range s.PatternProperties {
		if pattern.MatchString(name) {
			subs = append(subs, sub)
		}
	}
	if rest, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && len(subs) == 0 {
		subs = append(subs, rest)
	}
	return subs
}

// ofItem returns the schema that a schema has for the i-th item, or nil.
func ofItem(s *jsonschema.Schema, i int) *jsonschema.Schema {
	first, rest := s.PrefixItems, s.Items2020
	switch items := s.Items.(type) { // of draft-07 and 2019-09
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

// charge takes the steps that validation takes. They can be exponential in the depth, where alternatives hold
// themselves, so that they are counted beforehand.
func (r *repairer) charge(s *jsonschema.Schema, v any) {
	r.steps--
	if r.steps <= 0 || s == nil {
		return
	}
	for _, sub := range slices.Concat([]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf) {
		if sub != nil {
			r.charge(sub, v)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		r.steps -= len(v)
		for name, part := range v {
			for _, sub := range ofProperty(s, name) {
				r.charge(sub, part)
			}
		}
	case []any:
		r.steps -= len(v)
		for i, part := range v {
			if sub := ofItem(s, i); sub != nil {
				r.charge(sub, part)
			}
		}
	}
}
