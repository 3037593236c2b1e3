package arguments

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolhost/toolhost/internal/text/jsontext"
	"github.com/toolhost/toolhost/internal/text/nearest"
)

// Undeclared is a property that the schema allows but does not declare, and whose name resembles a
// declared property that is missing or has its default. It is probably a misspelling, which the
// tool would ignore.
type Undeclared struct {
	Path string `json:"path"` // as in the errors of Validate
	Like string `json:"like"` // the declared name
}

const (
	// maxUndeclared bounds the properties that are reported.
	maxUndeclared = 20
	// maxUndeclaredSteps bounds the work of the search.
	maxUndeclaredSteps = 1 << 18
	// maxDeclared bounds the names of one object that are compared with a misspelled one.
	maxDeclared = 256
)

// Undeclared returns the properties of arguments that seem to be misspelled, ordered by path, at
// most 20. It searches at any depth, through $ref and all alternatives. It skips objects whose
// schema accepts properties of any name by describing their values, and objects that allow no other
// properties, which Validate refuses. Its work is bounded.
func (s *Schema) Undeclared(p Parsed) []Undeclared {
	if s.Settled(p) {
		return nil
	}
	u := speller{work: s.work(maxUndeclaredSteps)}
	u.examine = u.spell
	u.visit([]*jsonschema.Schema{s.compiled}, p.Value(), nil)
	return u.found
}

// speller looks for names that are not declared.
type speller struct {
	work
	// Examines the names of one object, by all schemas that apply to it.
	examine func(schemas []*jsonschema.Schema, v map[string]any, at []string)
	found   []Undeclared
}

func (u *speller) visit(schemas []*jsonschema.Schema, v any, at []string) {
	if len(schemas) == 0 || u.left <= 0 || len(at) > maxRepairDepth || len(u.found) == maxUndeclared {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		all := u.all(schemas)
		u.examine(all, v, at)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if single(v[name]) {
				continue
			}
			var parts []*jsonschema.Schema
			for _, s := range all {
				parts = append(parts, u.ofProperty(s, name)...)
			}
			u.visit(parts, v[name], append(slices.Clip(at), name))
		}
	case []any:
		all := u.all(schemas)
		for i, item := range v {
			if single(item) {
				continue
			}
			var parts []*jsonschema.Schema
			for _, s := range all {
				parts = append(parts, ofItem(s, i))
			}
			u.visit(parts, item, append(slices.Clip(at), strconv.Itoa(i)))
		}
	}
}

// spell examines the names of one object.
func (u *speller) spell(schemas []*jsonschema.Schema, v map[string]any, at []string) {
	declared := map[string]bool{} // by name: whether it was sent
	for _, s := range schemas {
		if s.AdditionalProperties == false {
			return
		}
		_, others := s.AdditionalProperties.(*jsonschema.Schema)
		if others || s.UnevaluatedProperties != nil && s.UnevaluatedProperties.Bool == nil {
			return
		}
		for name, sub := range s.Properties {
			declared[name] = declared[name] || sent(v, name, sub)
		}
	}
	var strange, missing []string
	for name := range v {
		if _, is := declared[name]; !is && !slices.ContainsFunc(schemas, func(s *jsonschema.Schema) bool { return len(u.ofProperty(s, name)) > 0 }) {
			strange = append(strange, name)
		}
	}
	for name, sent := range declared {
		if !sent {
			missing = append(missing, name)
		}
	}
	slices.Sort(strange)
	slices.Sort(missing)
	missing = missing[:min(len(missing), maxDeclared)]
	for _, name := range strange {
		if u.left -= 1 + len(missing); u.left <= 0 || len(u.found) == maxUndeclared {
			return
		}
		if like := nearest.Names(name, missing, 1); len(like) > 0 {
			u.found = append(u.found, Undeclared{Path: jsontext.Path(append(slices.Clip(at), name)), Like: like[0]})
		}
	}
}

// sent reports whether an object has a property with a value other than its default. A repair fills
// in the default.
func sent(object map[string]any, name string, s *jsonschema.Schema) bool {
	value, is := object[name]
	if !is {
		return false
	}
	byDefault := defaultOf(s)
	return byDefault == nil || !reflect.DeepEqual(value, *byDefault)
}

// misspelled returns a sentence for each undeclared property, with the declared name that it
// resembles.
func misspelled(all []Undeclared) []string {
	var words []string
	for _, u := range all {
		words = append(words, u.Path+": is not declared; did you mean "+jsontext.Quote(u.Like)+"?")
	}
	return words
}

// Refusal returns an error for arguments that fit but seem to be misspelled, if the operator
// refuses those.
func Refusal(all []Undeclared) error {
	return notFitting(misspelled(all))
}

// likely returns a text that says which missing declared names the unknown names of an object
// resemble.
func likely(strange []string, s *jsonschema.Schema, value any) string {
	object, _ := value.(map[string]any)
	var missing, all []string
	if s != nil {
		for name, sub := range s.Properties {
			if !sent(object, name, sub) {
				missing = append(missing, name)
			}
		}
	}
	slices.Sort(missing)
	missing = missing[:min(len(missing), maxDeclared)]
	for _, name := range slices.Sorted(slices.Values(strange))[:min(len(strange), maxProblems)] {
		if like := nearest.Names(name, missing, 1); len(like) > 0 {
			all = append(all, jsontext.Quote(like[0])+" instead of "+jsontext.Quote(name))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(all, ", ") + "?"
}
