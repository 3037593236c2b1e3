package arguments

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolhost/toolhost/internal/text/jsontext"
)

// aliasesKeyword is the keyword of a property's schema that lists other names by which models send
// the property. No model sees it: see WithoutAliases.
const aliasesKeyword = "x-toolhost-aliases"

// itsItem among the other names of a list of objects says that models send the properties of its
// only item in place of the list.
const itsItem = "*"

// aliases are the other names of an object's properties: the declared name by the other name. They
// are an extension of the object's schema that refuses nothing.
type aliases map[string]string

// Validate implements jsonschema.SchemaExt.
func (aliases) Validate(*jsonschema.ValidatorContext, any) {}

// aliasesIn returns the other names that a schema declares.
func aliasesIn(s *jsonschema.Schema) aliases {
	for _, ext := range s.Extensions {
		if names, ok := ext.(aliases); ok {
			return names
		}
	}
	return nil
}

// readAliases adds the other names to the schemas of their objects. The error is for the author of
// the schema.
func (s *Schema) readAliases(c *jsonschema.Compiler, doc any) (err error) {
	s.aliasesOf = map[string][]string{}
	eachSchema(doc, "", func(pointer string, schema map[string]any) {
		names, wrong := otherNames(schema)
		if wrong != "" {
			err = fmt.Errorf("%s/properties/%s: %s must be a list of names", pointer, wrong, aliasesKeyword)
		}
		part, failed := c.Compile(schemaURL + "#" + pointer)
		if len(names) == 0 || failed != nil {
			return
		}
		part.Extensions = append(part.Extensions, names)
		for _, other := range slices.Sorted(maps.Keys(names)) {
			s.aliasesOf[names[other]] = append(s.aliasesOf[names[other]], other)
		}
	})
	return err
}

// otherNames returns the other names of the properties that a schema declares, or the property
// whose names are not a list of names. It leaves out a name that the schema declares as a property,
// and one that it gives to two properties.
func otherNames(schema map[string]any) (names aliases, wrong string) {
	properties, _ := schema["properties"].(map[string]any)
	claims := map[string]int{}
	names = aliases{}
	for name, property := range properties {
		part, _ := property.(map[string]any)
		list, is := part[aliasesKeyword]
		if !is {
			continue
		}
		others, ok := list.([]any)
		if !ok {
			return nil, name
		}
		for _, other := range others {
			text, ok := other.(string)
			if !ok {
				return nil, name
			}
			if _, declared := properties[text]; !declared {
				names[text] = name
				claims[text]++
			}
		}
	}
	maps.DeleteFunc(names, func(other, _ string) bool { return claims[other] > 1 })
	return names, ""
}

// sentByAlias returns the other names under which an object has the properties that it does not
// have under their own. all are the schemas that apply to the object: a name that one of them
// declares is that property.
func sentByAlias(names aliases, v map[string]any, all []*jsonschema.Schema) map[string][]string {
	sent := map[string][]string{}
	for other, name := range names {
		_, given := v[other]
		_, has := v[name]
		declares := func(s *jsonschema.Schema) bool { return s.Properties[other] != nil }
		if other != itsItem && given && !has && !slices.ContainsFunc(all, declares) {
			sent[name] = append(sent[name], other)
		}
	}
	for _, others := range sent {
		slices.Sort(others)
	}
	return sent
}

// agree reports whether an object has one value under all of some names.
func agree(v map[string]any, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !reflect.DeepEqual(v[name], v[names[0]]) })
}

// renamed returns an object with its properties under their declared names. It changes no property
// that was sent under two other names with different values.
func (r *repairer) renamed(s *jsonschema.Schema, v map[string]any) map[string]any {
	names := aliasesIn(s)
	sent := sentByAlias(names, v, nil)
	if len(sent) == 0 {
		return v
	}
	out := maps.Clone(v)
	for name, others := range sentByAlias(names, v, r.all([]*jsonschema.Schema{s, r.whole})) {
		if !agree(v, others) {
			continue
		}
		out[name] = v[others[0]]
		for _, other := range others {
			delete(out, other)
		}
	}
	return out
}

// gathered returns an object in which the properties that no schema of it declares, and that an
// item of the list with the name itsItem declares, are the only item of that list. It changes
// nothing if the object has the list, or the list would not fit.
func (r *repairer) gathered(s *jsonschema.Schema, v map[string]any, depth int) map[string]any {
	name, is := aliasesIn(s)[itsItem]
	if _, has := v[name]; has || !is {
		return v
	}
	list := s.Properties[name]
	if list == nil {
		return v
	}
	var items []*jsonschema.Schema
	for _, part := range r.all([]*jsonschema.Schema{list}) {
		items = append(items, ofItem(part, 0))
	}
	items = r.all(items)
	around := r.all([]*jsonschema.Schema{s, r.whole})
	rest, item := maps.Clone(v), map[string]any{}
	for name, value := range v {
		declares := func(s *jsonschema.Schema) bool { return s.Properties[name] != nil }
		knows := func(s *jsonschema.Schema) bool { return declares(s) || aliasesIn(s)[name] != "" }
		if !slices.ContainsFunc(around, declares) && slices.ContainsFunc(items, knows) {
			item[name] = value
			delete(rest, name)
		}
	}
	if len(item) == 0 {
		return v
	}
	if rest[name] = r.value(list, []any{item}, depth+1); !r.fits(list, rest[name]) {
		return v
	}
	return rest
}

// contradictions returns a sentence for each property that was sent under two other names with
// different values.
func (s *Schema) contradictions(v any) []string {
	if len(s.aliasesOf) == 0 {
		return nil
	}
	var sentences []string
	u := speller{work: s.work(maxUndeclaredSteps)}
	u.examine = func(all []*jsonschema.Schema, object map[string]any, at []string) {
		for _, part := range all {
			for name, others := range sentByAlias(aliasesIn(part), object, all) {
				if !agree(object, others) {
					sentences = append(sentences, fmt.Sprintf("%s: %s are other names of %s, and their values differ; send %s alone",
						jsontext.Path(at), jsontext.Names(others), jsontext.Quote(name), jsontext.Quote(name)))
				}
			}
		}
	}
	u.visit([]*jsonschema.Schema{s.compiled}, v, nil)
	slices.Sort(sentences)
	sentences = slices.Compact(sentences)
	return sentences[:min(len(sentences), maxProblems)]
}

// WithoutAliases returns a schema as models and clients see it: without the keyword
// x-toolhost-aliases, in the order of its author. It returns a schema without that keyword, and a
// text that is no JSON, unchanged.
func WithoutAliases(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte(aliasesKeyword)) && !bytes.Contains(schema, []byte(`\u`)) {
		return schema
	}
	f := filter{decoder: json.NewDecoder(bytes.NewReader(schema)), text: schema}
	f.decoder.UseNumber()
	if f.value(ofSchema) != nil || !f.cut {
		return schema
	}
	return f.out
}

// filter copies the text of a schema without the keyword of aliases.
type filter struct {
	decoder *json.Decoder
	text    []byte
	out     []byte
	cut     bool // something was left out
}

// next copies the next token.
func (f *filter) next() (json.Token, error) {
	start := f.decoder.InputOffset()
	token, err := f.decoder.Token()
	f.out = append(f.out, bytes.TrimLeft(f.text[start:f.decoder.InputOffset()], " \t\r\n,:")...)
	return token, err
}

// value copies the next value, which has a place in the schema.
func (f *filter) value(p place) error {
	opening, err := f.next()
	if opening != json.Delim('{') && opening != json.Delim('[') {
		return err
	}
	for first := true; err == nil && f.decoder.More(); {
		mark := len(f.out)
		if !first {
			f.out = append(f.out, ',')
		}
		within := p
		if opening == json.Delim('{') {
			var name json.Token
			if name, err = f.next(); err != nil {
				return err
			}
			f.out = append(f.out, ':')
			if p == ofSchema && name == aliasesKeyword {
				f.out, f.cut = f.out[:mark], true
				if err := f.decoder.Decode(new(json.RawMessage)); err != nil {
					return err
				}
				continue
			}
			within = p.member(name.(string))
		}
		first, err = false, f.value(within)
	}
	if err == nil {
		_, err = f.next()
	}
	return err
}
