package config

import (
	"reflect"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// Diff returns the settings that differ between two configurations. The settings of a plugin or a
// tool are compared with their effective values, and what they only inherit is left out.
func Diff(before, now *Config) []yamldoc.Change {
	return yamldoc.Diff(reflect.ValueOf(before).Elem(), reflect.ValueOf(now).Elem(), before.bases(), now.bases())
}

// Applicable returns the configuration that is in force after a reload: it has the settings of now,
// except for those that need a restart, which it has from before.
func Applicable(before, now *Config) Config {
	c := *now
	yamldoc.KeepRestart(reflect.ValueOf(before).Elem(), reflect.ValueOf(&c).Elem())
	return c
}
