package config

import (
	"reflect"
	"slices"
)

// Changed returns the top-level keys whose values differ between two configurations, sorted.
func Changed(a, b *Config) []string {
	var keys []string
	left, right := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for field := range left.Type().Fields() {
		if !reflect.DeepEqual(left.FieldByIndex(field.Index).Interface(), right.FieldByIndex(field.Index).Interface()) {
			keys = append(keys, field.Tag.Get("yaml"))
		}
	}
	slices.Sort(keys)
	return keys
}
