// Package config reads toolhost.yaml, the operator's configuration of toolhost and of each plugin.
//
// It owns the keys, their defaults and bounds, and the checks that concern several keys. The
// structs of settings.go define the file: the decoder, `toolhost config show` and
// docs/configuration.md follow them. Package yamldoc reads the file. This package does not apply
// the yamldoc. It does not expand variables or "~".
//
// A command with flags applies them to the Config that Load returns: a flag has precedence over the
// file, and the file has precedence over the defaults.
package config

import (
	"path/filepath"
	"reflect"

	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/internal/yamldoc"
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

// Load reads the file at path. Relative paths in the file are relative to the folder that holds it,
// and absolute in the result. If the file can be read, the error is of type Errors and has
// everything that is wrong with the file.
func Load(path string) (Config, error) { return yamldoc.Load(path, parse) }

// LoadText is Load for a file that the caller has read already. A decision that the caller made
// about these bytes is valid for the result.
func LoadText(path string, data []byte) (Config, error) { return yamldoc.LoadText(path, data, parse) }

// Parse reads the text of a file. name stands for the file in errors. Relative paths in the text
// are relative to the folder of name, and stay relative if that is. The error is of type Errors.
// Parse may be called concurrently.
func Parse(name string, data []byte) (Config, error) { return parse(name, filepath.Dir(name), data) }

func parse(name, dir string, data []byte) (Config, error) {
	c := Default()
	c.LockFile = filepath.Join(dir, c.LockFile)
	d := newDecoder(name, dir, &c)
	d.Decode(data, reflect.ValueOf(&c).Elem())
	d.checkSecrets()
	d.checkTools()
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
