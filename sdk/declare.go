package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/sdk/internal/fit"
	"github.com/toolhost/toolhost/tool"
)

// declare returns a tool without code. It derives the schemas that the spec does not have.
func declare[In, Out any](spec Spec) Tool {
	in := reflect.TypeFor[In]()
	t := Tool{spec: spec, input: in, derived: len(spec.InputSchema)+len(spec.OutputSchema) == 0}
	if err := checkInput(in); err != nil {
		t.err = err
		return t
	}
	var inErr, outErr error
	if len(spec.InputSchema) == 0 {
		t.spec.InputSchema, inErr = inputSchema(in)
	}
	if len(spec.OutputSchema) == 0 {
		t.spec.OutputSchema, outErr = outputSchema(reflect.TypeFor[Out]())
	}
	t.err = errors.Join(inErr, outErr)
	return t
}

// checkInput refuses types that cannot be decoded from a JSON object.
func checkInput(t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Struct, t.Kind() == reflect.Map, t == reflect.TypeFor[any]():
		return nil
	}
	return fmt.Errorf("its input is of type %s; arguments are an object, so use a struct, a map or json.RawMessage", t)
}

func inputSchema(t reflect.Type) (json.RawMessage, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[json.RawMessage]() || t.Kind() == reflect.Interface {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	schema, err := deriveSchema(t, input)
	if err != nil {
		return nil, fmt.Errorf("its input%s: %w", typeLabel(t), err)
	}
	if !isType(schema, "object") {
		return nil, fmt.Errorf("its input%s is no object in JSON; use a struct, a map or json.RawMessage", typeLabel(t))
	}
	return encodeJSON(schema)
}

// outputSchema returns the schema of a struct that becomes one JSON block, and nil for any other
// type.
func outputSchema(t reflect.Type) (json.RawMessage, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[Result]() || t == reflect.TypeFor[Content]() || t.NumField() == 0 ||
		specialSchema(t) != nil {
		return nil, nil
	}
	schema, err := deriveSchema(t, output)
	if err != nil {
		return nil, fmt.Errorf("its output%s: %w", typeLabel(t), err)
	}
	return encodeJSON(schema)
}

// typeLabel returns the name of a type. It returns "" if the type is so long that it would hide the
// rest of a message.
func typeLabel(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	return " " + t.String()
}

// checkSpec returns what is wrong with a tool's declaration, after its schemas are derived.
func checkSpec(spec *Spec, compile fit.Compile) error {
	return errors.Join(checkWords(spec), errors.Join(checkSchemas(spec, compile)...))
}

// checkWords returns what is wrong with a tool's declaration, except for its schemas and examples.
func checkWords(spec *Spec) error {
	var problems []error
	fail := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if err := tool.CheckName(spec.Name); err != nil {
		problems = append(problems, err)
	}
	if strings.TrimSpace(spec.Description) == "" {
		fail("its description is empty; say what it is for, when not to use it and what it returns")
	}
	if spec.Timeout < 0 || spec.Retry.InitialBackoff < 0 || spec.Retry.MaxBackoff < 0 {
		fail("a duration is negative")
	}
	if spec.CostPerUse < 0 {
		fail("its cost per use is negative")
	}
	for _, key := range slices.Sorted(maps.Keys(spec.Metadata)) {
		if !json.Valid(spec.Metadata[key]) {
			fail("its metadata %q is not JSON", key)
		}
	}
	return errors.Join(problems...)
}

// checkSchemas returns what is wrong with a tool's schemas and its input examples.
func checkSchemas(spec *Spec, compile fit.Compile) (problems []error) {
	fail := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	reader, err := newArgumentReader(spec, compile)
	if err != nil {
		return []error{fmt.Errorf("its input schema: %w", err)}
	}
	if !isType(reader.schema, "object") {
		fail(`its input schema must have "type": "object"`)
	}
	for i, example := range spec.InputExamples {
		if _, err := reader.read(example.Arguments); err != nil {
			fail("its input example %d: %w", i+1, err)
		}
	}
	if len(spec.OutputSchema) > 0 {
		if _, err := compile(spec.OutputSchema); err != nil {
			fail("its output schema: %w", err)
		}
	}
	return problems
}
