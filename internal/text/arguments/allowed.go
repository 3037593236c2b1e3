package arguments

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/toolhost/toolhost/internal/text/jsontext"
	"github.com/toolhost/toolhost/internal/text/nearest"
)

const (
	// maxAllowed bounds the values of an enum that a message lists.
	maxAllowed = 20
	// maxBesides bounds the schemas that a message on a wrong type is gathered from.
	maxBesides = 16
	// maxNearText bounds the texts that are compared letter by letter to find the nearest allowed
	// value.
	maxNearText = 64
)

// typed returns the types that a value of another type must have, and what else the schema requires
// of such a value. The validator reports only the wrong type. Without the rest, the model's next
// call could fail for that reason.
func (e *explainer) typed(want []string, location string, value any) string {
	var all []string
	left := maxBesides
	e.gather(e.part(location), value, &all, &left)
	words := strings.Join(want, " or ")
	if len(all) == 0 {
		return words
	}
	return words + " (" + cutSentence(strings.Join(all, ", ")) + ")"
}

func (e *explainer) gather(s *jsonschema.Schema, value any, all *[]string, left *int) {
	if *left--; s == nil || *left < 0 {
		return
	}
	var fixed []string
	if s.Const != nil {
		fixed = append(fixed, jsontext.Show(*s.Const))
	}
	if s.Enum != nil {
		fixed = append(fixed, "one of ["+e.nearestFirst(s.Enum.Values, value)+"]")
	}
	for _, demanded := range append(fixed, demands(s)...) {
		if !slices.Contains(*all, demanded) {
			*all = append(*all, demanded)
		}
	}
	e.gather(s.Ref, value, all, left)
	for _, sub := range s.AllOf {
		e.gather(sub, value, all, left)
	}
}

// demands returns what a schema demands of values of its types besides the type, enum and const.
func demands(s *jsonschema.Schema) []string {
	says := typesOf(s)
	var all []string
	if says["number"] || says["integer"] {
		all = append(all, demandsOfNumbers(s)...)
	}
	if says["string"] {
		all = append(all, demandsOfTexts(s)...)
	}
	if says["array"] {
		all = appendCount(all, "at least %d item(s)", s.MinItems)
		all = appendCount(all, "at most %d item(s)", s.MaxItems)
	}
	if says["object"] && len(s.Required) > 0 {
		all = append(all, "with "+jsontext.Names(s.Required))
	}
	return all
}

func demandsOfNumbers(s *jsonschema.Schema) (all []string) {
	for _, k := range []jsonschema.ErrorKind{
		&kind.Minimum{Want: s.Minimum}, &kind.Maximum{Want: s.Maximum}, &kind.ExclusiveMinimum{Want: s.ExclusiveMinimum},
		&kind.ExclusiveMaximum{Want: s.ExclusiveMaximum}, &kind.MultipleOf{Want: s.MultipleOf},
	} {
		if reflect.ValueOf(k).Elem().FieldByName("Want").IsNil() {
			continue
		}
		all = append(all, strings.TrimPrefix(demand(k), "be "))
	}
	return all
}

func demandsOfTexts(s *jsonschema.Schema) (all []string) {
	all = appendCount(all, "at least %d character(s)", s.MinLength)
	all = appendCount(all, "at most %d character(s)", s.MaxLength)
	if s.Pattern != nil {
		all = append(all, "matching the pattern "+jsontext.Cut(s.Pattern.String()))
	}
	if s.Format != nil {
		all = append(all, "a valid "+s.Format.Name+formatHint(s.Format.Name))
	}
	return all
}

func appendCount(all []string, format string, n *int) []string {
	if n == nil {
		return all
	}
	return append(all, fmt.Sprintf(format, *n))
}

// nearestFirst lists values in the order of their distance from the given one.
func (e *explainer) nearestFirst(values []any, given any) string {
	type ranked struct {
		value    any
		distance float64
	}
	all := make([]ranked, len(values))
	for i, value := range values {
		all[i] = ranked{value, e.distance(value, given)}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(a.distance, b.distance) })
	sorted := make([]any, len(all))
	for i := range all {
		sorted[i] = all[i].value
	}
	return jsontext.List(sorted, ",", maxAllowed)
}

// enumSentence says that a value is not among the allowed values. It names the type of the value if
// no allowed value has that type.
func (e *explainer) enumSentence(values []any, value any) string {
	words := given(value)
	if slices.ContainsFunc(values, func(v any) bool { return jsontext.TypeName(v) == jsontext.TypeName(value) }) {
		words = jsontext.Show(value)
	}
	return fmt.Sprintf("must be one of [%s], but is %s", e.nearestFirst(values, value), words)
}

// distance returns how far an allowed value is from the given one. A string that contains a number
// is near that number.
func (e *explainer) distance(allowed, given any) float64 {
	text, isText := given.(string)
	switch allowed := allowed.(type) {
	case string:
		if !isText {
			text = jsontext.Show(given)
		}
		return e.letters(allowed, text)
	case json.Number:
		n, isNumber := given.(json.Number)
		if isText {
			n, isNumber = json.Number(strings.TrimSpace(text)), true
		}
		if a, b := rat(allowed), rat(n); isNumber && a != nil && b != nil {
			x, _ := a.Float64()
			y, _ := b.Float64()
			return math.Abs(x - y)
		}
	}
	return math.Inf(1)
}

// letters returns the edit distance of two texts, or infinity if the texts are too long or no steps
// are left.
func (e *explainer) letters(a, b string) float64 {
	one, other := []rune(nearest.Fold(a)), []rune(nearest.Fold(b))
	if len(one) > maxNearText || len(other) > maxNearText {
		return math.Inf(1)
	}
	long := max(len(one), len(other))
	if e.work.left -= 1 + len(one)*len(other)/64; e.work.left <= 0 {
		return math.Inf(1)
	}
	d := float64(nearest.Distance(one, other, long))
	if len(other) > 0 && strings.Contains(string(one), string(other)) {
		d /= 2 // the allowed value contains the whole given text
	}
	return d
}

// demand returns a keyword's requirement as a phrase that follows "must". It returns "" for a
// keyword that needs a sentence of another form.
func demand(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Enum:
		return "be one of [" + jsontext.List(k.Want, ",", jsontext.MaxNames) + "]"
	case *kind.Const:
		return "be " + jsontext.Show(k.Want)
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
		return "match the pattern " + jsontext.Cut(k.Want)
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
	return jsontext.Cut(string(decimal(x)))
}
