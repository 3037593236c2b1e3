package arguments

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// quick is a schema of the plain kind that most tools have, in a form in which it takes no allocation and little time
// to see that arguments fit it and that a repair would leave them as they are. It never says so wrongly; where it does
// not say so, the validator and the repairer look at the arguments. Nil is a schema that it cannot judge.
type quick struct {
	types                *jsonschema.Types // nil: any
	words                []string          // the strings that are allowed; nil: any
	low, high            float64           // bounds of numbers, if bounded
	bounded              bool
	lowCounts            bool // numbers that a float64 holds exactly may be the bound itself
	highCounts           bool
	minLength, maxLength int // of strings, in characters; -1: none
	minItems, maxItems   int // of arrays; -1: none
	items                *quick
	anyItems             bool // items may be anything
	properties           map[string]*quick
	expected             []string // properties that are required or have a default
	others               *quick   // properties that are not declared
	anyOthers            bool     // they may be anything
	all                  []*quick // $ref and allOf
	alternatives         []*quick // anyOf; empty: none
}

// maxQuickHops bounds how many schemas that refer to each other speak of one value here.
const maxQuickHops = 32

// maxExactDigits is how many digits a float64 holds exactly.
const maxExactDigits = 15

// quickly returns the quick form of a schema, nil if it uses what that does not know. seen are those that were begun.
func quickly(s *jsonschema.Schema, seen map[*jsonschema.Schema]*quick) *quick {
	if s == nil || !plain(s) {
		return nil
	}
	if q, ok := seen[s]; ok {
		return q
	}
	q := &quick{types: s.Types, minLength: count(s.MinLength), maxLength: count(s.MaxLength), minItems: count(s.MinItems), maxItems: count(s.MaxItems)}
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
		q.types = stringsOnly(s.Types)
	}
	q.bound(s)
	q.parts(s, seen)
	return q
}

// plain reports whether a schema uses only keywords that quick knows, and annotations.
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
	// The library's own notes are not exported; whatever else it learns to say makes a schema one that is not judged.
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

// stringsOnly is types where an enumeration allows some strings: of what else it may hold nothing is judged.
func stringsOnly(types *jsonschema.Types) *jsonschema.Types {
	only := new(jsonschema.Types)
	if types == nil || slices.Contains(types.ToStrings(), "string") {
		only.Add("string")
	}
	return only
}

// bound takes over the bounds of numbers.
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

// parts takes over the schemas of which a schema is made.
func (q *quick) parts(s *jsonschema.Schema, seen map[*jsonschema.Schema]*quick) {
	items, _ := s.Items.(*jsonschema.Schema)
	if s.Items2020 != nil {
		items = s.Items2020
	}
	q.items, q.anyItems = quickly(items, seen), items == nil
	q.expected = slices.Clone(s.Required)
	q.properties = make(map[string]*quick, len(s.Properties))
	for name, sub := range s.Properties {
		q.properties[name] = quickly(sub, seen)
		if sub.Default != nil && !slices.Contains(q.expected, name) {
			q.expected = append(q.expected, name)
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

// Settled reports that the arguments fit the schema and that Repair would leave them as they are. False means that this is
// not known: Repair and Validate tell. It takes no allocation and, for schemas as tools have them, very little time.
func (s *Schema) Settled(p Parsed) bool { return s.quick.settled(p.value, 0) }

// settled reports that v certainly fits, and that a repair would change nothing. False means that it is not known.
func (q *quick) settled(v any, hops int) bool {
	if q == nil || hops > maxQuickHops || !q.own(v) {
		return false
	}
	for _, sub := range q.all {
		if !sub.settled(v, hops+1) {
			return false
		}
	}
	return len(q.alternatives) == 0 ||
		slices.ContainsFunc(q.alternatives, func(sub *quick) bool { return sub.settled(v, hops+1) })
}

// own is settled for what the schema says itself.
func (q *quick) own(v any) bool {
	switch v := v.(type) {
	case string:
		return q.allows("string") && q.text(v)
	case json.Number:
		return q.words == nil && q.number(string(v))
	case bool:
		return q.words == nil && q.allows("boolean")
	case nil:
		return q.words == nil && q.allows("null")
	case []any:
		return q.words == nil && q.allows("array") && q.array(v)
	case map[string]any:
		return q.words == nil && q.allows("object") && q.object(v)
	default:
		return false
	}
}

func (q *quick) allows(kind string) bool {
	if q.types == nil {
		return true
	}
	var one jsonschema.Types
	one.Add(kind)
	return *q.types&one != 0
}

func (q *quick) text(v string) bool {
	if q.minLength >= 0 || q.maxLength >= 0 {
		if n := utf8.RuneCountInString(v); n < q.minLength || q.maxLength >= 0 && n > q.maxLength {
			return false
		}
	}
	return q.words == nil || slices.Contains(q.words, v)
}

// number judges numbers that stand within their bounds also after rounding, which keeps their order. A whole number that
// is not written as one is not judged, for a repair may write it so.
func (q *quick) number(v string) bool {
	whole := len(v) <= maxExactDigits && !strings.ContainsAny(v, ".eE") && v != "-0"
	if !q.allows("number") && !(whole && q.allows("integer")) || !whole && len(v) > maxScalarText {
		return false
	}
	if !q.bounded {
		return true
	}
	f, err := strconv.ParseFloat(v, 64)
	above := f > q.low || whole && q.lowCounts && f == q.low
	below := f < q.high || whole && q.highCounts && f == q.high
	return err == nil && above && below
}

func (q *quick) array(v []any) bool {
	if len(v) < q.minItems || q.maxItems >= 0 && len(v) > q.maxItems {
		return false
	}
	if q.anyItems {
		return true
	}
	for _, item := range v {
		if !q.items.settled(item, 0) {
			return false
		}
	}
	return true
}

func (q *quick) object(v map[string]any) bool {
	for _, name := range q.expected {
		if _, has := v[name]; !has {
			return false
		}
	}
	for name, part := range v {
		sub, declared := q.properties[name]
		switch {
		case declared:
			if !sub.settled(part, 0) {
				return false
			}
		case q.anyOthers:
		case !q.others.settled(part, 0):
			return false
		}
	}
	return true
}
