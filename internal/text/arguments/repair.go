package arguments

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolhost/toolhost/internal/text/jsontext"
)

const (
	// maxRepairSteps bounds the work of one repair to a fraction of a second. Arguments that need
	// more are not repaired.
	maxRepairSteps = 1 << 19
	// maxRepairDepth bounds the depth to which values are repaired. Nested values and references
	// between schemas count.
	maxRepairDepth = 128
	// maxRepairPasses bounds how often a repair passes over the arguments until nothing changes.
	// Several parts of a schema may apply to one value, and each may depend on what another part
	// repaired.
	maxRepairPasses = 4
)

// Repair returns arguments that are as close to the schema as possible without guessing, and the
// list of changes, ordered by path. It does not change p. A second repair changes nothing.
//
//   - Where the schema says integer, "10" and 10.0 become 10; where it says number, "1.5" becomes 1.5.
//   - Where it says boolean, true, yes, y and 1 become true, and false, no, n and 0 become false: strings
//     in any case, or the numbers. This does not apply if the schema also allows a string, or a number
//     that the value could be.
//   - Where it says array or object, and not string, a string with the JSON of one becomes that value.
//   - Where it says array of objects, and not object, one object that fits as an item becomes the only item.
//   - A string that differs from exactly one value of enum or const only by case becomes that value.
//   - Where the schema has the format date-time or time, a text without an offset is taken for UTC, and other
//     spellings of ISO 8601 become that of RFC 3339. Where it has date, midnight becomes its date.
//   - A number beyond minimum or maximum becomes the bound; an exclusive bound moves integers alone.
//   - A missing property that was sent under another name of it (x-toolhost-aliases) gets its declared name,
//     unless it has different values under two of them. A list of objects that has * among its names is made
//     of the properties of its only item, if they were sent in place of the list.
//   - A missing property that has a default, also behind $ref or allOf, gets it. Null for a property that
//     is declared, not required, and may not be null counts as missing.
//
// The rules apply to a depth of 128 values and references, through $ref, allOf, properties and
// items, and through those of then, else and dependentSchemas that apply. For anyOf and oneOf,
// Repair uses only the one branch that the value fits or could be made to fit. A string that could
// become a number or a boolean becomes the number. Repair changes a single value only if the value
// does not fit before and fits after, except for the spelling of integers. Arguments that fit get
// defaults only if they still fit with them. What cannot be repaired stays, for Validate to
// explain. If the work would be too much, nothing is changed.
//
// docs/arguments.md has the rules as a table, which a test compares with Repair.
func (s *Schema) Repair(p Parsed) (Parsed, []Repair) {
	if s.Settled(p) {
		return p, nil
	}
	r := repairer{schema: s, work: s.work(maxRepairSteps), filling: map[*jsonschema.Schema]bool{}}
	given := p.Value()
	value, stable := given, false
	for range maxRepairPasses {
		next := r.value(s.compiled, value, 0)
		if r.left <= 0 {
			return p, nil
		}
		if stable = reflect.DeepEqual(value, next); stable {
			break
		}
		value = next
	}
	changes := compare(given, value, s.aliasesOf)
	if !stable || len(changes) == 0 {
		return p, nil
	}
	w := s.work(maxSteps)
	if s.fits(&w, s.compiled, given) && !s.fits(&w, s.compiled, value) {
		return p, nil
	}
	repaired, err := jsontext.Of(value)
	if err != nil {
		return p, nil
	}
	return repaired, changes
}

// repairer walks through a value and the schema that the value should fit. It changes no value in
// place.
type repairer struct {
	work    // none left: give up
	schema  *Schema
	whole   *jsonschema.Schema          // through which the repair came to the value
	filling map[*jsonschema.Schema]bool // the properties whose default is being filled in
	cyclic  bool                        // the default that is being filled in contains itself
}

// value repairs a value by a schema through which no other part of the schema comes to the value.
func (r *repairer) value(s *jsonschema.Schema, v any, depth int) any {
	before := r.whole
	r.whole = s
	out := r.repair(s, v, depth)
	r.whole = before
	return out
}

func (r *repairer) repair(s *jsonschema.Schema, v any, depth int) any {
	r.left--
	if r.left <= 0 || depth > maxRepairDepth || s == nil || s.Bool != nil {
		return v
	}
	out := r.keywords(s, v, depth)
	if s.Ref != nil {
		out = r.repair(s.Ref, out, depth+1)
	}
	for _, sub := range s.AllOf {
		out = r.repair(sub, out, depth+1)
	}
	out = r.branch(s.AnyOf, out, depth+1, false)
	out = r.branch(s.OneOf, out, depth+1, true)
	for _, sub := range r.conditional(s, out) {
		out = r.repair(sub, out, depth+1)
	}
	if !single(out) {
		return out
	}
	// The other parts may have changed the value to one that the schema's own bounds apply to.
	if out = scalar(s, out, r.fits(s, out)); out != v && !r.fits(s, out) {
		return v
	}
	return out
}

// keywords applies the keywords of the schema itself.
func (r *repairer) keywords(s *jsonschema.Schema, v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		if list := r.wrapped(s, v, depth); list != nil {
			return list
		}
		return r.object(s, v, depth)
	case []any:
		return r.array(s, v, depth)
	default:
		if holds := r.unquoted(s, v); holds != nil {
			return r.keywords(s, holds, depth)
		}
		return scalar(s, v, r.fits(s, v))
	}
}

// conditional returns the schemas that apply to a value by a condition on the value.
func (r *repairer) conditional(s *jsonschema.Schema, v any) (subs []*jsonschema.Schema) {
	if s.If != nil && (s.Then != nil || s.Else != nil) {
		if r.fits(s.If, v) {
			subs = append(subs, s.Then)
		} else {
			subs = append(subs, s.Else)
		}
	}
	object, _ := v.(map[string]any)
	for name := range object {
		if sub := s.DependentSchemas[name]; sub != nil {
			subs = append(subs, sub)
		}
		if sub, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			subs = append(subs, sub)
		}
	}
	return subs
}

// unquoted returns the array or object whose JSON a string contains, if the schema allows that type
// and no strings; otherwise nil.
func (r *repairer) unquoted(s *jsonschema.Schema, v any) any {
	text, ok := v.(string)
	if !ok || s.Types == nil {
		return nil
	}
	says := typesOf(s)
	text = strings.TrimSpace(text)
	if says["string"] || text == "" || !(text[0] == '[' && says["array"] || text[0] == '{' && says["object"]) {
		return nil
	}
	if r.left -= len(text) / textStep; r.left <= 0 {
		return nil
	}
	p, ok := jsontext.Read([]byte(text))
	if !ok {
		return nil
	}
	_, parts := p.Parts()
	if r.left -= len(parts); r.left <= 0 {
		return nil
	}
	return p.Value()
}

// wrapped returns an array with an object as its only item, if the schema allows arrays of objects
// and no object, and the array fits; otherwise nil.
func (r *repairer) wrapped(s *jsonschema.Schema, v map[string]any, depth int) []any {
	item := ofItem(s, 0)
	if says := typesOf(s); !says["array"] || says["object"] || !ofObjects(item, maxRepairDepth) {
		return nil
	}
	list := []any{r.value(item, v, depth+1)}
	if !r.fits(s, list) {
		return nil
	}
	return list
}

// ofObjects reports whether a schema, or one behind its $ref or allOf, has the type object alone.
func ofObjects(s *jsonschema.Schema, hops int) bool {
	if s == nil || hops == 0 {
		return false
	}
	says := typesOf(s)
	return len(says) == 1 && says["object"] || ofObjects(s.Ref, hops-1) ||
		slices.ContainsFunc(s.AllOf, func(sub *jsonschema.Schema) bool { return ofObjects(sub, hops-1) })
}

// branch repairs a value by the one schema of an anyOf or oneOf that the value fits. If it fits
// none, branch uses the one schema that the value fits after a repair. Several schemas of an anyOf
// may lead to the same value.
func (r *repairer) branch(subs []*jsonschema.Schema, v any, depth int, exclusive bool) any {
	if len(subs) == 0 {
		return v
	}
	fitting := subs
	if some := r.fitting(subs, v); len(some) > 0 {
		fitting = some
		if len(some) > 1 {
			return v
		}
	}
	var found []any
	for _, sub := range fitting {
		out := r.repair(sub, v, depth)
		if r.fits(sub, out) && !slices.ContainsFunc(found, func(other any) bool { return reflect.DeepEqual(out, other) }) {
			found = append(found, out)
		}
	}
	if found = preferNumber(v, found); len(found) != 1 {
		return v
	}
	if n := len(r.fitting(subs, found[0])); n == 0 || exclusive && n > 1 {
		return v
	}
	return found[0]
}

// preferNumber chooses the number for a string that could become one number or a boolean, as a
// schema that allows both types does.
func preferNumber(v any, found []any) []any {
	if _, ok := v.(string); !ok {
		return found
	}
	var numbers []any
	for _, out := range found {
		switch out.(type) {
		case json.Number:
			numbers = append(numbers, out)
		case bool:
		default:
			return found
		}
	}
	if len(numbers) == 1 {
		return numbers
	}
	return found
}

func (r *repairer) fitting(subs []*jsonschema.Schema, v any) []*jsonschema.Schema {
	var some []*jsonschema.Schema
	for _, sub := range subs {
		if r.fits(sub, v) {
			some = append(some, sub)
		}
	}
	return some
}

// fits reports whether a value fits a schema, if there are enough steps to find out.
func (r *repairer) fits(s *jsonschema.Schema, v any) bool {
	return r.schema.fits(&r.work, s, v)
}

func single(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func (r *repairer) object(s *jsonschema.Schema, v map[string]any, depth int) any {
	v = r.gathered(s, r.renamed(s, v), depth)
	out := maps.Clone(v)
	for name, part := range v {
		sub := s.Properties[name]
		if sub != nil && part == nil && !slices.Contains(s.Required, name) && !r.fits(sub, nil) {
			delete(out, name)
			continue
		}
		for _, sub := range r.ofProperty(s, name) {
			out[name] = r.value(sub, out[name], depth+1)
		}
	}
	for name, sub := range s.Properties {
		if _, given := out[name]; given || defaultOf(sub) == nil {
			continue
		}
		if value, ok := r.fill(sub, depth+1); ok {
			out[name] = value
		}
	}
	return out
}

// fill returns the default of a property, with the defaults within it. It returns false for a
// default that does not fit, or that would contain itself without end.
func (r *repairer) fill(s *jsonschema.Schema, depth int) (any, bool) {
	if r.filling[s] || depth > maxRepairDepth {
		r.cyclic = true
		return nil, false
	}
	r.filling[s] = true
	value := r.value(s, *defaultOf(s), depth)
	delete(r.filling, s)
	ok := !r.cyclic && r.fits(s, value)
	if len(r.filling) == 0 {
		r.cyclic = false
	}
	return value, ok
}

func (r *repairer) array(s *jsonschema.Schema, v []any, depth int) any {
	out := slices.Clone(v)
	for i, part := range v {
		out[i] = r.value(ofItem(s, i), part, depth+1)
	}
	return out
}
