package arguments

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	// maxAlternatives bounds the alternatives that one sentence explains.
	maxAlternatives = 5
	// maxWhys bounds the problems that one sentence names for one alternative.
	maxWhys = 3
)

// isChoice reports whether an error says that a value fits none of a schema's alternatives.
func isChoice(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		return len(e.Causes) > 0
	default:
		return false
	}
}

// choice explains why a value fits none of the alternatives. For an object, it does not mention an
// alternative for strings: it leaves out alternatives for values of another type, unless all of
// them are. It explains the others in one sentence. In separate problems, the model would read that
// it has to fix all of them.
func (e *explainer) choice(err *jsonschema.ValidationError, at []string) {
	meant := closest(err)
	if len(meant) == 1 {
		e.collect(meant[0], at)
		return
	}
	place := slices.Concat(at, err.InstanceLocation)
	if types := wanted(meant); types != nil {
		e.add(place, typeSentence(e.typedChoice(meant, e.valueAt(place)), types, e.valueAt(place)))
		return
	}
	if tag, values := tags(meant); values != nil {
		place = slices.Concat(at, tag)
		e.add(place, e.enumSentence(values, e.valueAt(place)))
		return
	}
	var whys []string
	for _, cause := range meant[:min(len(meant), maxAlternatives)] {
		alternative := explainer{schema: e.schema, work: e.schema.work(maxExplainSteps), root: e.root, printer: e.printer, parts: e.parts}
		alternative.collect(cause, at)
		e.parts = alternative.parts
		sentences := alternative.sentences()
		if more := len(sentences) - maxWhys; more > 0 {
			sentences = append(sentences[:maxWhys], fmt.Sprintf("%d more", more))
		}
		whys = append(whys, cutSentence(strings.Join(sentences, " and ")))
	}
	if more := len(meant) - maxAlternatives; more > 0 {
		whys = append(whys, fmt.Sprintf("one of %d more", more))
	}
	e.add(place, "must fit one of the schema's alternatives: either "+strings.Join(slices.Compact(whys), "; or "))
}

// closest returns the errors of the alternatives that are closest to the value.
func closest(err *jsonschema.ValidationError) []*jsonschema.ValidationError {
	var found []*jsonschema.ValidationError
	least := 0
	for _, cause := range err.Causes {
		distance := distance(cause, len(err.InstanceLocation))
		if len(found) == 0 || distance < least {
			found, least = nil, distance
		}
		if distance == least {
			found = append(found, cause)
		}
	}
	return found
}

// distance returns 2 if the alternative is for another type than the value's, 1 if it requires
// another constant for the value or for one of its properties, and 0 otherwise.
func distance(e *jsonschema.ValidationError, depth int) int {
	far := 0
	below := len(e.InstanceLocation) - depth
	switch e.ErrorKind.(type) {
	case *kind.Type, *kind.FalseSchema:
		if below == 0 {
			far = 2
		}
	case *kind.Const, *kind.Enum:
		if below <= 1 {
			far = 1
		}
	case *kind.OneOf, *kind.AnyOf, *kind.Not:
		return 0
	}
	for _, cause := range e.Causes {
		far = max(far, distance(cause, depth))
	}
	return far
}

// wanted returns the types that the alternatives require, or nil if an alternative requires more
// than a type.
func wanted(causes []*jsonschema.ValidationError) []string {
	var types []string
	for _, cause := range causes {
		for len(cause.Causes) == 1 { // follow references
			cause = cause.Causes[0]
		}
		k, ok := cause.ErrorKind.(*kind.Type)
		if !ok {
			return nil
		}
		for _, name := range k.Want {
			if !slices.Contains(types, name) {
				types = append(types, name)
			}
		}
	}
	return types
}

// typedChoice returns the types that the alternatives require, and with each type what else the
// alternative requires.
func (e *explainer) typedChoice(causes []*jsonschema.ValidationError, value any) string {
	var all []string
	for _, cause := range causes {
		for len(cause.Causes) == 1 { // follow references
			cause = cause.Causes[0]
		}
		if k, ok := cause.ErrorKind.(*kind.Type); ok {
			if words := e.typed(k.Want, cause.SchemaURL, value); !slices.Contains(all, words) {
				all = append(all, words)
			}
		}
	}
	if more := len(all) - maxAlternatives; more > 0 {
		all = append(all[:maxAlternatives], fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, " or ")
}

// tags returns the values by which alternatives differ, and their location, if each alternative
// requires other values at the same location. A model that sent none of those values must choose an
// alternative first.
func tags(causes []*jsonschema.ValidationError) (at []string, values []any) {
	for i, cause := range causes {
		place, want := tag(cause)
		if want == nil || i > 0 && !slices.Equal(place, at) {
			return nil, nil
		}
		at = place
		values = append(values, want...)
	}
	return at, values
}

// tag returns the first const or enum that an alternative requires, and its location.
func tag(e *jsonschema.ValidationError) ([]string, []any) {
	switch k := e.ErrorKind.(type) {
	case *kind.Const:
		return e.InstanceLocation, []any{k.Want}
	case *kind.Enum:
		return e.InstanceLocation, k.Want
	case *kind.OneOf, *kind.AnyOf:
		return nil, nil
	}
	for _, cause := range e.Causes {
		if at, want := tag(cause); want != nil {
			return at, want
		}
	}
	return nil, nil
}
