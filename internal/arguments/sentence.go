package arguments

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// sentence says what is wrong at one place: the path, what it must be, and what it is.
func (w *problemWriter) sentence(e *jsonschema.ValidationError) string {
	at := path(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return fmt.Sprintf("%s: missing %s", at, quoteAll(k.Missing))
	case *kind.DependentRequired:
		return fmt.Sprintf("%s: missing %s, which must be there when %q is", at, quoteAll(k.Missing), k.Prop)
	case *kind.AdditionalProperties:
		return fmt.Sprintf("%s: unknown %s; allowed are only the properties that the schema names", at, quoteAll(k.Properties))
	}
	given := w.given(e.InstanceLocation)
	if must := demand(e.ErrorKind); must != "" {
		return fmt.Sprintf("%s: must %s, but is %s", at, must, given)
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return fmt.Sprintf("%s: must be %s, but is %s %s", at, strings.Join(k.Want, " or "), k.Got, given)
	case *kind.UniqueItems:
		return fmt.Sprintf("%s: must have no item twice, but [%d] and [%d] are equal in %s", at, k.Duplicates[0], k.Duplicates[1], given)
	default:
		return fmt.Sprintf("%s: %s; it is %s", at, e.ErrorKind.LocalizedString(w.printer), given)
	}
}

// maxAlternatives bounds how many alternatives one sentence explains.
const maxAlternatives = 5

// isChoice reports whether a value fits none of a schema's alternatives.
func isChoice(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		return true
	default:
		return false
	}
}

// choice says why a value fits none of the alternatives, in one sentence: their problems side by side would read as if
// all had to be mended.
func (w *problemWriter) choice(e *jsonschema.ValidationError) string {
	var whys []string
	for _, cause := range e.Causes[:min(len(e.Causes), maxAlternatives)] {
		alternative := problemWriter{root: w.root, printer: w.printer}
		alternative.walk(cause)
		whys = append(whys, strings.Join(alternative.problems, " and "))
	}
	if more := len(e.Causes) - maxAlternatives; more > 0 {
		whys = append(whys, fmt.Sprintf("one of %d more", more))
	}
	return fmt.Sprintf("%s: must fit one of the schema's alternatives: either %s", path(e.InstanceLocation), strings.Join(whys, "; or "))
}

// demand says what a keyword demands of a value, after "must"; "" if that is not all there is to say.
func demand(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Enum:
		return "be one of " + asJSON(k.Want)
	case *kind.Const:
		return "be " + asJSON(k.Want)
	case *kind.Minimum:
		return "be at least " + k.Want.RatString()
	case *kind.Maximum:
		return "be at most " + k.Want.RatString()
	case *kind.ExclusiveMinimum:
		return "be more than " + k.Want.RatString()
	case *kind.ExclusiveMaximum:
		return "be less than " + k.Want.RatString()
	case *kind.MultipleOf:
		return "be a multiple of " + k.Want.RatString()
	case *kind.Pattern:
		return "match the pattern " + k.Want
	case *kind.Format:
		return "be a valid " + k.Want
	case *kind.OneOf:
		return "fit exactly one of the schema's alternatives (oneOf), not several"
	case *kind.Not:
		return "not be what the schema excludes (not)"
	default:
		return demandOfSize(k)
	}
}

// demandOfSize is demand for the keywords that count something.
func demandOfSize(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return fmt.Sprintf("have at least %d character(s)", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("have at most %d character(s)", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("have at least %d item(s)", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("have at most %d item(s)", k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("have at least %d member(s)", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("have at most %d member(s)", k.Want)
	default:
		return ""
	}
}
