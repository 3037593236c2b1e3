package sdk

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// aliasesKeyword is the keyword by which toolhost knows other names of a property. No model sees
// it.
const aliasesKeyword = "x-toolhost-aliases"

// applyTags adds the tags of a field to the schema of its property.
func applyTags(property *jsonschema.Schema, field reflect.StructField) error {
	element := elementOf(property)
	steps := []struct {
		tag   string
		apply func(value string) error
	}{
		{"enum", func(v string) (err error) { element.Enum, err = tagValues(v, element); return }},
		{"minimum", numberTag(element, &element.Minimum)},
		{"maximum", numberTag(element, &element.Maximum)},
		{"minLength", countTag(element, "string", &element.MinLength)},
		{"maxLength", countTag(element, "string", &element.MaxLength)},
		{"pattern", textTag(element, &element.Pattern)},
		{"format", textTag(element, &element.Format)},
		{"minItems", countTag(property, "array", &property.MinItems)},
		{"maxItems", countTag(property, "array", &property.MaxItems)},
		{"examples", func(v string) (err error) { property.Examples, err = tagValues(v, property); return }},
		{"aliases", aliasesTag(property)},
		{"default", func(v string) (err error) { property.Default, err = tagDefault(v, property); return }},
	}
	tagged := false
	for _, step := range steps {
		value, ok := field.Tag.Lookup(step.tag)
		if !ok {
			continue
		}
		tagged = true
		if err := step.apply(value); err != nil {
			return fmt.Errorf("the tag %s:%q: %w", step.tag, value, err)
		}
	}
	if !tagged {
		return nil
	}
	return checkValues(property)
}

// elementOf returns the schema to which tags about single values apply: for a list or map, that of
// its elements.
func elementOf(s *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case s.Items != nil:
		return elementOf(s.Items)
	case isType(s, "object") && len(s.Properties) == 0 && s.AdditionalProperties != nil:
		return elementOf(s.AdditionalProperties)
	}
	return s
}

func isType(s *jsonschema.Schema, name string) bool {
	if s.Type == name {
		return true
	}
	for _, t := range s.Types {
		if t == name {
			return true
		}
	}
	return false
}

func numberTag(s *jsonschema.Schema, target **float64) func(string) error {
	return func(value string) error {
		if !isType(s, "number") && !isType(s, "integer") {
			return fmt.Errorf("only numbers have it")
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("want a number")
		}
		*target = &number
		return nil
	}
}

func countTag(s *jsonschema.Schema, kind string, target **int) func(string) error {
	return func(value string) error {
		if !isType(s, kind) {
			return fmt.Errorf("only a value of type %s has it", kind)
		}
		count, err := strconv.Atoi(value)
		if err != nil || count < 0 {
			return fmt.Errorf("want a whole number, 0 or more")
		}
		*target = &count
		return nil
	}
}

func textTag(s *jsonschema.Schema, target *string) func(string) error {
	return func(value string) error {
		if !isType(s, "string") {
			return fmt.Errorf("only a value of type string has it")
		}
		if value == "" {
			return fmt.Errorf("it is empty")
		}
		*target = value
		return nil
	}
}

func aliasesTag(s *jsonschema.Schema) func(string) error {
	return func(value string) error {
		names := strings.Split(value, ",")
		if slices.Contains(names, "") {
			return fmt.Errorf("want names separated by commas")
		}
		s.Extra = map[string]any{aliasesKeyword: names}
		return nil
	}
}

// tagValues reads a list of values for s: a JSON array, or values separated by commas.
func tagValues(text string, s *jsonschema.Schema) ([]any, error) {
	if strings.HasPrefix(text, "[") {
		var values []any
		if err := unmarshal([]byte(text), &values); err != nil {
			return nil, fmt.Errorf("want a JSON array or values separated by commas: %w", err)
		}
		return integers(values), nil
	}
	var values []any
	for part := range strings.SplitSeq(text, ",") {
		raw, err := tagDefault(part, s)
		if err != nil {
			return nil, err
		}
		var value any
		if err := unmarshal(raw, &value); err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return integers(values), nil
}

// integers replaces each json.Number by an int64, which the validator knows.
func integers(values []any) []any {
	for i, value := range values {
		if number, ok := value.(json.Number); ok {
			if n, err := number.Int64(); err == nil {
				values[i] = n
			}
		}
	}
	return values
}

// tagDefault reads one value for s: plain text if s requires a string, otherwise JSON.
func tagDefault(text string, s *jsonschema.Schema) (json.RawMessage, error) {
	if isType(s, "string") {
		return json.Marshal(text)
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("%q is not JSON, as a value of type %s must be", text, typeOf(s))
	}
	return json.RawMessage(text), nil
}

func typeOf(s *jsonschema.Schema) string {
	if s.Type != "" {
		return s.Type
	}
	if len(s.Types) > 0 {
		return strings.Join(s.Types, " or ")
	}
	return "any"
}

// checkValues reports an invalid keyword, and a default, example or enum value that does not fit
// the schema.
func checkValues(property *jsonschema.Schema) error {
	resolved, err := property.CloneSchemas().Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return err
	}
	for _, example := range property.Examples {
		if err := resolved.Validate(example); err != nil {
			return fmt.Errorf("the example %v: %w", example, err)
		}
	}
	element := elementOf(property)
	if element.Enum == nil {
		return nil
	}
	resolved, err = element.CloneSchemas().Resolve(nil)
	if err != nil {
		return err
	}
	for _, value := range element.Enum {
		if err := resolved.Validate(value); err != nil {
			return fmt.Errorf("the enum value %v: %w", value, err)
		}
	}
	return nil
}
