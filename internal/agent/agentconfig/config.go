// Package agentconfig reads agentd.yaml: what an operator says about models, runs and the people who are asked.
//
// It owns the keys, their defaults and bounds, and what they mean to the agent. The structs of settings.go are the one
// source: the reader, `agentd config show` and docs/agentd.md follow them. How a file is read is in package settings. It
// opens no model, and it does not read the environment.
//
// Who has flags as well applies them to the Config that Load returns: flags go before the file, the file goes before the
// defaults.
package agentconfig

import (
	"fmt"
	"path/filepath"
	"reflect"

	"github.com/toolhost/toolhost/internal/settings"
)

// Default returns the configuration without a file.
func Default() Config {
	var c Config
	settings.Fill(reflect.ValueOf(&c).Elem())
	return c
}

// Load reads the file at path. Folders and files that it names are relative to the folder that holds it, and absolute in
// the result. If the file can be read, the error is of type settings.Errors: all that is wrong with it.
func Load(path string) (Config, error) {
	data, err := settings.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	return LoadText(path, data)
}

// LoadText is Load for a file whose content is at hand: what was decided about these bytes holds for the result.
func LoadText(path string, data []byte) (Config, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	return parse(path, dir, data)
}

// Parse reads the text of a file, whose name stands for it in errors. Folders and files are taken relative to the folder
// of the name, and stay relative if that is. The error is of type settings.Errors. It may be called concurrently.
func Parse(name string, data []byte) (Config, error) {
	return parse(name, filepath.Dir(name), data)
}

func parse(name, dir string, data []byte) (Config, error) {
	c := Default()
	d := settings.NewDecoder(name, dir)
	d.Document(data, reflect.ValueOf(&c).Elem())
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

// YAML returns the whole configuration as a file that loads as the same again. Every key is there with what holds for
// it; texts that are not set are comments.
func (c *Config) YAML() []byte {
	return settings.YAML(reflect.ValueOf(c).Elem(), settings.Bases{reflect.TypeFor[Price](): reflect.ValueOf(Price{})})
}
