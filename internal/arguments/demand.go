package arguments

import (
	"fmt"
	"math/big"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// demand returns what a keyword demands of a value, to be written after "must". It returns "" for a
// keyword that needs another sentence.
func demand(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Enum:
		return "be one of [" + list(k.Want, ",") + "]"
	case *kind.Const:
		return "be " + show(k.Want)
	case *kind.Minimum:
		return "be at least " + bound(k.Want)
	case *kind.Maximum:
		return "be at most " + bound(k.Want)
	case *kind.ExclusiveMinimum:
		return "be more than " + bound(k.Want)
	case *kind.ExclusiveMaximum:
		return "be less than " + bound(k.Want)
	case *kind.MultipleOf:
		return "be a multiple of " + bound(k.Want)
	case *kind.Pattern:
		return "match the pattern " + cut(k.Want)
	case *kind.OneOf:
		return "fit exactly one of the schema's alternatives (oneOf), not several"
	case *kind.Not:
		return "not be what the schema excludes (not)"
	case *kind.RefCycle:
		return "fit a schema that refers to itself without end"
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
	case *kind.AdditionalItems:
		return fmt.Sprintf("have %d item(s) less", k.Count)
	case *kind.MinProperties:
		return fmt.Sprintf("have at least %d member(s)", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("have at most %d member(s)", k.Want)
	case *kind.Contains:
		return "have an item that fits what the schema says of one (contains)"
	case *kind.MinContains:
		return fmt.Sprintf("have at least %d item(s) that fit what the schema says of them (contains)", k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("have at most %d item(s) that fit what the schema says of them (contains)", k.Want)
	default:
		return ""
	}
}

// bound returns a number of a schema as a decimal.
func bound(x *big.Rat) string {
	if workable(x) == nil {
		f, _ := x.Float64()
		return fmt.Sprint(f)
	}
	return cut(string(decimal(x)))
}
