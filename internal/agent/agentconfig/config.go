// Package agentconfig reads agentd.yaml, the operator's configuration of models, runs and
// approvals.
//
// It owns the keys, their defaults and bounds, and their meaning to the agent. The structs of
// yamldoc.go define the file: the decoder, `agentd config show` and docs/agentd.md follow them.
// Package yamldoc reads the file. This package opens no model, and it does not read the
// environment.
//
// A command with flags applies them to the Config that Load returns: a flag has precedence over the
// file, and the file has precedence over the defaults.
package agentconfig

import (
	"path/filepath"
	"reflect"

	"github.com/toolhost/toolhost/internal/yamldoc"
)

// Default returns the configuration without a file.
func Default() Config {
	var c Config
	yamldoc.Fill(reflect.ValueOf(&c).Elem())
	return c
}

// Load reads the file at path. Relative paths in the file are relative to the folder that holds it,
// and absolute in the result. If the file can be read, the error is of type yamldoc.Errors and has
// everything that is wrong with the file.
func Load(path string) (Config, error) { return yamldoc.Load(path, parse) }

// LoadText is Load for a file that the caller has read already. A decision that the caller made
// about these bytes is valid for the result.
func LoadText(path string, data []byte) (Config, error) { return yamldoc.LoadText(path, data, parse) }

// Parse reads the text of a file. name stands for the file in errors. Relative paths in the text
// are relative to the folder of name, and stay relative if that is. The error is of type
// yamldoc.Errors. Parse may be called concurrently.
func Parse(name string, data []byte) (Config, error) { return parse(name, filepath.Dir(name), data) }

func parse(name, dir string, data []byte) (Config, error) {
	c := Default()
	d := yamldoc.NewDecoder(name, dir)
	d.MaxBytes = yamldoc.MaxConfigBytes
	d.Decode(data, reflect.ValueOf(&c).Elem())
	check(d, &c)
	if len(d.Errs) > 0 {
		d.Errs.Sort()
		return Config{}, d.Errs
	}
	for key, m := range c.Models {
		if m.Provider == scripted && !filepath.IsAbs(m.Model) {
			m.Model = filepath.Join(dir, m.Model)
			c.Models[key] = m
		}
	}
	return c, nil
}

// YAML returns the whole configuration as a file that loads as the same Config. It has every key
// with its value; keys without a value are comments.
func (c *Config) YAML() []byte {
	return yamldoc.YAML(reflect.ValueOf(c).Elem(), yamldoc.Bases{reflect.TypeFor[Price](): reflect.ValueOf(Price{})})
}
