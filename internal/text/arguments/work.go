package arguments

import (
	"encoding/json"
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxSteps bounds the work of one validation to less than a second. Usual schemas take some
	// steps for each value.
	maxSteps = 1 << 21
	// maxHops bounds the schemas that refer to each other and apply to one value. A longer chain is
	// a cycle.
	maxHops = 256
	// maxNesting bounds the depth of validation, in schemas and values. It allows a few steps for
	// each level of the deepest value.
	maxNesting = 1 << 16
	// textStep is the number of bytes of a text that are copied, counted or compared in one step.
	textStep = 1 << 10
	// fewItems is the number of items up to which the validator compares items in pairs. It hashes
	// the items of longer arrays.
	fewItems = 20
	// patternStep is the number of states of a pattern that count as one step, added up over all
	// characters of the text. A validation may take so many steps that matching takes about a
	// second.
	patternStep = 32
	// regexStep is the number of steps for each byte of a text that must be a regular expression.
	// The validator compiles that text, and \pL or x{1000} takes about 20 µs. maxRegex bounds the
	// memory of the compiled expression to about 20 MiB.
	regexStep = 64
	maxRegex  = 4 << 10
)

// work counts an upper bound of the steps of a validation in advance. The steps can be exponential
// in the depth of a value if the alternatives of a schema contain the schema itself, and the
// validator can neither be bounded nor interrupted.
type work struct {
	left     int  // steps that are left; none: too many
	located  bool // also count the memory for the locations of problems
	dynamic  map[string][]*jsonschema.Schema
	patterns map[string]int
	misfits  map[*jsonschema.Schema]*jsonschema.Schema // the negation of a schema, cached by fits
}

func (s *Schema) work(steps int) work {
	return work{left: steps, dynamic: s.dynamic, patterns: s.patterns, misfits: map[*jsonschema.Schema]*jsonschema.Schema{}}
}

// covers charges the steps of a validation and reports whether enough were left.
func (w *work) covers(s *jsonschema.Schema, v any) bool {
	w.charge(s, v, 0, 0)
	return w.left > 0
}

// fits reports whether a value fits a part of the schema, if there are enough steps to find out.
func (s *Schema) fits(w *work, part *jsonschema.Schema, v any) (ok bool) {
	if !w.covers(part, v) {
		return false
	}
	misfit := w.misfits[part]
	if misfit == nil {
		copied := *s.verdict
		copied.Not, misfit = part, &copied
		w.misfits[part] = misfit
	}
	_, ok = errors.AsType[*jsonschema.ValidationError](check(misfit, v))
	return ok
}

// check validates a value whose steps have been charged.
func check(s *jsonschema.Schema, v any) (err error) {
	defer survive(&err)
	return s.Validate(v)
}

// charge charges the steps of a value at a depth. hops is the number of schemas that led to s for
// the same value.
func (w *work) charge(s *jsonschema.Schema, v any, depth, hops int) {
	if s == nil || w.left <= 0 {
		return
	}
	if w.left--; w.located {
		w.left -= depth / 4
	}
	if text, ok := v.(string); ok { // the validator copies each text
		w.left -= len(text) / textStep
	}
	if hops > maxHops || depth > maxNesting {
		w.left = 0
	}
	if s.Bool != nil || !admits(s, v) {
		return
	}
	if !w.located {
		w.keywords(s, v)
	}
	for _, sub := range [...]*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else} {
		w.charge(sub, v, depth+1, hops+1)
	}
	for _, subs := range [...][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, w.late(s)} {
		for _, sub := range subs {
			w.charge(sub, v, depth+1, hops+1)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		w.object(s, v, depth, hops)
	case []any:
		w.array(s, v, depth)
	}
}

// late returns the schemas that a reference may lead to that the validator resolves during
// validation.
func (w *work) late(s *jsonschema.Schema) []*jsonschema.Schema {
	switch {
	case s.DynamicRef != nil && len(w.dynamic[s.DynamicRef.Anchor]) > 0:
		return w.dynamic[s.DynamicRef.Anchor]
	case s.DynamicRef != nil:
		return []*jsonschema.Schema{s.DynamicRef.Ref}
	case s.RecursiveRef != nil:
		return w.dynamic[""]
	}
	return nil
}

// keywords charges the steps of keywords that compare or match the whole value: pattern, format,
// enum and const.
func (w *work) keywords(s *jsonschema.Schema, v any) {
	if text, ok := v.(string); ok && (s.Pattern != nil || s.Format != nil) {
		w.left -= len(text) / 16
		if s.Pattern != nil {
			w.match(s.Pattern, text)
		}
		if s.Format != nil && s.Format.Name == "regex" {
			w.compile(text)
		}
	}
	if s.Enum != nil {
		w.left -= len(s.Enum.Values)
		w.compare(v, len(s.Enum.Values))
	}
	if s.Const != nil {
		w.compare(v, 1)
	}
	if items, ok := v.([]any); ok && s.UniqueItems {
		if len(items) <= fewItems {
			w.compare(items, fewItems)
		} else {
			w.compare(items, 2)
		}
	}
}

// match charges the steps of matching a text with a pattern. Each character, and the end of the
// text, may take as many steps as the size of the pattern.
func (w *work) match(pattern jsonschema.Regexp, text string) {
	w.left -= (len(text) + 1) * w.patterns[pattern.String()] / patternStep
}

// compile charges the compilation of a text as a regular expression.
func (w *work) compile(text string) {
	if w.left -= len(text) * regexStep; len(text) > maxRegex {
		w.left = 0
	}
}

// compare charges a number of comparisons with a value.
func (w *work) compare(v any, times int) {
	switch v := v.(type) {
	case map[string]any:
		for _, part := range v {
			if w.left -= times; w.left <= 0 {
				return
			}
			w.compare(part, times)
		}
	case []any:
		for _, part := range v {
			if w.left -= times; w.left <= 0 {
				return
			}
			w.compare(part, times)
		}
	case string:
		w.left -= len(v) / textStep * times
	}
}

func (w *work) object(s *jsonschema.Schema, v map[string]any, depth, hops int) {
	for name, part := range v {
		w.left -= 1 + len(s.PatternProperties)*(1+len(name)/16)
		for _, sub := range w.ofProperty(s, name) {
			w.charge(sub, part, depth+1, 0)
		}
		w.charge(s.UnevaluatedProperties, part, depth+1, 0)
		w.charge(propertyNames(s), name, depth+1, 0)
		w.charge(s.DependentSchemas[name], v, depth+1, hops+1)
		if sub, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			w.charge(sub, v, depth+1, hops+1)
		}
	}
}

func (w *work) array(s *jsonschema.Schema, v []any, depth int) {
	for i, part := range v {
		if w.left--; w.left <= 0 {
			return
		}
		w.charge(ofItem(s, i), part, depth+1, 0)
		w.charge(s.Contains, part, depth+1, 0)
		w.charge(s.UnevaluatedItems, part, depth+1, 0)
	}
}

// admits reports whether a value has a type that the schema accepts. Otherwise the validator stops
// at the type.
func admits(s *jsonschema.Schema, v any) bool {
	if s.Types == nil || s.Types.IsEmpty() {
		return true
	}
	var types jsonschema.Types
	switch v.(type) {
	case nil:
		types.Add("null")
	case bool:
		types.Add("boolean")
	case json.Number:
		types.Add("number")
		types.Add("integer")
	case string:
		types.Add("string")
	case []any:
		types.Add("array")
	case map[string]any:
		types.Add("object")
	default:
		return true
	}
	return *s.Types&types != 0
}
