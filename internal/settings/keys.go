package settings

import (
	"reflect"
	"strconv"
	"strings"
)

// keysOf returns the keys of a struct of settings, in their order.
func keysOf(t reflect.Type) []string {
	keys := make([]string, t.NumField())
	for i := range keys {
		keys[i] = t.Field(i).Tag.Get("yaml")
	}
	return keys
}

// find returns the full name of the first key of that name below a struct of settings, or "".
func find(t reflect.Type, parent, name string) string {
	for i := range t.NumField() {
		field := t.Field(i)
		key := Join(parent, field.Tag.Get("yaml"))
		if field.Tag.Get("yaml") == name {
			return key
		}
		if field.Type.Kind() == reflect.Struct {
			if found := find(field.Type, key, name); found != "" {
				return found
			}
		}
	}
	return ""
}

// Join returns the full name of a key below a parent, which may be empty.
func Join(parent, key string) string {
	if parent == "" {
		return key
	}
	return parent + "." + key
}

// ShownKey returns a key for an error: as it is if it is a simple name, else in quotes and of bounded length.
func ShownKey(key string) string {
	simple := key != "" && len(key) <= 64 && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
	if simple {
		return key
	}
	return strconv.Quote(string([]rune(key)[:min(60, len([]rune(key)))]))
}

// punctuated ends a message as a sentence, so that another can follow.
func punctuated(message string) string {
	if strings.HasSuffix(message, "?") {
		return message
	}
	return message + "."
}

// without says what holds without a key.
func without(tag reflect.StructTag) string {
	if unset := tag.Get("unset"); unset != "" {
		return unset
	}
	return "the default, " + tag.Get("default")
}
