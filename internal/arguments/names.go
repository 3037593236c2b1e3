package arguments

import (
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// nameRule replaces the keyword propertyNames of a schema. The validator's own errors of that
// keyword share the memory of their location with values that are validated later, and end up
// naming those.
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
