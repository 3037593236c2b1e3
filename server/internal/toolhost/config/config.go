// Package config reads toolhost.yaml, the operator's configuration of toolhost and of each plugin.
//
// It owns the keys, their defaults and bounds, and the checks that concern several keys. The
// structs of settings.go and plugin_settings.go define the file: the decoder, `toolhost config
// show` and docs/configuration.md follow them. Package yamldoc reads the file. This package does
// not apply the configuration. It does not expand variables or "~".
//
// A command with flags applies them to the Config that Parse returns: a flag has precedence over
// the file, and the file has precedence over the defaults.
package config

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// FileName is the name of the file in the places where toolhost looks for it.
const FileName = trust.ToolhostFile

// Size is a number of bytes.
type Size = yamldoc.Size

// Error is one fault of a file, and Errors is all faults of a file.
type (
	Error  = yamldoc.Error
	Errors = yamldoc.Errors
)

// Default returns the configuration without a file.
func Default() Config {
	var c Config
	yamldoc.Fill(reflect.ValueOf(&c).Elem())
	return c
}

// Parse reads the text of the file at path. Relative paths in the text are relative to the folder
// that holds the file, and absolute in the result. If the text is wrong, the error is of type
// Errors and has everything that is wrong. Parse may be called concurrently.
func Parse(path string, text []byte) (Config, error) {
	c := Default()
	d := newDecoder(path, &c)
	var err error
	if c.LockFile, err = d.Resolve(c.LockFile); err != nil {
		return Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	d.Decode(text, reflect.ValueOf(&c).Elem())
	d.checkSecrets()
	d.checkTools()
	telemetryconfig.Check(d.Decoder, "telemetry", &c.Telemetry)
	authconfig.Check(d.Decoder, "auth", &c.Auth)
	authconfig.CheckListeners(d.Decoder, "listeners", c.Listeners)
	authconfig.CheckListeners(d.Decoder, "mcp.listeners", c.MCP.Listeners)
	d.checkMCP()
	c.HTTP.Check(d.Decoder)
	c.Nodes.Check(d.Decoder, "toolhost", "records", c.Records, slices.Concat(c.Listeners, c.MCP.Listeners))
	if len(d.Errs) == 0 {
		d.check()
	}
	d.checkPolicy()
	if len(d.Errs) > 0 {
		d.Errs.Sort()
		return Config{}, d.Errs
	}
	return c, nil
}

// Plugin returns the settings of a plugin: its own in the file, else the defaults. The result
// shares no memory with the Config.
func (c *Config) Plugin(name string) PluginSettings {
	if s, ok := c.ByPlugin[name]; ok {
		return s.clone()
	}
	return c.Defaults.clone()
}
