package arguments

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/toolhost/toolhost/internal/nearest"
)

const (
	// maxAllowed bounds how many values of an enum a sentence lists.
	maxAllowed = 20
	// maxBesides bounds how many schemas are looked at for what they demand besides a type.
	maxBesides = 16
	// maxNearText bounds the texts whose letters are compared to say which is the nearest.
	maxNearText = 64
)

// typed says of which types a value must be that is of another one, and what else the schema demands: the validator stops at
// the type, and the next call would fail for the rest.
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
	var own []string
	if s.Const != nil {
		own = append(own, show(*s.Const))
	}
	if s.Enum != nil {
		own = append(own, "one of ["+e.nearestFirst(s.Enum.Values, value)+"]")
	}
	for _, demanded := range append(own, demands(s)...) {
		if !slices.Contains(*all, demanded) {
			*all = append(*all, demanded)
		}
	}
	e.gather(s.Ref, value, all, left)
	for _, sub := range s.AllOf {
		e.gather(sub, value, all, left)
	}
}

// demands says what a schema demands of values of its types besides their type, but for enum and const.
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
		all = append(all, "with "+names(s.Required))
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
		all = append(all, "matching the pattern "+cut(s.Pattern.String()))
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

// nearestFirst lists values, those nearest to the given one first.
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
	return listOf(sorted, ",", maxAllowed)
}

// enumSentence says that a value is none of those allowed. The type is named where no allowed value is of that.
func (e *explainer) enumSentence(values []any, value any) string {
	words := given(value)
	if slices.ContainsFunc(values, func(v any) bool { return typeName(v) == typeName(value) }) {
		words = show(value)
	}
	return fmt.Sprintf("must be one of [%s], but is %s", e.nearestFirst(values, value), words)
}

// distance says how far an allowed value is from the given one. A string that holds a number is near to numbers.
func (e *explainer) distance(allowed, given any) float64 {
	text, isText := given.(string)
	switch allowed := allowed.(type) {
	case string:
		if !isText {
			text = show(given)
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

// letters says how far two texts are from each other, as long as there are steps for it.
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
		d /= 2 // the value has all of it
	}
	return d
}
