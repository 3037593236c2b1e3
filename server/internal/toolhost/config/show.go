package config

import (
	"reflect"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// YAML returns the whole configuration as a file that loads as the same Config. It has every key
// with its value; keys without a value are comments. Of a plugin's keys it has those that differ
// from the defaults.
func (c *Config) YAML() []byte {
	return yamldoc.YAML(reflect.ValueOf(c).Elem(), c.bases())
}

// bases returns the settings that plugins and tools have without an entry of their own.
func (c *Config) bases() yamldoc.Bases {
	return yamldoc.Bases{
		reflect.TypeFor[PluginSettings](): reflect.ValueOf(c.Defaults),
		reflect.TypeFor[ToolSettings]():   reflect.ValueOf(ToolSettings{}),
	}
}
