package config

import (
	"reflect"

	"github.com/toolhost/toolhost/internal/yamldoc"
)

// YAML returns the whole configuration as a file that loads as the same again. Every key is there with what holds for
// it, those of a plugin where they differ from the defaults; texts that are not set are comments.
func (c *Config) YAML() []byte {
	return yamldoc.YAML(reflect.ValueOf(c).Elem(), yamldoc.Bases{
		reflect.TypeFor[PluginSettings](): reflect.ValueOf(c.Defaults),
		reflect.TypeFor[ToolSettings]():   reflect.ValueOf(ToolSettings{}),
	})
}
