package sdk

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
)

// A value without a JSON form is taken apart to this depth, and into this many parts. What is
// deeper, or comes later, becomes text.
const (
	plainDepth = 32
	plainParts = 1000
)

// plainer converts a value without a JSON form, such as one with a NaN, a channel or a cycle. The
// tool has been executed, so that an error would lose what it says about its effects.
type plainer struct {
	places []string         // the paths of the parts that became text
	opened map[any]struct{} // the pointers, maps and slices that were taken apart
	parts  int              // parts that were taken apart
}

// encodePlain returns the JSON form of a value, in which parts without one are texts, and names
// these parts.
func encodePlain(value any) (text json.RawMessage, places []string, err error) {
	p := plainer{opened: map[any]struct{}{}}
	text, err = encodeJSON(p.part(reflect.ValueOf(value), "", 0))
	return text, p.places, err
}

// part returns what represents a part of the value at a path.
func (p *plainer) part(v reflect.Value, path string, depth int) any {
	if !v.IsValid() {
		return nil
	}
	if text, err := tryJSON(v.Interface()); err == nil {
		return text
	}
	// A type that encodes itself may hide fields.
	if p.parts++; depth == plainDepth || p.parts > plainParts || encodesItself(v.Type()) {
		return p.text(v, path)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		id := [2]any{v.Pointer(), v.Type()}
		if _, again := p.opened[id]; again {
			return p.text(v, path)
		}
		p.opened[id] = struct{}{}
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
		return p.text(v, path)
	}
}

// fields returns the fields of a struct as encoding/json names them. Those of an embedded struct
// without a name are its own, unless it has a field of the same name. The option "string" has no
// effect.
func (p *plainer) fields(v reflect.Value, path string, depth int) map[string]any {
	parts, inner := map[string]any{}, map[string]any{}
	for field, value := range v.Fields() {
		tag := field.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if field.Anonymous && name == "" {
			for value.Kind() == reflect.Pointer && !value.IsNil() {
				value = value.Elem()
			}
			if value.Kind() == reflect.Struct && depth < plainDepth {
				maps.Copy(inner, p.fields(value, path, depth+1))
				continue
			}
		}
		if tag == "-" || !field.IsExported() || omitted(value, options) {
			continue
		}
		if name == "" {
			name = field.Name
		}
		parts[name] = p.part(value, join(path, name), depth+1)
	}
	maps.Copy(inner, parts)
	return inner
}

// omitted reports whether the options of a tag leave out a value.
func omitted(v reflect.Value, options string) bool {
	empty := v.IsZero()
	if k := v.Kind(); k == reflect.Map || k == reflect.Slice {
		empty = v.Len() == 0
	}
	for option := range strings.SplitSeq(options, ",") {
		if option == "omitempty" && empty && v.Kind() != reflect.Struct || option == "omitzero" && v.IsZero() {
			return true
		}
	}
	return false
}

// encodesItself reports whether a method decides how a type is encoded.
func encodesItself(t reflect.Type) bool {
	for _, t := range []reflect.Type{t, reflect.PointerTo(t)} {
		if t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return true
		}
	}
	return false
}

// text returns the text of a part that has no JSON form.
func (p *plainer) text(v reflect.Value, path string) any {
	if path == "" {
		path = "the whole"
	}
	p.places = append(p.places, path)
	if raw, ok := v.Interface().(json.RawMessage); ok {
		return string(raw)
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
