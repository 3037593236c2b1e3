package sdktest

import (
	"encoding/json"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/sdk/internal/fit"
)

// validated validates arguments with toolhost's validator and messages.
type validated struct{ schema *arguments.Schema }

var _ fit.Schema = validated{}

// compile implements fit.Compile.
func compile(schema json.RawMessage) (fit.Schema, error) {
	compiled, err := arguments.Compile(schema)
	if err != nil {
		return nil, err
	}
	return validated{compiled}, nil
}

// Canonical implements fit.Schema.
func (validated) Canonical(text []byte) (json.RawMessage, error) {
	parsed, err := arguments.Parse(text)
	return parsed.Canonical(), err
}

// Check implements fit.Schema.
func (v validated) Check(text json.RawMessage) error {
	parsed, err := arguments.Parse(text)
	if err != nil {
		return err
	}
	return v.schema.Validate(parsed)
}
