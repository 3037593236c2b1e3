package arguments

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/toolhost/toolhost/internal/text/jsontext"
)

// standsAlone reports whether the causes of an error are not problems by themselves. For contains,
// one of all items has to fit.
func standsAlone(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.Contains, *kind.MinContains, *kind.PropertyNames, *kind.ContentSchema:
		return true
	}
	return false
}

// sentence describes one problem: what is required, and what the value is.
func (e *explainer) sentence(err *jsonschema.ValidationError, at []string) string {
	value := e.valueAt(at)
	switch k := err.ErrorKind.(type) {
	case *kind.Required:
		return "missing " + jsontext.Names(k.Missing)
	case *kind.DependentRequired:
		return fmt.Sprintf("missing %s, which must be there when %s is", jsontext.Names(k.Missing), jsontext.Quote(k.Prop))
	case *kind.Dependency:
		return fmt.Sprintf("missing %s, which must be there when %s is", jsontext.Names(k.Missing), jsontext.Quote(k.Prop))
	case *kind.AdditionalProperties:
		return "unknown " + jsontext.Names(k.Properties) + "; " + e.allowed(err.SchemaURL) + likely(k.Properties, e.part(err.SchemaURL), value)
	case *kind.FalseSchema:
		return "nothing may be here, but there is " + jsontext.Show(value) + "; leave it out"
	case *kind.PropertyNames:
		return e.propertyName(err, k.Property)
	case *kind.UniqueItems:
		return fmt.Sprintf("must have no item twice, but [%d] and [%d] are equal in %s", k.Duplicates[0], k.Duplicates[1], jsontext.Show(value))
	case *kind.Type:
		return typeSentence(e.typed(k.Want, err.SchemaURL, value), k.Want, value)
	case *kind.Enum:
		return e.enumSentence(k.Want, value)
	case *kind.Contains:
		if must := common(err.Causes); must != "" {
			return fmt.Sprintf("at least one item must %s, but none is in %s", must, jsontext.Show(value))
		}
	case *kind.Format:
		return fmt.Sprintf("must be a valid %s%s, but is %s", k.Want, formatHint(k.Want), jsontext.Show(value))
	}
	if must := demand(err.ErrorKind); must != "" {
		return fmt.Sprintf("must %s, but is %s", must, jsontext.Show(value))
	}
	return fmt.Sprintf("%s; it is %s", jsontext.Cut(err.ErrorKind.LocalizedString(e.printer)), jsontext.Show(value))
}

// typeSentence says which types a value must have, and what to send instead if that is clear.
// Models often send an object or array as text, or one item in place of a list.
func typeSentence(must string, want []string, value any) string {
	return fmt.Sprintf("must be %s, but is %s%s", must, given(value), typeHint(want, value))
}

// typeHint says what to send instead of a value of the wrong type. It returns "" if that is not
// clear.
func typeHint(want []string, value any) string {
	const short = 80
	text, isText := value.(string)
	switch value.(type) {
	case nil:
		return ""
	case bool, json.Number:
		if slices.Contains(want, "string") && len(want) <= 2 {
			return "; send " + jsontext.Show(jsontext.Show(value))
		}
	}
	switch _, isList := value.([]any); {
	case isText && slices.Contains(want, "array") && jsontext.Holds(text, '['):
		return "; send the array itself, without quotes around it"
	case isText && slices.Contains(want, "object") && jsontext.Holds(text, '{'):
		return "; send the object itself, without quotes around it"
	case isText && slices.Contains(want, "array") && jsontext.Bracketed(text, "[]"):
		return "; send the array itself, as JSON and without quotes around it"
	case isText && slices.Contains(want, "object") && jsontext.Bracketed(text, "{}"):
		return "; send the object itself, as JSON and without quotes around it"
	case slices.Contains(want, "array") && !isList:
		if shown := jsontext.Show(value); len(shown) <= short {
			return "; for one item, send [" + shown + "]"
		}
		return "; for one item, send an array of it"
	}
	return ""
}

// common returns the demand that all errors share, or "" if they differ.
func common(errs []*jsonschema.ValidationError) string {
	must := ""
	for i, err := range errs {
		next := demand(err.ErrorKind)
		if i > 0 && next != must {
			return ""
		}
		must = next
	}
	return must
}

// part returns the part of the schema at a location, or nil.
func (e *explainer) part(location string) *jsonschema.Schema {
	if e.parts == nil {
		e.parts = locations(e.schema.compiled)
	}
	return e.parts[location]
}

// allowed lists the properties that the schema at a location allows.
func (e *explainer) allowed(location string) string {
	s := e.part(location)
	if s == nil {
		return "allowed are only the properties that the schema names"
	}
	known := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		known = append(known, name)
	}
	var patterns []string
	for pattern := range s.PatternProperties {
		patterns = append(patterns, pattern.String())
	}
	slices.Sort(patterns)
	matching := "names that match " + jsontext.Cut(strings.Join(patterns, " or "))
	switch {
	case len(known)+len(patterns) == 0:
		return "none is allowed"
	case len(known) == 0:
		return "allowed are only " + matching
	case len(patterns) == 0:
		return "allowed are only " + jsontext.Names(known)
	}
	return "allowed are only " + jsontext.Names(known) + ", and " + matching
}

// propertyName describes an error of propertyNames. The causes describe the name as if it were a
// value by itself.
func (e *explainer) propertyName(err *jsonschema.ValidationError, name string) string {
	var whys []string
	for _, cause := range err.Causes {
		if must := demand(cause.ErrorKind); must != "" {
			whys = append(whys, "must "+must)
		}
	}
	if len(whys) == 0 {
		return fmt.Sprintf("a property may not have the name %s", jsontext.Quote(name))
	}
	return fmt.Sprintf("the name of the property %s %s", jsontext.Quote(name), strings.Join(whys, " and "))
}

// given describes a value by its type and text.
func given(value any) string {
	if value == nil {
		return "null"
	}
	_, name, _ := strings.Cut(jsontext.TypeName(value), " ")
	return name + " " + jsontext.Show(value)
}

// formatHint returns an example of a format, or "" for an unknown format.
func formatHint(format string) string {
	example := map[string]string{
		"date-time": "2026-02-28T15:04:05Z", "date": "2026-02-28", "time": "15:04:05Z", "duration": "P1DT2H",
		"email": "name@example.com", "uri": "https://example.com/path", "uuid": "123e4567-e89b-12d3-a456-426614174000",
		"hostname": "www.example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uri-reference": "/path?query", "iri": "https://example.com/path",
		"iri-reference": "/path?query", "uri-template": "/items/{id}", "json-pointer": "/items/0", "relative-json-pointer": "1/items", "regex": "^[a-z]+$",
	}[format]
	if example == "" {
		return ""
	}
	return " such as " + example
}

// cutSentence shortens the problems of an alternative to a readable length.
func cutSentence(text string) string {
	const most = 400
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
