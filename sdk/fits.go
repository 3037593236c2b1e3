package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/toolhost/toolhost/sdk/internal/fit"
)

// lightSchema validates arguments with the library that derives schemas, which every plugin links
// anyway. Its messages are less detailed than toolhost's. toolhost validates schemas and arguments
// itself, so that this validator never decides alone.
type lightSchema struct{ resolved *jsonschema.Resolved }

var _ fit.Schema = lightSchema{}

// lightly is a fit.Compile that refuses only schemas that no validator can use.
func lightly(schema json.RawMessage) (fit.Schema, error) {
	if !json.Valid(schema) {
		return nil, errors.New("it is not JSON")
	}
	tree := new(jsonschema.Schema)
	if err := json.Unmarshal(schema, tree); err != nil {
		return nil, err
	}
	if err := checkTypes(tree, map[*jsonschema.Schema]bool{}); err != nil {
		return nil, err
	}
	resolved, err := tree.Resolve(nil)
	if err != nil {
		return nil, err
	}
	return lightSchema{resolved}, nil
}

// typeNames are the types of JSON Schema.
var typeNames = [...]string{"array", "boolean", "integer", "null", "number", "object", "string"}

// checkTypes refuses unknown types. The library accepts them as types that no value has.
func checkTypes(s *jsonschema.Schema, seen map[*jsonschema.Schema]bool) error {
	if s == nil || seen[s] {
		return nil
	}
	seen[s] = true
	for _, name := range append(slices.Clone(s.Types), s.Type) {
		if name != "" && !slices.Contains(typeNames[:], name) {
			return fmt.Errorf("%q is no type", name)
		}
	}
	parts := []*jsonschema.Schema{s.Items, s.AdditionalProperties}
	for _, named := range []map[string]*jsonschema.Schema{s.Properties, s.PatternProperties, s.Defs, s.Definitions} {
		parts = slices.AppendSeq(parts, maps.Values(named))
	}
	for _, part := range slices.Concat(parts, s.PrefixItems, s.AllOf, s.AnyOf, s.OneOf) {
		if err := checkTypes(part, seen); err != nil {
			return err
		}
	}
	return nil
}

// Canonical implements fit.Schema.
func (lightSchema) Canonical(text []byte) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(whole(text)))
	d.UseNumber()
	var value map[string]any
	if err := d.Decode(&value); err != nil || value == nil || d.More() {
		return nil, errors.New("the arguments are no JSON object; send one, and nothing else")
	}
	return encodeJSON(value)
}

// Check implements fit.Schema.
func (s lightSchema) Check(arguments json.RawMessage) error {
	var value map[string]any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return fmt.Errorf("the arguments cannot be used: %w", err)
	}
	if err := s.resolved.Validate(value); err != nil {
		return fmt.Errorf("the arguments do not fit the tool's schema: %w", err)
	}
	return nil
}
