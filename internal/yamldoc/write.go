package yamldoc

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Bases has, for a type of value under names, the value that YAML compares each with: YAML omits
// the keys that are equal. YAML writes the values of other types whole.
type Bases map[reflect.Type]reflect.Value

// YAML returns v, a struct, as a file that decodes to the same struct. It has every key with its
// value; fields without a value are comments.
func YAML(v reflect.Value, bases Bases) []byte {
	w := writer{bases: bases}
	w.structure("", v, reflect.Value{})
	return w.Bytes()
}

// writer writes a struct as YAML, one value on a line.
type writer struct {
	bytes.Buffer
	bases Bases
}

// structure writes the fields of v. If base is valid, it omits the fields that are equal in base.
func (w *writer) structure(indent string, v, base reflect.Value) {
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i).Tag
		var same reflect.Value
		if base.IsValid() {
			same = base.Field(i)
			if reflect.DeepEqual(field.Interface(), same.Interface()) {
				continue
			}
		}
		key := indent + tag.Get("yaml") + ":"
		switch {
		case field.Kind() == reflect.Struct:
			fmt.Fprintln(w, key)
			w.structure(indent+"  ", field, same)
		case field.IsZero() && tag.Get("unset") != "": // an empty list differs from no list
			fmt.Fprintf(w, "%s# %s: # %s\n", indent, tag.Get("yaml"), tag.Get("unset"))
		default:
			w.value(indent, key, field, same, tag)
		}
	}
}

func (w *writer) value(indent, key string, v, base reflect.Value, tag reflect.StructTag) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Slice && v.Len() == 0:
		fmt.Fprintln(w, key, "[]")
	case v.Kind() == reflect.Slice:
		fmt.Fprintln(w, key)
		w.items(indent, v)
	case v.Kind() == reflect.Map && v.Len() == 0:
		fmt.Fprintln(w, key, "{}")
	case v.Kind() == reflect.Map:
		fmt.Fprintln(w, key)
		w.entries(indent, v, base)
	case v.Kind() == reflect.String && tag.Get("oneof") == "":
		fmt.Fprintln(w, key, quote(v.String()))
	default:
		fmt.Fprintln(w, key, format(v, tag))
	}
}

// items writes a list of texts, or of structures, each after a dash.
func (w *writer) items(indent string, list reflect.Value) {
	for i := range list.Len() {
		if list.Index(i).Kind() == reflect.String {
			fmt.Fprintf(w, "%s  - %s\n", indent, quote(list.Index(i).String()))
			continue
		}
		item := writer{bases: w.bases}
		item.structure(indent+"    ", list.Index(i), reflect.Value{})
		fmt.Fprintf(w, "%s  - %s", indent, strings.TrimLeft(item.String(), " "))
	}
}

// entries writes the values of a mapping from names. It omits the texts that base has too.
func (w *writer) entries(indent string, m, base reflect.Value) {
	names := m.MapKeys()
	slices.SortFunc(names, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	for _, name := range names {
		value := m.MapIndex(name)
		if value.Kind() == reflect.Struct {
			fmt.Fprintf(w, "%s  %s:\n", indent, quote(name.String()))
			w.structure(indent+"    ", value, w.bases[value.Type()])
			continue
		}
		if base.IsValid() {
			if inherited := base.MapIndex(name); inherited.IsValid() && inherited.Equal(value) {
				continue
			}
		}
		fmt.Fprintf(w, "%s  %s: %s\n", indent, quote(name.String()), quote(value.String()))
	}
}

// quote writes a text as a JSON string, which is a YAML string too.
func quote(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // encoding a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
