package arguments

import (
	"math"
	"math/big"
	"reflect"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// quick is a simplified form of a schema that uses only common keywords. It recognizes most
// arguments that fit and that a repair would not change, without an allocation. It never accepts
// others. If it does not accept arguments, the validator and the repair examine them. A nil quick
// accepts nothing.
type quick struct {
	kinds                kinds
	words                []string // the allowed strings; nil: any
	low, high            float64  // bounds of numbers, if bounded is set
	bounded              bool
	lowCounts            bool // a number that a float64 represents exactly may equal the bound
	highCounts           bool
	minLength, maxLength int // of strings, in characters; -1: none
	minItems, maxItems   int // of arrays; -1: none
	items                *quick
	anyItems             bool // items may have any value
	properties           map[string]property
	expected             int      // the number of properties that are required or have a default
	others               *quick   // for properties that are not declared
	anyOthers            bool     // properties that are not declared may have any value
	declares             bool     // it declares properties: another name may be misspelled
	all                  []*quick // from $ref and allOf
	alternatives         []*quick // from anyOf; empty: none
}

// property is what a schema declares of one property.
type property struct {
	*quick        // nil for a declared property: cannot be judged
	declared bool // properties has a schema for it
	expected bool // it is required or has a default
}

// quickly returns the quick form of a schema, or nil if the schema uses a keyword that quick does
// not support. seen holds the schemas that were begun.
func quickly(s *jsonschema.Schema, seen map[*jsonschema.Schema]*quick) *quick {
	if s == nil || !plain(s) {
		return nil
	}
	if q, ok := seen[s]; ok {
		return q
	}
	q := &quick{kinds: kindsOf(s.Types), minLength: count(s.MinLength), maxLength: count(s.MaxLength), minItems: count(s.MinItems), maxItems: count(s.MaxItems)}
	seen[s] = q
	if s.Bool != nil {
		if !*s.Bool {
			seen[s] = nil
		}
		return seen[s]
	}
	if s.Enum != nil {
		q.words = []string{}
		for _, v := range s.Enum.Values {
			if word, ok := v.(string); ok {
				q.words = append(q.words, word)
			}
		}
		q.kinds &= 1 << kindText // values of other types cannot be judged
	}
	q.bound(s)
	q.parts(s, seen)
	return q
}

// plain reports whether a schema uses only annotations and keywords that quick supports.
func plain(s *jsonschema.Schema) bool {
	rest := *s
	rest.DraftVersion, rest.Location, rest.Bool, rest.ID, rest.Anchor, rest.Ref, rest.Types, rest.Enum = 0, "", nil, "", "", nil, nil, nil
	rest.AllOf, rest.AnyOf, rest.Required, rest.Properties, rest.AdditionalProperties = nil, nil, nil, nil, nil
	rest.MinItems, rest.MaxItems, rest.MinLength, rest.MaxLength = nil, nil, nil, nil
	rest.Maximum, rest.Minimum, rest.ExclusiveMaximum, rest.ExclusiveMinimum = nil, nil, nil, nil
	rest.Title, rest.Description, rest.Default, rest.Comment, rest.Examples = "", "", nil, "", nil
	rest.ReadOnly, rest.WriteOnly, rest.Deprecated = false, false, false
	if _, single := rest.Items.(*jsonschema.Schema); single || rest.Items2020 != nil {
		rest.Items, rest.Items2020 = nil, nil
	}
	// The validator does not export all of its fields. A keyword that a later version adds must
	// make the schema unsupported here.
	v := reflect.ValueOf(rest)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() && !v.Field(i).IsZero() {
			return false
		}
	}
	return true
}

func count(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}

// kinds is a set of part kinds.
type kinds uint16

// kindInteger is another member of the set, for whole numbers. kindNumber stands for all numbers.
const kindInteger partKind = 15

func (k kinds) has(one partKind) bool { return k&(1<<one) != 0 }

// kindsOf returns the kinds that types allow. A nil types allows all.
func kindsOf(types *jsonschema.Types) kinds {
	if types == nil {
		return ^kinds(0)
	}
	var k kinds
	for _, name := range types.ToStrings() {
		switch name {
		case "null":
			k |= 1 << kindNull
		case "boolean":
			k |= 1<<kindFalse | 1<<kindTrue
		case "number":
			k |= 1 << kindNumber
		case "integer":
			k |= 1 << kindInteger
		case "string":
			k |= 1 << kindText
		case "array":
			k |= 1 << kindArray
		case "object":
			k |= 1 << kindObject
		}
	}
	return k
}

// bound copies the bounds of numbers.
func (q *quick) bound(s *jsonschema.Schema) {
	q.low, q.high = math.Inf(-1), math.Inf(1)
	for _, x := range []*big.Rat{s.Minimum, s.ExclusiveMinimum} {
		if x == nil {
			continue
		}
		if f, exact := x.Float64(); f >= q.low {
			q.low, q.bounded, q.lowCounts = f, true, exact && x == s.Minimum && s.ExclusiveMinimum == nil
		}
	}
	for _, x := range []*big.Rat{s.Maximum, s.ExclusiveMaximum} {
		if x == nil {
			continue
		}
		if f, exact := x.Float64(); f <= q.high {
			q.high, q.bounded, q.highCounts = f, true, exact && x == s.Maximum && s.ExclusiveMaximum == nil
		}
	}
}

// parts adds the schemas that a schema refers to or contains.
func (q *quick) parts(s *jsonschema.Schema, seen map[*jsonschema.Schema]*quick) {
	items, _ := s.Items.(*jsonschema.Schema)
	if s.Items2020 != nil {
		items = s.Items2020
	}
	q.items, q.anyItems = quickly(items, seen), items == nil
	q.declares = len(s.Properties) > 0
	q.properties = make(map[string]property, len(s.Properties))
	for _, name := range s.Required {
		q.properties[name] = property{expected: true}
	}
	for name, sub := range s.Properties {
		expected := q.properties[name].expected || defaultOf(sub) != nil
		q.properties[name] = property{quick: quickly(sub, seen), declared: true, expected: expected}
	}
	for _, p := range q.properties {
		if p.expected {
			q.expected++
		}
	}
	switch others := s.AdditionalProperties.(type) {
	case nil:
		q.anyOthers = true
	case bool:
		q.anyOthers = others
	case *jsonschema.Schema:
		q.others = quickly(others, seen)
	}
	if s.Ref != nil {
		q.all = append(q.all, quickly(s.Ref, seen))
	}
	for _, sub := range s.AllOf {
		q.all = append(q.all, quickly(sub, seen))
	}
	for _, sub := range s.AnyOf {
		q.alternatives = append(q.alternatives, quickly(sub, seen))
	}
}
