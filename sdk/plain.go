package sdk

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// mostPlain bounds how deep a value without a JSON form is taken apart. A deeper part, as of a
// cycle, becomes text.
const mostPlain = 32

// plainer converts a value without a JSON form, such as one with a NaN, a channel or a cycle. The
// tool has been executed, so that an error would lose what it says about its effects.
type plainer struct {
	places []string         // the paths of the parts that became text
	around map[any]struct{} // the pointers, maps and slices that contain the current part
}

// encodePlain returns the JSON form of a value, in which parts without one are texts, and names
// these parts.
func encodePlain(value any) (text json.RawMessage, places []string, err error) {
	p := plainer{around: map[any]struct{}{}}
	text, err = encodeJSON(p.part(reflect.ValueOf(value), "", 0))
	return text, p.places, err
}

// part returns what represents a part of the value at a path.
func (p *plainer) part(v reflect.Value, path string, depth int) any {
	if !v.IsValid() || !v.CanInterface() {
		return nil
	}
	if text, err := tryJSON(v.Interface()); err == nil {
		return text
	}
	if raw, ok := v.Interface().(json.RawMessage); ok || depth == mostPlain {
		return p.text(v, path, string(raw))
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		id := [2]any{v.Pointer(), v.Type()}
		if _, again := p.around[id]; again {
			return p.text(v, path, "")
		}
		p.around[id] = struct{}{}
		defer delete(p.around, id)
	default:
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return p.part(v.Elem(), path, depth+1)
	case reflect.Struct:
		return p.fields(v, path, depth)
	case reflect.Map:
		parts := map[string]any{}
		for key, element := range v.Seq2() {
			name := fmt.Sprint(key)
			parts[name] = p.part(element, join(path, name), depth+1)
		}
		return parts
	case reflect.Slice, reflect.Array:
		parts := make([]any, v.Len())
		for i := range parts {
			parts[i] = p.part(v.Index(i), fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
		return parts
	default:
		return p.text(v, path, "")
	}
}

// fields returns the fields of a struct by their names in JSON. Those of an embedded struct without
// a name are its own.
func (p *plainer) fields(v reflect.Value, path string, depth int) any {
	parts := map[string]any{}
	for field, value := range v.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Tag.Get("json") == "-" || !field.IsExported():
			continue
		case field.Anonymous && name == "":
			if inner, ok := p.part(value, path, depth+1).(map[string]any); ok {
				for name, part := range inner {
					parts[name] = part
				}
				continue
			}
		}
		if name == "" {
			name = field.Name
		}
		parts[name] = p.part(value, join(path, name), depth+1)
	}
	return parts
}

// text returns the text of a part that has no JSON form; said, if there is one.
func (p *plainer) text(v reflect.Value, path, said string) any {
	if path == "" {
		path = "the whole"
	}
	p.places = append(p.places, path)
	if said != "" {
		return said
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128, reflect.String: // such as a json.Number
		return fmt.Sprint(v.Interface())
	default: // the text of a cycle or a function would be an address
		return "a value of type " + v.Type().String()
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// tryJSON returns the JSON form of a value. A method of the author's that panics is an error.
func tryJSON(value any) (text json.RawMessage, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	return encodeJSON(value)
}
