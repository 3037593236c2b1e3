package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/tool"
)

// OpenAIDescription is the number of characters that OpenAI's servers accept in the description of
// a function. Other servers of the same protocol accept more.
const OpenAIDescription = 1024

// Definition is a tool in the form of a model API.
type Definition struct {
	Name        string
	Description string          // includes what the API has no other field for; may be empty
	Schema      json.RawMessage // of the arguments; its type is object
	// Names has the names of parameters in Schema by the tool's own names, for those that the API
	// refuses. See Renamed. Nil: all parameters keep their names.
	Names map[string]string
}

// ForOpenAI returns a tool as a function that is not strict, for OpenAI's APIs and servers of the
// same protocol. The description has at most longest characters; 0 means no bound. The error says
// why the APIs refuse the tool in every form.
func ForOpenAI(spec *tool.Spec, longest int) (Definition, error) {
	if err := checkUsable(spec); err != nil {
		return Definition{}, err
	}
	schema, refused, err := openAIRules.fit(spec.InputSchema)
	if err != nil {
		return Definition{}, err
	}
	return Definition{Name: spec.Name, Description: describe(spec, refused, spec.InputExamples, longest), Schema: schema}, nil
}

// ForAnthropic returns a tool as Anthropic's Messages API takes it, without its examples:
// FittingExamples returns those. Parameters with names that the API refuses have others, see
// Definition.Names. The error says why the API refuses the tool in every form.
func ForAnthropic(spec *tool.Spec) (Definition, error) {
	if err := checkUsable(spec); err != nil {
		return Definition{}, err
	}
	schema, refused, err := anthropicRules.fit(spec.InputSchema)
	if err != nil {
		return Definition{}, err
	}
	schema, names, err := acceptable(schema)
	if err != nil {
		return Definition{}, err
	}
	return Definition{spec.Name, describe(spec, refused, nil, 0), schema, names}, nil
}

// geminiRules keep keywords away from the root at which Gemini expects nothing but an object with
// properties.
var geminiRules = schemaRules{properties: true, refused: []string{"oneOf", "anyOf", "allOf", "enum", "not"}}

// ForGemini returns a tool as a function of the Gemini API, whose schema is JSON Schema
// (parametersJsonSchema). The error says why the API refuses the tool in every form.
func ForGemini(spec *tool.Spec) (Definition, error) {
	if err := checkUsable(spec); err != nil {
		return Definition{}, err
	}
	schema, refused, err := geminiRules.fit(spec.InputSchema)
	if err != nil {
		return Definition{}, err
	}
	return Definition{Name: spec.Name, Description: describe(spec, refused, spec.InputExamples, 0), Schema: schema}, nil
}

// checkUsable returns an error unless every API accepts the tool's name, and its schema is empty or
// JSON.
func checkUsable(spec *tool.Spec) error {
	if err := tool.CheckName(spec.Name); err != nil {
		return fmt.Errorf("the API refuses the name of the tool: %w", err)
	}
	if len(spec.InputSchema) > 0 && !json.Valid(spec.InputSchema) {
		return errors.New("its input schema is not JSON")
	}
	return nil
}

// unacceptable returns the first parameter of a schema whose name Anthropic's API refuses.
func unacceptable(schema json.RawMessage) (name string, found bool) {
	root, _ := parseObject(schema)
	properties, _ := parseObject(root.get("properties"))
	for _, m := range properties {
		if !anthropicProperty.MatchString(m.name) {
			return m.name, true
		}
	}
	return "", false
}

func refusedName(name string) error {
	return fmt.Errorf("the API of Anthropic refuses the parameter name %q: it accepts 1 to 64 of the characters A-Z a-z 0-9 _ . -", name)
}

// describe returns a tool's description, followed by everything for which the API has no other
// field. The result has at most longest characters; 0 means no bound. If it is too long, describe
// omits examples first, and then cuts the author's text, because the conditions on arguments matter
// more.
func describe(spec *tool.Spec, refused object, examples []tool.InputExample, longest int) string {
	text, rest := strings.TrimSpace(spec.Description), ""
	if len(refused) > 0 {
		rest = "\n\nThe arguments must also fit this JSON Schema: " + string(compact(refused.text()))
	}
	if longest > 0 {
		if utf8.RuneCountInString(rest) > longest/2 {
			rest = "" // the tool's error will explain it on a call
		}
		text = shorten(text, longest-utf8.RuneCountInString(rest))
	}
	text += rest
	heading := "\n\nExamples of arguments:"
	for _, e := range examples {
		line := heading + "\n- "
		if e.Description != "" {
			line += e.Description + ": "
		}
		line += string(compact(orEmpty(e.Arguments)))
		if longest == 0 || utf8.RuneCountInString(text)+utf8.RuneCountInString(line) <= longest {
			text, heading = text+line, ""
		}
	}
	return text
}

// shorten returns at most that many characters of a text. It marks a cut.
func shorten(text string, most int) string {
	for i, n := 0, 0; i < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[i:])
		if n == most-1 && i+size < len(text) {
			return text[:i] + "…"
		}
		i += size
	}
	return text
}
