package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// decoder decodes arguments that fit a tool's schema into its input.
type decoder func(text json.RawMessage, in any) error

// decodeChecked is decodeStrictly for arguments that fit the schema derived from the input's type.
// That schema refuses unknown fields at every depth, so decodeChecked does not look for them again.
func decodeChecked(text json.RawMessage, in any) error {
	if unmarshal(text, in) == nil {
		return nil
	}
	return decodeStrictly(text, in) // its error has the details
}

// decodeStrictly decodes arguments that fit the schema into the tool's input. It fails if the
// schema allows a value that the Go type does not. The error is a text for a model.
func decodeStrictly(text json.RawMessage, in any) error {
	err := decodeInto(text, in)
	if err == nil {
		return nil
	}
	path, given := locate(reflect.TypeOf(in).Elem(), text)
	if path = strings.TrimPrefix(path, "."); path == "" {
		path = "arguments"
	}
	return fmt.Errorf("the arguments do not fit the tool:\n- %s: %s, but is %s", path, wanted(err), clip(string(given), 100))
}

func decodeInto(text json.RawMessage, in any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if mayRound(text, in) {
		return decodeExactly(d, in)
	}
	return d.Decode(in)
}

// wanted describes the value that Go expected in place of one that it refused with err.
func wanted(err error) string {
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("must fit the type %s", mismatch.Type)
	}
	if _, ok := errors.AsType[*time.ParseError](err); ok {
		return "must be a time as in RFC 3339, such as 2006-01-02T15:04:05Z"
	}
	return "must be a value that can be read (" + strings.TrimPrefix(err.Error(), "json: ") + ")"
}

// locate returns the path of the innermost value in text that does not decode into its part of t,
// and the value. encoding/json reports no path for types that decode themselves.
func locate(t reflect.Type, text json.RawMessage) (path string, value json.RawMessage) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if specialSchema(t) != nil {
		return "", text
	}
	try := func(name string, t reflect.Type, part json.RawMessage) bool {
		if decodeInto(part, reflect.New(t).Interface()) == nil {
			return false
		}
		path, value = locate(t, part)
		path = name + path
		return true
	}
	switch t.Kind() {
	case reflect.Struct:
		parts := partsOf[map[string]json.RawMessage](text)
		for _, field := range reflect.VisibleFields(t) {
			name, ok := jsonName(field)
			if part, given := parts[name]; ok && !field.Anonymous && given && try("."+name, field.Type, part) {
				return path, value
			}
		}
	case reflect.Map:
		parts := partsOf[map[string]json.RawMessage](text)
		for _, key := range slices.Sorted(maps.Keys(parts)) {
			if try("."+key, t.Elem(), parts[key]) {
				return path, value
			}
		}
	case reflect.Slice, reflect.Array:
		for i, part := range partsOf[[]json.RawMessage](text) {
			if try(fmt.Sprintf("[%d]", i), t.Elem(), part) {
				return path, value
			}
		}
	}
	return "", text
}

// partsOf returns the parts of an object or array, and nothing for any other text.
func partsOf[T any](text json.RawMessage) (parts T) {
	_ = json.Unmarshal(text, &parts)
	return parts
}

// clip shortens s to about n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
