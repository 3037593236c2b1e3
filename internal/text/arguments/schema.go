// Package arguments turns the text that a model wrote into arguments for a tool. It parses the
// text, repairs it, validates it by the tool's schema, and explains in words for a model what is
// wrong.
//
// Texts come from models and schemas from plugins. The work and the memory are bounded for all of
// them, and the package loads nothing. It knows no calls and starts no goroutines. Package
// partialjson reads incomplete texts.
package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolhost/toolhost/internal/text/jsontext"
)

// Parsed is argument text that was parsed as JSON.
type Parsed = jsontext.Parsed

// Parse parses argument text, a JSON object. See jsontext.Parse.
func Parse(text []byte) (Parsed, error) { return jsontext.Parse(text) }

// ParseValue parses any JSON value, such as a structured result. See jsontext.ParseValue.
func ParseValue(text []byte) (Parsed, error) { return jsontext.ParseValue(text) }

// Schema is a compiled JSON Schema. Its draft is 2020-12 unless the schema names another. Use
// Compile to create one; the zero value is not usable. It is safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	// The negation of compiled: it decides without collecting reasons.
	verdict *jsonschema.Schema
	// The targets of $dynamicRef by anchor; of $recursiveRef under "".
	dynamic  map[string][]*jsonschema.Schema
	patterns map[string]int // the size of each pattern, as counted by bounds
	// The other names of properties, by the declared name, of all objects.
	aliasesOf map[string][]string
	// Recognizes ordinary arguments that need no repair; nil: none.
	quick *quick
}

const (
	schemaURL  = "toolhost:///schema.json"
	verdictURL = "toolhost:///verdict.json"
)

// Compile checks and compiles a schema. An empty schema allows only an empty object. The standard
// formats are asserted in all drafts, unless the schema has "x-toolhost-formats": "annotation" at
// its root. Compile reads "nullable": true of OpenAPI 3.0 as it is meant: null is allowed too. The
// keyword "x-toolhost-aliases" of a property lists other names of the property, for Repair.
//
// Compile returns an error if the schema refers to another document, because a schema must be
// self-contained; if it refers to itself without end; if it contains a number that cannot be
// compared; or if it is so large or so deeply nested that compiling it would take long.
func Compile(schema json.RawMessage) (*Schema, error) {
	if len(bytes.TrimSpace(schema)) == 0 {
		schema = json.RawMessage(`{"type":"object","additionalProperties":false}`)
	}
	return compile(schema, settings{draft: jsonschema.Draft2020, loader: refuseLoader{}, formats: true, nullable: true})
}

// CompileWithoutFormats compiles a schema like Compile, and asserts no formats.
func CompileWithoutFormats(schema json.RawMessage) (*Schema, error) {
	return compile(schema, settings{draft: jsonschema.Draft2020, loader: refuseLoader{}, formats: true, free: true, nullable: true})
}

// whyUnusable returns the message of a validator error with locations in the schema, without the
// validator's document URLs.
func whyUnusable(err error) string {
	text := err.Error()
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		var problems []string
		for line := range strings.Lines(invalid.Err.Error()) {
			line = strings.TrimLeft(strings.TrimSpace(line), "- ")
			// An error of allOf or anyOf of the metaschema repeats the errors below it.
			if strings.HasPrefix(line, "at '") && !strings.HasSuffix(line, "Of' failed") {
				problems = append(problems, line)
			}
		}
		text = "it is not a valid JSON Schema: " + strings.Join(problems, "; ")
	}
	return strings.NewReplacer(schemaURL+"#", "#", schemaURL, "#").Replace(text)
}

// settings select how compile compiles a schema.
type settings struct {
	draft  *jsonschema.Draft // used unless the schema names another
	loader jsonschema.URLLoader
	engine jsonschema.RegexpEngine // matches patterns; nil: package regexp
	// Assert format in all drafts, unless the schema makes it an annotation.
	formats bool
	free    bool // they are annotations, whatever the schema makes them
	// Read the keyword nullable of OpenAPI 3.0.
	nullable bool
}

func compile(schema json.RawMessage, how settings) (s *Schema, err error) {
	defer survive(&err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if at, n := jsontext.Unusable(doc, jsontext.IsComparable); n != "" {
		return nil, fmt.Errorf("%s: the number %s is too large, too small or too long to compare with", jsontext.Path(at), jsontext.Cut(string(n)))
	}
	size := bounds{patterns: map[string]int{}}
	if err := size.take(doc, 0, 0); err != nil {
		return nil, err
	}
	if how.nullable && mentions(doc, "nullable") {
		readNullable(doc)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(how.draft)
	c.UseLoader(how.loader)
	if how.engine != nil {
		c.UseRegexpEngine(how.engine)
	}
	if how.formats {
		useFormats(c, doc, how.free)
	}
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return nil, errors.New(whyUnusable(err))
	}
	verdict := map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "not": map[string]any{"$ref": schemaURL}}
	if err := c.AddResource(verdictURL, verdict); err != nil {
		return nil, err
	}
	s = &Schema{compiled: compiled, dynamic: dynamicAnchors(c, doc), patterns: size.patterns}
	s.takeOverNames()
	if mentions(doc, aliasesKeyword) {
		if err := s.readAliases(c, doc); err != nil {
			return nil, err
		}
	}
	if s.verdict, err = c.Compile(verdictURL); err != nil {
		return nil, err
	}
	s.quick = quickly(compiled, map[*jsonschema.Schema]*quick{})
	if w := s.work(maxSteps); !w.covers(compiled, map[string]any{}) {
		return nil, errors.New("it refers to itself without end, or takes too many steps to check even for {}")
	}
	return s, nil
}

// survive turns a panic of the validator into an error, so that a schema of a plugin cannot end the
// process.
func survive(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the schema cannot be used: the validator gave up: %v", r)
	}
}

type refuseLoader struct{}

func (refuseLoader) Load(address string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, but a schema must stand alone", address)
}

// dynamicAnchors returns the possible targets of $dynamicRef by anchor, and those of $recursiveRef
// under "". Which target applies depends on the path that validation takes.
func dynamicAnchors(c *jsonschema.Compiler, doc any) map[string][]*jsonschema.Schema {
	found := map[string][]*jsonschema.Schema{}
	var visit func(v any, pointer string)
	visit = func(v any, pointer string) {
		switch v := v.(type) {
		case map[string]any:
			if sch, err := c.Compile(schemaURL + "#" + pointer); err == nil {
				if sch.DynamicAnchor != "" {
					found[sch.DynamicAnchor] = append(found[sch.DynamicAnchor], sch)
				}
				if sch.RecursiveAnchor {
					found[""] = append(found[""], sch)
				}
			}
			for name, part := range v {
				visit(part, pointer+"/"+pointerToken(name))
			}
		case []any:
			for i, part := range v {
				visit(part, fmt.Sprintf("%s/%d", pointer, i))
			}
		}
	}
	if mentions(doc, "$dynamicRef") || mentions(doc, "$recursiveRef") {
		visit(doc, "")
	}
	return found
}

// mentions reports whether a document contains a property with that name at any depth.
func mentions(doc any, name string) bool {
	switch v := doc.(type) {
	case map[string]any:
		if _, ok := v[name]; ok {
			return true
		}
		for _, part := range v {
			if mentions(part, name) {
				return true
			}
		}
	case []any:
		for _, part := range v {
			if mentions(part, name) {
				return true
			}
		}
	}
	return false
}

// pointerToken returns a name as a token of a JSON pointer in a URL fragment.
func pointerToken(name string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}

// formatsKeyword makes format an annotation at the root of a schema: toolhost refuses no text for
// it.
const formatsKeyword = "x-toolhost-formats"

// beyondStandard are formats that the validator knows and JSON Schema does not define. An author
// may mean something else by them.
var beyondStandard = []string{"semver", "period"}

// useFormats makes the compiler assert the standard formats in all drafts, or in none if they are
// free or the schema makes them annotations.
func useFormats(c *jsonschema.Compiler, doc any, annotated bool) {
	anything := func(any) error { return nil }
	free := beyondStandard
	if root, ok := doc.(map[string]any); annotated || ok && root[formatsKeyword] == "annotation" {
		free = append(free, "json-pointer", "relative-json-pointer", "uuid", "duration", "ipv4", "ipv6", "hostname", "email", "date", "time",
			"date-time", "uri", "iri", "uri-reference", "iri-reference", "uri-template")
	} else {
		c.AssertFormat()
	}
	for _, name := range free {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: anything})
	}
}
