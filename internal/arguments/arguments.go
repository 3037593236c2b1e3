// Package arguments turns what a model wrote into arguments that a tool can be given: it parses the text, repairs and
// validates it by the tool's schema and says what is wrong in words that a model can act on.
//
// Texts come from models and schemas from plugins: whatever they hold, the work and the memory are bounded, and nothing
// is loaded from anywhere. The package knows no calls and starts nothing. Reading an incomplete text is
// internal/partialjson.
package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a compiled JSON Schema (2020-12 unless it names draft-07 or another). It is safe for concurrent use. The
// zero value is not usable: call Compile.
type Schema struct {
	compiled *jsonschema.Schema
	verdict  *jsonschema.Schema              // what does not fit compiled: it finds out without saying why
	dynamic  map[string][]*jsonschema.Schema // what references may lead to that are resolved late, by anchor
	patterns map[string]int                  // their sizes, as bounds counts them
	quick    *quick                          // says of plain arguments that nothing is to be done
}

const (
	schemaURL  = "toolhost:///schema.json"
	verdictURL = "toolhost:///verdict.json"
)

// Compile checks and compiles a schema. An empty one allows only an empty object. The standard formats are asserted in all
// drafts, unless the schema has "x-toolhost-formats": "annotation" at its root. It is refused if it refers to another
// document, for a schema must stand alone, or to itself without end, or holds a number that nothing can be compared
// with, or is so large, or nested so deep, that compiling it would take long.
func Compile(schema json.RawMessage) (*Schema, error) {
	if len(bytes.TrimSpace(schema)) == 0 {
		schema = json.RawMessage(`{"type":"object","additionalProperties":false}`)
	}
	return compile(schema, settings{draft: jsonschema.Draft2020, loader: refuseLoader{}, formats: true})
}

// whyUnusable says what is wrong with a schema, by places in it, without the names that the validator has for documents.
func whyUnusable(err error) string {
	text := err.Error()
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		var problems []string
		for line := range strings.Lines(invalid.Err.Error()) {
			line = strings.TrimLeft(strings.TrimSpace(line), "- ")
			if strings.HasPrefix(line, "at '") && !strings.HasSuffix(line, "Of' failed") { // a keyword of the meta-schema fails for the problems below it
				problems = append(problems, line)
			}
		}
		text = "it is not a valid JSON Schema: " + strings.Join(problems, "; ")
	}
	return strings.NewReplacer(schemaURL+"#", "#", schemaURL, "#").Replace(text)
}

// settings say how a schema is compiled.
type settings struct {
	draft   *jsonschema.Draft // unless the schema names another
	loader  jsonschema.URLLoader
	engine  jsonschema.RegexpEngine // matches patterns; nil: Go's does
	formats bool                    // format is asserted in all drafts, unless the schema says that it is an annotation
}

func compile(schema json.RawMessage, how settings) (s *Schema, err error) {
	defer survive(&err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if at, n := unusable(doc, isComparable); n != "" {
		return nil, fmt.Errorf("%s: the number %s is too large, too small or too long to compare with", path(at), cut(string(n)))
	}
	size := bounds{patterns: map[string]int{}}
	if err := size.take(doc, 0, 0); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(how.draft)
	c.UseLoader(how.loader)
	if how.engine != nil {
		c.UseRegexpEngine(how.engine)
	}
	if how.formats {
		useFormats(c, doc)
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
	if s.verdict, err = c.Compile(verdictURL); err != nil {
		return nil, err
	}
	s.quick = quickly(compiled, map[*jsonschema.Schema]*quick{})
	if w := s.work(maxSteps); !w.covers(compiled, map[string]any{}) {
		return nil, errors.New("it refers to itself without end, or takes too many steps to check even for {}")
	}
	return s, nil
}

// survive turns a panic of the validator into an error: schemas come from plugins, and one that the validator cannot
// bear must not take the process down.
func survive(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the schema cannot be used: the validator gave up: %v", r)
	}
}

type refuseLoader struct{}

func (refuseLoader) Load(address string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, but a schema must stand alone", address)
}

// dynamicAnchors returns what $dynamicRef, and under "" what $recursiveRef, may lead to: which of them depends on how
// validation came there.
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

// mentions reports whether a document has a property of that name somewhere.
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

// pointerToken writes a name as a token of a JSON pointer in the fragment of a URL.
func pointerToken(name string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}
