package arguments

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/toolhost/toolhost/internal/text/jsontext"
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
// them are. Of the others it explains the one for the properties that the value has, or all that
// are equally close, in one sentence. In separate problems, the model would read that it has to fix
// all of them.
func (e *explainer) choice(err *jsonschema.ValidationError, at []string) {
	place := slices.Concat(at, err.InstanceLocation)
	meant := closest(err, ofKind)
	if len(meant) == 1 {
		e.collect(meant[0], at)
		return
	}
	if types := wanted(meant); types != nil {
		e.add(place, typeSentence(e.typedChoice(meant, e.valueAt(place)), types, e.valueAt(place)))
		return
	}
	if tag, values := tags(meant); values != nil {
		place = slices.Concat(at, tag)
		e.add(place, e.enumSentence(values, e.valueAt(place)))
		return
	}
	if text := e.missingTag(meant, len(err.InstanceLocation)); text != "" {
		e.add(place, text)
		return
	}
	if meant = closest(err, nearer); len(meant) == 1 {
		e.collect(meant[0], at)
		return
	}
	e.several(meant, at, place)
}

// several explains alternatives that are equally close, in one sentence.
func (e *explainer) several(meant []*jsonschema.ValidationError, at, place []string) {
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

// missingTag returns the sentence for a value without the property by whose value the alternatives
// differ, or "". A model that did not send it reads its values, and what each of them requires.
func (e *explainer) missingTag(causes []*jsonschema.ValidationError, depth int) string {
	if len(causes) < 2 {
		return ""
	}
	for _, name := range missing(causes[0], depth) {
		var all []string
		seen := map[string]bool{}
		for _, cause := range causes {
			words, values := e.tagged(cause, depth, name)
			for _, v := range values {
				if seen[v] {
					values = nil // it does not tell the alternatives apart
				}
				seen[v] = true
			}
			if values == nil {
				all = nil
				break
			}
			all = append(all, words)
		}
		if all != nil {
			return fmt.Sprintf("missing %s, which must be %s", jsontext.Quote(name), cutSentence(strings.Join(all, ", or ")))
		}
	}
	return ""
}

// missing returns the properties that an alternative requires and the value at a depth lacks.
func missing(e *jsonschema.ValidationError, depth int) (names []string) {
	for _, required := range requirements(e, depth) {
		names = append(names, required.ErrorKind.(*kind.Required).Missing...)
	}
	return names
}

// requirements returns the errors of an alternative for the properties that the value at a depth
// lacks.
func requirements(e *jsonschema.ValidationError, depth int) []*jsonschema.ValidationError {
	if _, ok := e.ErrorKind.(*kind.Required); ok && len(e.InstanceLocation) == depth {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	if !isChoice(e) {
		for _, cause := range e.Causes {
			all = append(all, requirements(cause, depth)...)
		}
	}
	return all
}

// tagged returns the values that an alternative permits for a property that the value lacks, as
// texts, and in words, with the other properties that it lacks. Nil means any value.
func (e *explainer) tagged(cause *jsonschema.ValidationError, depth int, name string) (words string, values []string) {
	for _, required := range requirements(cause, depth) {
		part := e.part(required.SchemaURL)
		if part == nil || !slices.Contains(required.ErrorKind.(*kind.Required).Missing, name) {
			continue
		}
		property := part.Properties[name]
		for range maxBesides {
			if property == nil || property.Ref == nil {
				break
			}
			property = property.Ref
		}
		switch {
		case property == nil:
		case property.Const != nil:
			values = []string{jsontext.Show(*property.Const)}
		case property.Enum != nil && len(property.Enum.Values) <= maxAllowed:
			for _, v := range property.Enum.Values {
				values = append(values, jsontext.Show(v))
			}
		}
	}
	words = strings.Join(values, " or ")
	if others := slices.DeleteFunc(missing(cause, depth), func(n string) bool { return n == name }); len(others) > 0 {
		words += " (with " + jsontext.Names(others) + ")"
	}
	return words, values
}
