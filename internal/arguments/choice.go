package arguments

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	// maxAlternatives bounds how many alternatives one sentence explains.
	maxAlternatives = 5
	// maxWhys bounds how many problems of one alternative it names.
	maxWhys = 3
)

// isChoice reports whether a value fits none of a schema's alternatives.
func isChoice(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		return len(e.Causes) > 0
	default:
		return false
	}
}

// choice says why a value fits none of the alternatives. Alternatives for values of another kind are left out, unless
// all are: of a string or an object with two properties, a model that sent an object meant the latter. Those that remain
// are told in one sentence, for side by side their problems would read as if all had to be mended.
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

// closest returns the causes of those alternatives that are not plainly for other values.
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

// distance is 2 if a value is not of the type that an alternative is for, 1 if it, or a property of it, is not the one
// value or none of the values that tell the alternative from others, else 0.
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

// wanted returns the types that alternatives are for, if that is all they say.
func wanted(causes []*jsonschema.ValidationError) []string {
	var types []string
	for _, cause := range causes {
		for len(cause.Causes) == 1 { // references
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

// typedChoice says of which types a value must be that alternatives are for, each with what else it demands.
func (e *explainer) typedChoice(causes []*jsonschema.ValidationError, value any) string {
	var all []string
	for _, cause := range causes {
		for len(cause.Causes) == 1 { // references
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

// tags returns the values that tell alternatives from each other and where they stand, if each of them wants other ones
// at the same place: a model that sent none of them has to choose first.
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

// tag returns the first value, or values, of a constant or enumeration that an alternative wants, and where.
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
