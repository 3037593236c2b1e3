// Package fit is the seam between the tools of a plugin and whatever holds their arguments against their schemas.
//
// In a plugin process that is next to nothing: toolhost has repaired and validated the arguments, and a validator that
// does all of JSON Schema would be the larger part of the process's start. In a test it is the validator that toolhost
// itself has. The package owns the interface alone.
package fit

import "encoding/json"

// Schema is a JSON Schema that arguments can be held against. It is safe for concurrent use.
type Schema interface {
	// Canonical returns argument text in its one form, in which an empty text is {}. The error is written for a model.
	Canonical(text []byte) (json.RawMessage, error)
	// Check returns nil if arguments in their one form fit the schema. The error is written for a model.
	Check(arguments json.RawMessage) error
}

// Compile makes a Schema of its text. The error says why it cannot be used.
type Compile func(schema json.RawMessage) (Schema, error)
