// Package arguments turns what a model wrote into arguments that a tool can be given: it parses the text, repairs and
// validates it by the tool's schema and says what is wrong in words that a model can act on.
//
// It knows no calls and starts nothing. Reading an incomplete text is internal/partialjson.
package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a compiled JSON Schema (2020-12 unless it names draft-07 or another). It is safe for concurrent use. The
// zero value is not usable: call Compile.
type Schema struct {
	compiled *jsonschema.Schema
}

const schemaURL = "toolhost:///schema.json"

// Compile checks and compiles a schema. An empty one allows only an empty object. References to other documents are
// refused: a schema must stand alone.
func Compile(schema json.RawMessage) (*Schema, error) {
	if len(bytes.TrimSpace(schema)) == 0 {
		schema = json.RawMessage(`{"type":"object","additionalProperties":false}`)
	}
	return compile(schema, jsonschema.Draft2020, refuseLoader{})
}

// compile compiles a schema that is of a draft unless it names another.
func compile(schema json.RawMessage, draft *jsonschema.Draft, loader jsonschema.URLLoader) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	c.UseLoader(loader)
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), schemaURL, "#"))
	}
	return &Schema{compiled: compiled}, nil
}

type refuseLoader struct{}

func (refuseLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, but a schema must stand alone", url)
}

// Parsed is argument text that is a JSON object.
type Parsed struct {
	// Canonical is the same value in one form: keys sorted, no white space, numbers as written. Two texts that mean the
	// same arguments have the same canonical form.
	Canonical json.RawMessage
	value     any
}

// Parse reads argument text. Empty text means {}. The error is written for a model.
func Parse(text []byte) (Parsed, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return Parsed{}, describeSyntax(text, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Parsed{}, fmt.Errorf("the arguments are not valid JSON: something follows the object at byte %d: %s; "+
			"send one JSON object and nothing else", dec.InputOffset(), excerpt(text, int(dec.InputOffset())))
	}
	if _, ok := value.(map[string]any); !ok {
		return Parsed{}, fmt.Errorf("the arguments must be a JSON object such as {\"name\": \"value\"}, not %s", typeName(value))
	}
	canonical, err := encode(value)
	if err != nil {
		return Parsed{}, fmt.Errorf("the arguments cannot be used: %w", err)
	}
	return Parsed{Canonical: canonical, value: value}, nil
}

// encode writes a value in its canonical form.
func encode(value any) (json.RawMessage, error) {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(data.Bytes(), "\n"), nil
}

func describeSyntax(text []byte, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the arguments are not valid JSON: the text ends too early, after %d bytes: …%s; "+
			"send one complete JSON object", len(text), excerpt(text, len(text)-20))
	}
	if deeper(text) {
		return fmt.Errorf("the arguments cannot be used: they are nested deeper than %d levels; send them with fewer objects "+
			"and arrays within each other", maxDepth)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("the arguments are not valid JSON: %v at byte %d: %s; send one JSON object with double-quoted keys",
			syntax, syntax.Offset, excerpt(text, int(syntax.Offset)-10))
	}
	return fmt.Errorf("the arguments are not valid JSON: %w", err)
}

// maxDepth is how deep encoding/json lets objects and arrays be nested.
const maxDepth = 10_000

// deeper reports whether text is nested deeper than maxDepth, as far as it is JSON: encoding/json has no error of its own
// for that.
func deeper(text []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// excerpt returns a short quoted piece of text from a byte on.
func excerpt(text []byte, from int) string {
	from = max(0, min(from, len(text)))
	end := min(len(text), from+40)
	return fmt.Sprintf("%q", text[from:end])
}

func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	default:
		return "an object"
	}
}
