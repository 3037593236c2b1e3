package arguments

import (
	"bytes"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolhost/toolhost/internal/text/jsontext"
)

// Settled reports that the arguments fit the schema, that Repair would not change them, and that
// none of them is Undeclared. If it returns false, call Repair and Validate to find out. Settled
// does not allocate. With the schemas that tools usually have, it takes very little time.
func (s *Schema) Settled(p Parsed) bool {
	canonical, parts := p.Parts()
	if len(parts) == 0 {
		return false
	}
	j := judge{canonical: canonical, parts: parts, left: maxQuickSteps + quickStepsEach*len(parts) + quickCounts*len(canonical)/textStep}
	return j.settled(s.quick, 0, 0)
}

const (
	// maxQuickHops bounds the schemas that refer to each other and apply to one value.
	maxQuickHops = 32
	// maxQuickSteps and quickStepsEach bound how often schemas are applied. quickStepsEach counts
	// for each part of the arguments. Usual schemas are applied once or a few times to each part. A
	// schema whose alternatives contain the schema itself could be applied without end.
	maxQuickSteps  = 256
	quickStepsEach = 16
	// quickCounts bounds, in the same way, how often the characters of all texts are counted.
	quickCounts = 4
	// maxExactDigits is the number of decimal digits that a float64 represents exactly.
	maxExactDigits = 15
)

// judge applies schemas to the parts of one text.
type judge struct {
	canonical []byte
	parts     []jsontext.Part
	left      int // steps that are left
}

// settled reports that the i-th part fits and that a repair would not change it. False means that
// this is not known.
func (j *judge) settled(q *quick, i uint32, hops int) bool {
	j.left--
	if q == nil || hops > maxQuickHops || j.left < 0 || !j.keywords(q, i) {
		return false
	}
	for _, sub := range q.all {
		if !j.settled(sub, i, hops+1) {
			return false
		}
	}
	return len(q.alternatives) == 0 ||
		slices.ContainsFunc(q.alternatives, func(sub *quick) bool { return j.settled(sub, i, hops+1) })
}

// keywords is settled for the keywords of the schema itself.
func (j *judge) keywords(q *quick, i uint32) bool {
	p := &j.parts[i]
	if p.Kind == jsontext.KindNumber {
		return q.number(j.canonical[p.Start:p.End])
	}
	if !q.kinds.has(p.Kind) {
		return false
	}
	switch p.Kind {
	case jsontext.KindText:
		return j.text(q, j.canonical[p.Start:p.End], p.Escaped())
	case jsontext.KindArray:
		return j.array(q, i)
	case jsontext.KindObject:
		return j.object(q, i)
	default:
		return true
	}
}

func (j *judge) text(q *quick, content []byte, escaped bool) bool {
	if q.minLength >= 0 || q.maxLength >= 0 {
		if j.left -= len(content) / textStep; j.left < 0 {
			return false
		}
		n := utf8.RuneCount(content)
		if escaped {
			n = characters(content)
		}
		if n < q.minLength || q.maxLength >= 0 && n > q.maxLength {
			return false
		}
	}
	if q.words == nil {
		return true
	}
	return !escaped && slices.ContainsFunc(q.words, func(word string) bool { return word == string(content) })
}

// characters counts the characters of a text that contains escapes.
func characters(text []byte) int {
	count := 0
	for len(text) > 0 {
		_, n := jsontext.Character(text)
		text = text[n:]
		count++
	}
	return count
}

// number reports whether a number fits. Rounding to a float64 keeps the order of numbers, so that a
// number strictly within the bounds still is after rounding. A whole number that is written with a
// point or exponent is not judged, because a repair may rewrite it.
func (q *quick) number(v []byte) bool {
	whole := len(v) <= maxExactDigits && !bytes.ContainsAny(v, ".eE") && string(v) != "-0"
	if !q.kinds.has(jsontext.KindNumber) && !(whole && q.kinds.has(kindInteger)) || !whole && len(v) > maxScalarText {
		return false
	}
	if !q.bounded {
		return true
	}
	f, err := strconv.ParseFloat(string(v), 64)
	above := f > q.low || whole && q.lowCounts && f == q.low
	below := f < q.high || whole && q.highCounts && f == q.high
	return err == nil && above && below
}

func (j *judge) array(q *quick, i uint32) bool {
	n, end := 0, j.parts[i].Next
	for at := i + 1; at < end; at = j.parts[at].Next {
		if n++; !q.anyItems && !j.settled(q.items, at, 0) {
			return false
		}
	}
	return n >= q.minItems && (q.maxItems < 0 || n <= q.maxItems)
}

func (j *judge) object(q *quick, i uint32) bool {
	expected, end := 0, j.parts[i].Next
	for at := i + 1; at < end; at = j.parts[at+1].Next {
		name := &j.parts[at]
		if name.Escaped() { // hardly any tool has such a name
			return false
		}
		sub, known := q.properties[string(j.canonical[name.Start:name.End])]
		if sub.expected {
			expected++
		}
		switch {
		case known && sub.declared:
			if !j.settled(sub.quick, at+1, 0) {
				return false
			}
		case q.anyOthers && q.declares: // the name may be misspelled
			return false
		case q.anyOthers:
		case !j.settled(q.others, at+1, 0):
			return false
		}
	}
	return expected == q.expected
}

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
// not support. seen holds the schemas whose conversion has begun, because a schema may contain
// itself.
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
		q.kinds &= 1 << jsontext.KindText // values of other types cannot be judged
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
	if aliasesIn(s) != nil && len(rest.Extensions) == 1 {
		rest.Extensions = nil
	}
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

// kindInteger is an additional kind for whole numbers. jsontext.KindNumber means all numbers.
const kindInteger jsontext.Kind = 15

func (k kinds) has(one jsontext.Kind) bool { return k&(1<<one) != 0 }

// kindsOf returns the kinds that types allow. A nil types allows all.
func kindsOf(types *jsonschema.Types) kinds {
	if types == nil {
		return ^kinds(0)
	}
	var k kinds
	for _, name := range types.ToStrings() {
		switch name {
		case "null":
			k |= 1 << jsontext.KindNull
		case "boolean":
			k |= 1<<jsontext.KindFalse | 1<<jsontext.KindTrue
		case "number":
			k |= 1 << jsontext.KindNumber
		case "integer":
			k |= 1 << kindInteger
		case "string":
			k |= 1 << jsontext.KindText
		case "array":
			k |= 1 << jsontext.KindArray
		case "object":
			k |= 1 << jsontext.KindObject
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
	for other := range aliasesIn(s) { // a repair may rename it
		q.properties[other] = property{declared: true, expected: q.properties[other].expected}
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
	if aliasesIn(s)[itsItem] != "" { // a repair may move it
		q.others, q.anyOthers = nil, false
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
