package arguments

import (
	"cmp"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// distance says how far a value is from an alternative that it does not fit.
type distance struct {
	// kind is 2 if the alternative is for another type than the value's, 1 if it requires another
	// constant for the value or for one of its properties, and 0 otherwise.
	kind int
	// unknown is the number of the value's properties that the alternative does not permit.
	unknown int
	// lacks is 1 if the alternative requires a property that the value does not have.
	lacks int
}

// ofKind compares only the kinds of two distances.
func ofKind(a, b distance) int { return cmp.Compare(a.kind, b.kind) }

// nearer compares two distances. A value with the properties of an alternative, but with a wrong
// value somewhere below, is nearer to it than to one for other properties.
func nearer(a, b distance) int {
	return cmp.Or(ofKind(a, b), cmp.Compare(a.unknown, b.unknown), cmp.Compare(a.lacks, b.lacks))
}

// closest returns the errors of the alternatives that are closest to the value.
func closest(err *jsonschema.ValidationError, compare func(a, b distance) int) []*jsonschema.ValidationError {
	var found []*jsonschema.ValidationError
	var least distance
	for _, cause := range err.Causes {
		d := distanceOf(cause, len(err.InstanceLocation))
		if order := compare(d, least); len(found) == 0 || order < 0 {
			found, least = []*jsonschema.ValidationError{cause}, d
		} else if order == 0 {
			found = append(found, cause)
		}
	}
	return found
}

// distanceOf returns the distance of the value at a depth from the alternative of an error. From
// alternatives within the alternative, it is that of the nearest one.
func distanceOf(e *jsonschema.ValidationError, depth int) distance {
	var far distance
	below := len(e.InstanceLocation) - depth
	switch k := e.ErrorKind.(type) {
	case *kind.Type, *kind.FalseSchema:
		if below == 0 {
			far.kind = 2
		}
	case *kind.Const, *kind.Enum:
		if below <= 1 {
			far.kind = 1
		}
	case *kind.AdditionalProperties:
		if below == 0 {
			far.unknown = len(k.Properties)
		}
	case *kind.Required:
		if below == 0 {
			far.lacks = 1
		}
	case *kind.Not:
		return distance{}
	case *kind.OneOf, *kind.AnyOf:
		if below > 0 {
			return distance{} // the choice there is another one
		}
		for i, cause := range e.Causes {
			if d := distanceOf(cause, depth); i == 0 || nearer(d, far) < 0 {
				far = d
			}
		}
		return far
	}
	for _, cause := range e.Causes {
		d := distanceOf(cause, depth)
		far = distance{max(far.kind, d.kind), far.unknown + d.unknown, max(far.lacks, d.lacks)}
	}
	return far
}
