package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/tool"
)

// Schema is the schema of a tool's arguments. It is compiled when it is first used: compiling takes about .2 ms and
// 55 KB, which thousands of tools of which a few are called need not cost. It is safe for concurrent use.
type Schema struct {
	text json.RawMessage

	once     sync.Once
	compiled *arguments.Schema
	err      error
}

// Validate returns nil if the arguments fit the schema, else an error in words that a model can act on.
func (s *Schema) Validate(p arguments.Parsed) error {
	compiled, err := s.compile()
	if err != nil {
		return err
	}
	return compiled.Validate(p)
}

// outputOf returns the schema of a tool's structured result, or nil.
func outputOf(spec *tool.Spec) *Schema {
	if len(spec.OutputSchema) == 0 {
		return nil
	}
	return &Schema{text: spec.OutputSchema}
}

// ValidateResult returns nil if a structured result fits the schema, else an error that says what is wrong with it.
func (s *Schema) ValidateResult(text json.RawMessage) error {
	compiled, err := s.compile()
	if err != nil {
		return nil // the catalog has refused such a tool already
	}
	value, err := arguments.ParseValue(text)
	if err != nil {
		return errors.New("it is not usable JSON")
	}
	if err := compiled.Validate(value); err != nil {
		_, problems, found := strings.Cut(err.Error(), "schema:\n")
		if !found {
			problems = err.Error()
		}
		return errors.New(problems)
	}
	return nil
}

// Repair returns the arguments as close to the schema as can be without guessing, and what was changed. By a schema
// that cannot be used nothing is: Validate says so.
func (s *Schema) Repair(p arguments.Parsed) (arguments.Parsed, []arguments.Repair) {
	compiled, err := s.compile()
	if err != nil {
		return p, nil
	}
	return compiled.Repair(p)
}

// Undeclared returns the properties of arguments that seem to be misspelled, which the schema allows. By a schema that cannot
// be used there are none.
func (s *Schema) Undeclared(p arguments.Parsed) []arguments.Undeclared {
	compiled, err := s.compile()
	if err != nil {
		return nil
	}
	return compiled.Undeclared(p)
}

func (s *Schema) compile() (*arguments.Schema, error) {
	s.once.Do(func() {
		if s.compiled, s.err = arguments.Compile(s.text); s.err != nil {
			s.err = fmt.Errorf("the tool's input schema cannot be used: %w", s.err)
		}
	})
	return s.compiled, s.err
}

// schemaCheck names the rules by which schemas are checked. What was checked by others is checked again.
const schemaCheck = "2"

// refusedSchemas says for tools, by their place in a description, why their schemas cannot be used.
type refusedSchemas map[int]string

func checkSchemas(specs []tool.Spec) refusedSchemas {
	refused := refusedSchemas{}
	for i := range specs {
		if err := checkSchema(&specs[i]); err != nil {
			refused[i] = err.Error()
		}
	}
	return refused
}

func checkSchema(spec *tool.Spec) error {
	if _, err := arguments.Compile(spec.InputSchema); err != nil {
		return fmt.Errorf("its input schema cannot be used: %w", err)
	}
	if len(spec.OutputSchema) > 0 {
		if _, err := arguments.Compile(spec.OutputSchema); err != nil {
			return fmt.Errorf("its output schema cannot be used: %w", err)
		}
	}
	return nil
}
