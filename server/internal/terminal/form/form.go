// Package form turns the JSON Schema of a question into the inputs that a person fills in one after
// the other, and the texts that a person typed into a JSON object. The text of a question comes
// from a plugin: the caller escapes what it prints. The package reads and writes nothing.
package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Field is one input: a property of the schema.
type Field struct {
	Name        string
	Label       string // the title of the property; empty: it has none
	Description string
	// Type is string, number, integer or boolean. Empty means that the person types JSON.
	Type     string
	Choices  []string // the only values of a text; empty: any
	Default  string   // what an empty line means, as a person would type it; empty: nothing
	Required bool
}

// property is a property of a schema, as far as a form understands it.
type property struct {
	Type        any             `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Enum        []any           `json:"enum"`
	Default     json.RawMessage `json:"default"`
}

// Fields returns the inputs of a schema of type object, in the order of its properties. It returns
// none for a schema that is not an object with properties.
func Fields(schema json.RawMessage) []Field {
	var root struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &root) != nil || len(root.Properties) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(root.Properties))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil
	}
	var fields []Field
	for d.More() {
		name, err := d.Token()
		var p property
		if err != nil || d.Decode(&p) != nil {
			return nil
		}
		field := fieldOf(name.(string), p)
		field.Required = slices.Contains(root.Required, field.Name)
		fields = append(fields, field)
	}
	return fields
}

func fieldOf(name string, p property) Field {
	f := Field{Name: name, Label: p.Title, Description: p.Description}
	switch p.Type {
	case "string", "number", "integer", "boolean":
		f.Type = p.Type.(string)
	}
	for _, value := range p.Enum {
		text, ok := value.(string)
		if !ok {
			f.Type, f.Choices = "", nil
			break
		}
		f.Choices = append(f.Choices, text)
	}
	if len(p.Default) > 0 {
		f.Default = string(p.Default)
		var text string
		if f.Type == "string" && json.Unmarshal(p.Default, &text) == nil {
			f.Default = text
		}
	}
	return f
}

// DeclineWord is what a person types to refuse an answer.
const DeclineWord = "/decline"

// TakesEmpty reports whether an empty line is an answer: the default, or no value.
func (f *Field) TakesEmpty() bool { return !f.Required || f.Default != "" }

// Prompt returns the text that asks for the field, in one line.
func (f *Field) Prompt() string {
	var b strings.Builder
	b.WriteString(f.Name)
	if f.Label != "" && f.Label != f.Name {
		fmt.Fprintf(&b, " (%s)", f.Label)
	}
	if f.Description != "" {
		fmt.Fprintf(&b, ", %s", f.Description)
	}
	var notes []string
	switch {
	case len(f.Choices) > 0:
		for i, choice := range f.Choices {
			notes = append(notes, fmt.Sprintf("%d %s", i+1, choice))
		}
	case f.Type == "boolean":
		notes = append(notes, "yes or no")
	case f.Type == "":
		notes = append(notes, "JSON")
	case f.Type != "string":
		notes = append(notes, f.Type)
	}
	switch {
	case f.Default != "":
		notes = append(notes, "empty: "+f.Default)
	case !f.Required:
		notes = append(notes, "may be empty")
	}
	if len(notes) > 0 {
		fmt.Fprintf(&b, " [%s]", strings.Join(notes, "; "))
	}
	return b.String()
}

// errEmpty is the error of an empty line for a field that needs a value.
var errEmpty = errors.New("it needs a value")

// Value returns the JSON value of what a person typed. nil without an error means that the person
// left the field out. The error says what to type.
func (f *Field) Value(text string) (json.RawMessage, error) {
	typed := strings.TrimSpace(text)
	if typed == "" {
		typed = f.Default
	}
	if typed == "" && f.Required {
		return nil, errEmpty
	}
	if typed == "" {
		return nil, nil
	}
	switch {
	case len(f.Choices) > 0:
		return f.choice(typed)
	case f.Type == "string":
		return json.Marshal(typed)
	case f.Type == "boolean":
		return truth(typed)
	case f.Type == "integer":
		if _, err := strconv.ParseInt(typed, 10, 64); err != nil {
			return nil, errors.New("type a whole number")
		}
	case f.Type == "number":
		if _, err := strconv.ParseFloat(typed, 64); err != nil || !json.Valid([]byte(typed)) {
			return nil, errors.New("type a number")
		}
	}
	if !json.Valid([]byte(typed)) {
		return nil, errors.New("type a JSON value")
	}
	return json.RawMessage(typed), nil
}

// choice accepts a value, its number in the prompt, or the beginning of exactly one value, in upper
// or lower case. A number that the prompt does not have is mistyped, and no beginning.
func (f *Field) choice(typed string) (json.RawMessage, error) {
	if slices.Contains(f.Choices, typed) {
		return json.Marshal(typed)
	}
	n, err := strconv.ParseUint(typed, 10, 64)
	if err == nil && n >= 1 && n <= uint64(len(f.Choices)) {
		return json.Marshal(f.Choices[n-1])
	}
	var begun []string
	for _, choice := range f.Choices {
		if err != nil && strings.HasPrefix(strings.ToLower(choice), strings.ToLower(typed)) {
			begun = append(begun, choice)
		}
	}
	if len(begun) != 1 {
		return nil, fmt.Errorf("type one of the values, or a number from 1 to %d", len(f.Choices))
	}
	return json.Marshal(begun[0])
}

func truth(typed string) (json.RawMessage, error) {
	switch strings.ToLower(typed) {
	case "y", "yes", "true":
		return json.RawMessage("true"), nil
	case "n", "no", "false":
		return json.RawMessage("false"), nil
	default:
		return nil, errors.New("type yes or no")
	}
}

// Object returns the object with the values of fields, in the order of the fields. It leaves out
// fields without a value.
func Object(fields []Field, values map[string]json.RawMessage) json.RawMessage {
	object := []byte{'{'}
	for _, f := range fields {
		value, ok := values[f.Name]
		if !ok || value == nil {
			continue
		}
		name, err := json.Marshal(f.Name)
		if err != nil {
			continue // cannot happen: a string can be encoded
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(append(append(object, name...), ':'), value...)
	}
	return append(object, '}')
}
