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
	for field, value := range v.Fields() {
		both := pair{value, fieldOf(base, field)}
		switch unset := field.Tag.Get("unset"); {
		case both.same():
		case unset != "" && value.IsZero(): // an empty list differs from no list
			fmt.Fprintf(w, "%s# %s: # %s\n", indent, field.Tag.Get("yaml"), unset)
		default:
			w.value(indent, field.Tag.Get("yaml")+":", value, both[1], field.Tag)
		}
	}
}

func (w *writer) value(indent, key string, v, base reflect.Value, tag reflect.StructTag) {
	kind := v.Kind()
	switch {
	case kind == reflect.Pointer:
		w.value(indent, key, v.Elem(), base, tag)
		return
	case kind == reflect.Slice && v.Len() == 0:
		key += " []"
	case kind == reflect.Map && v.Len() == 0:
		key += " {}"
	case kind != reflect.Struct && kind != reflect.Slice && kind != reflect.Map:
		key += " " + format(v, tag)
	}
	fmt.Fprintln(w, indent+key)
	switch indent += "  "; kind {
	case reflect.Struct:
		w.structure(indent, v, base)
	case reflect.Slice:
		for _, item := range v.Seq2() {
			text := quote(item.String()) + "\n"
			if item.Kind() == reflect.Struct {
				element := writer{bases: w.bases}
				element.structure(indent+"  ", item, reflect.Value{})
				text = strings.TrimLeft(element.String(), " ")
			}
			fmt.Fprint(w, indent+"- "+text)
		}
	case reflect.Map:
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, name := range names {
			value := v.MapIndex(name)
			if base.IsValid() && value.Kind() != reflect.Struct && (pair{value, base.MapIndex(name)}).same() {
				continue // inherited
			}
			w.value(indent, quote(name.String())+":", value, w.bases[value.Type()], "")
		}
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
