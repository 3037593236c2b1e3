package sdk

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// direction says what a schema describes: the input or the output of a tool.
type direction bool

const (
	input  direction = false
	output direction = true
)

// deriveSchema returns the schema of the JSON form of t, including its struct tags.
func deriveSchema(t reflect.Type, dir direction) (*jsonschema.Schema, error) {
	special, err := specialTypes(t, dir)
	if err != nil {
		return nil, err
	}
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: special})
	if err != nil {
		return nil, err
	}
	a := annotator{special: special, dir: dir}
	if err := a.annotate(t, schema, ""); err != nil {
		return nil, err
	}
	return schema, nil
}

// specialTypes returns schemas for the types in t whose JSON form differs from their Go kind. It
// refuses types without a JSON form.
func specialTypes(t reflect.Type, dir direction) (map[reflect.Type]*jsonschema.Schema, error) {
	w := typeWalk{
		dir:     dir,
		special: map[reflect.Type]*jsonschema.Schema{},
		open:    map[reflect.Type]bool{},
		done:    map[reflect.Type]bool{},
	}
	return w.special, w.visit(t, "the type")
}

// typeWalk visits every type inside a type once.
type typeWalk struct {
	dir        direction
	special    map[reflect.Type]*jsonschema.Schema
	open, done map[reflect.Type]bool
}

func (w *typeWalk) visit(t reflect.Type, path string) error {
	if s := specialSchema(t); s != nil {
		w.special[t] = w.written(t, s)
	}
	if w.special[t] != nil || w.done[t] {
		return nil
	}
	if w.open[t] {
		return fmt.Errorf("%s: the type %s contains itself; give a schema of your own in Spec.InputSchema or Spec.OutputSchema", path, t)
	}
	w.open[t] = true
	err := w.visitParts(t, path)
	w.open[t], w.done[t] = false, true
	return err
}

func (w *typeWalk) visitParts(t reflect.Type, path string) error {
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Errorf("%s: a value of type %s has no JSON form", path, t)
	case reflect.Interface:
		if w.dir == input && t.NumMethod() > 0 {
			return fmt.Errorf("%s: nothing can be decoded into the interface %s; use any or json.RawMessage", path, t)
		}
	case reflect.Pointer:
		return w.visit(t.Elem(), path)
	case reflect.Slice, reflect.Array:
		return w.visit(t.Elem(), path+"[]")
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return fmt.Errorf("%s: a map with keys of type %s; use string keys", path, t.Key())
		}
		return w.visit(t.Elem(), path+"[]")
	case reflect.Struct:
		return w.visitFields(t, path)
	}
	return nil
}

func (w *typeWalk) visitFields(t reflect.Type, path string) error {
	for field := range t.Fields() {
		if !field.IsExported() && !field.Anonymous || field.Tag.Get("json") == "-" {
			continue
		}
		at := "field " + strings.TrimPrefix(strings.TrimPrefix(path+"."+field.Name, "the type."), "field ")
		if err := checkField(field); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		if err := w.visit(field.Type, at); err != nil {
			return err
		}
	}
	return nil
}

// checkField refuses fields that encoding/json and the derived schema interpret differently.
func checkField(field reflect.StructField) error {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	if field.Anonymous {
		t := field.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch {
		case name != "":
			return fmt.Errorf("an embedded struct with a json name; give the field its own name")
		case t.Kind() != reflect.Struct:
			return fmt.Errorf("only structs can be embedded; give the field a name")
		case field.Type.Kind() == reflect.Pointer && !field.IsExported():
			return fmt.Errorf("a pointer to an unexported struct cannot be embedded; embed the struct itself")
		}
	}
	if slices.Contains(strings.Split(options, ","), "string") {
		return fmt.Errorf("the json option string is not supported; declare the field as a string")
	}
	return nil
}

// specialSchema returns the schema of a type whose JSON form depends on a method or a special rule
// of encoding/json, or nil.
func specialSchema(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{}
	case reflect.TypeFor[[]byte]():
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[json.Number]():
		return &jsonschema.Schema{Type: "number"}
	case reflect.TypeFor[big.Int]():
		return &jsonschema.Schema{Type: "integer"}
	}
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return nil
	}
	p := reflect.PointerTo(t)
	switch {
	case p.Implements(reflect.TypeFor[json.Marshaler]()), p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return &jsonschema.Schema{}
	case p.Implements(reflect.TypeFor[encoding.TextMarshaler]()), p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// written returns the special schema of a type as its values are written. A nil slice of bytes is
// null. A value whose methods have pointer receivers, such as a big.Int, is written without them
// where it has no address, as in a map.
func (w *typeWalk) written(t reflect.Type, s *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case w.dir == input:
		return s
	case t == reflect.TypeFor[[]byte]():
		return &jsonschema.Schema{Types: []string{"null", "string"}, ContentEncoding: s.ContentEncoding}
	case t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[json.Number](), t == reflect.TypeFor[json.RawMessage](),
		t.Implements(reflect.TypeFor[json.Marshaler]()), t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return s
	}
	return &jsonschema.Schema{}
}

// annotator adds to a derived schema what the library omits: the keywords of the struct tags, and
// the type null for exactly those values that encoding/json can write as null.
type annotator struct {
	special map[reflect.Type]*jsonschema.Schema
	dir     direction
}

func (a annotator) annotate(t reflect.Type, s *jsonschema.Schema, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if special := a.special[t]; special != nil {
		if special.Type == "" {
			s.Types = nil // the library treats a pointer to any as null only
		}
		return nil
	}
	switch t.Kind() {
	case reflect.Slice:
		if a.dir == input {
			s.Type, s.Types = "array", nil
		}
		return a.annotate(t.Elem(), s.Items, path+"[]")
	case reflect.Array:
		return a.annotate(t.Elem(), s.Items, path+"[]")
	case reflect.Map:
		if a.dir == output {
			s.Type, s.Types = "", []string{"null", "object"}
		}
		return a.annotate(t.Elem(), s.AdditionalProperties, path+"[]")
	case reflect.Struct:
		if s.Properties == nil {
			s.Properties = map[string]*jsonschema.Schema{}
		}
		return a.annotateFields(t, s, path)
	}
	return nil
}

func (a annotator) annotateFields(t reflect.Type, s *jsonschema.Schema, path string) error {
	seen := map[string]bool{}
	for _, field := range reflect.VisibleFields(t) {
		name, ok := jsonName(field)
		if !ok || field.Anonymous {
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		if seen[name] {
			return fmt.Errorf("field %s: another field has that name in JSON", at)
		}
		seen[name] = true
		property := s.Properties[name]
		if property == nil {
			return fmt.Errorf("field %s: the schema has no such property", at)
		}
		if err := a.annotate(field.Type, property, at); err != nil {
			return err
		}
		if err := applyTags(property, field); err != nil {
			return fmt.Errorf("field %s: %w", at, err)
		}
		if property.Default != nil {
			s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
		}
	}
	return nil
}

// jsonName returns the JSON name of a field, or false if it has none.
func jsonName(field reflect.StructField) (string, bool) {
	tag := field.Tag.Get("json")
	if !field.IsExported() || tag == "-" {
		return "", false
	}
	if name, _, _ := strings.Cut(tag, ","); name != "" {
		return name, true
	}
	return field.Name, true
}
