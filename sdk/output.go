package sdk

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/tool"
)

// mostNamed bounds the parts of a value that a warning names.
const mostNamed = 5

// resultOf converts what a tool returned into a result. A part of a value that has no JSON form
// becomes text, and warn gets a message that names it. The error says that the tool made blocks,
// metadata or effects that are not well-formed.
func resultOf(value any, warn func(message string)) (tool.Result, error) {
	switch v := value.(type) {
	case nil, struct{}:
		return tool.Result{}, nil
	case string:
		return wellFormed(tool.TextResult(v))
	case tool.Result:
		return wellFormed(v)
	case *tool.Result:
		if v == nil {
			return tool.Result{}, nil
		}
		return wellFormed(*v)
	case tool.Content:
		return wellFormed(tool.Result{Content: []tool.Content{v}})
	case []tool.Content:
		return wellFormed(tool.Result{Content: v})
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && v.IsNil() {
		return tool.Result{}, nil
	}
	text, err := tryJSON(value)
	if err != nil {
		var places []string
		if text, places, err = encodePlain(value); err != nil {
			return tool.Result{}, fmt.Errorf("encoding the result of type %T: %w", value, err)
		}
		warn(fmt.Sprintf("the result of type %T has parts without a JSON form, which became text: %s", value, strings.Join(places[:min(len(places), mostNamed)], ", ")))
	}
	return tool.Result{Content: []tool.Content{tool.JSON(text)}}, nil
}

// wellFormed checks the JSON in a result and replaces invalid UTF-8 in its texts. It removes the
// effects of a failed result.
func wellFormed(r tool.Result) (tool.Result, error) {
	mended := false
	for i := range r.Content {
		block := &r.Content[i]
		if block.Kind == tool.ContentJSON && !json.Valid(block.JSON) {
			return tool.Result{}, fmt.Errorf("block %d of the result is not JSON", i+1)
		}
		// Checking is ten times as fast as replacing
		if utf8.ValidString(block.Text) && utf8.ValidString(block.Name) {
			continue
		}
		if !mended { // copy on the first change: the tool's slice stays unchanged
			r.Content, mended = slices.Clone(r.Content), true
			block = &r.Content[i]
		}
		block.Text, block.Name = strings.ToValidUTF8(block.Text, "\uFFFD"), strings.ToValidUTF8(block.Name, "\uFFFD")
	}
	for key, value := range r.Metadata {
		if !json.Valid(value) {
			return tool.Result{}, fmt.Errorf("the metadata %q of the result is not JSON", key)
		}
	}
	if r.IsError {
		r.Effects = nil
	}
	for i, effect := range r.Effects {
		if effect.Key == "" || !json.Valid(effect.Value) {
			return tool.Result{}, fmt.Errorf("effect %d of the result has no key, or a value that is not JSON", i+1)
		}
	}
	return r, nil
}
