package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// YAML returns the whole configuration as a file that loads as the same again. Every key is there with what holds for
// it, those of a plugin where they differ from the defaults; texts that are not set are comments.
func (c *Config) YAML() []byte {
	var w writer
	w.structure("", reflect.ValueOf(c).Elem(), reflect.Value{}, c.Defaults)
	return w.Bytes()
}

// writer writes settings as YAML, one value on a line.
type writer struct{ bytes.Buffer }

// structure writes the fields of v, without those that are as they are in base, if there is one.
func (w *writer) structure(indent string, v, base reflect.Value, defaults PluginSettings) {
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
			w.structure(indent+"  ", field, same, defaults)
		case field.Kind() == reflect.String && field.IsZero() && tag.Get("unset") != "":
			fmt.Fprintf(w, "%s# %s: # %s\n", indent, tag.Get("yaml"), tag.Get("unset"))
		default:
			w.value(indent, key, field, same, tag, defaults)
		}
	}
}

func (w *writer) value(indent, key string, v, base reflect.Value, tag reflect.StructTag, defaults PluginSettings) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch value := v.Interface().(type) {
	case []string:
		if len(value) == 0 {
			key += " []"
		}
		fmt.Fprintln(w, key)
		for _, item := range value {
			fmt.Fprintf(w, "%s  - %s\n", indent, quote(item))
		}
	case []Rule:
		writeItems(w, indent, key, value, defaults)
	case []Filter:
		writeItems(w, indent, key, value, defaults)
	case map[string]string:
		if len(value) == 0 {
			key += " {}"
		}
		fmt.Fprintln(w, key)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if base.IsValid() {
				if inherited, ok := base.Interface().(map[string]string)[name]; ok && inherited == value[name] {
					continue
				}
			}
			fmt.Fprintf(w, "%s  %s: %s\n", indent, quote(name), quote(value[name]))
		}
	case map[string]PluginSettings:
		if len(value) == 0 {
			key += " {}"
		}
		fmt.Fprintln(w, key)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			fmt.Fprintf(w, "%s  %s:\n", indent, quote(name))
			w.structure(indent+"    ", reflect.ValueOf(value[name]), reflect.ValueOf(defaults), defaults)
		}
	case map[string]ToolSettings:
		writeEntries(w, indent, key, value, reflect.ValueOf(ToolSettings{}), defaults)
	case map[string]Secret:
		writeEntries(w, indent, key, value, reflect.Value{}, defaults)
	default:
		if v.Kind() == reflect.String && tag.Get("oneof") == "" {
			fmt.Fprintln(w, key, quote(v.String()))
			return
		}
		fmt.Fprintln(w, key, format(v, tag))
	}
}

// writeEntries writes a mapping from names to structures, without what is as it is in base, if there is one.
func writeEntries[T any](w *writer, indent, key string, entries map[string]T, base reflect.Value, defaults PluginSettings) {
	if len(entries) == 0 {
		key += " {}"
	}
	fmt.Fprintln(w, key)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		fmt.Fprintf(w, "%s  %s:\n", indent, quote(name))
		w.structure(indent+"    ", reflect.ValueOf(entries[name]), base, defaults)
	}
}

// writeItems writes a list of structures, each after a dash.
func writeItems[T any](w *writer, indent, key string, items []T, defaults PluginSettings) {
	if len(items) == 0 {
		key += " []"
	}
	fmt.Fprintln(w, key)
	for _, value := range items {
		var item writer
		item.structure(indent+"    ", reflect.ValueOf(value), reflect.Value{}, defaults)
		fmt.Fprintf(w, "%s  - %s", indent, strings.TrimLeft(item.String(), " "))
	}
}

// quote writes a text as YAML between double quotes, which are those of JSON.
func quote(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
