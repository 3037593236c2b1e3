// Package fit declares the interface between the tools of a plugin and a JSON Schema validator.
//
// A plugin process uses a small validator, because toolhost has validated the arguments already and
// a complete validator would take most of the time of the process's start. A test uses toolhost's
// validator, so that it sees what toolhost would refuse. The package owns only the interface.
package fit

import "encoding/json"

// Schema validates arguments. It is safe for concurrent use.
type Schema interface {
	// Canonical returns argument text in canonical form. Empty text becomes {}. The error is
	// written for a model.
	Canonical(text []byte) (json.RawMessage, error)
	// Check returns nil if arguments in canonical form fit the schema. The error is written for a
	// model.
	Check(arguments json.RawMessage) error
}

// Compile compiles a schema. The error says why the schema cannot be used.
type Compile func(schema json.RawMessage) (Schema, error)
