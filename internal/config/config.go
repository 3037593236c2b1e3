// Package config reads toolhost.yaml: what an operator says about toolhost and about each plugin.
//
// It owns the keys, their defaults and bounds, and the words for whatever is wrong, with line and column. The structs of
// settings.go are the one source: the reader, `toolhost config show` and docs/configuration.md follow them. It does not
// know who uses a setting, and it expands nothing: no variables of the environment, no "~".
//
// Who has flags as well applies them to the Config that Load returns: flags go before the file, the file goes before the
// defaults.
package config

import (
	"fmt"
	"path/filepath"
	"reflect"

	"github.com/toolhost/toolhost/internal/settings"
	"github.com/toolhost/toolhost/internal/trust"
)

// FileName is the name of the file where it is looked for.
const FileName = trust.ToolhostFile

// Size is a number of bytes.
type Size = settings.Size

// Error is one thing that is wrong with a file, and Errors is all.
type (
	Error  = settings.Error
	Errors = settings.Errors
)

// Default returns the configuration without a file.
func Default() Config {
	var c Config
	settings.Fill(reflect.ValueOf(&c).Elem())
	return c
}

// Load reads the file at path. Folders and files that it names are relative to the folder that holds it, and absolute in
// the result. If the file can be read, the error is of type Errors: all that is wrong with it.
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
	return parseIn(path, dir, data)
}

// Parse reads the text of a file, whose name stands for it in errors. Folders and files are taken relative to the folder
// of the name, and stay relative if that is. The error is of type Errors. It may be called concurrently.
func Parse(name string, data []byte) (Config, error) {
	return parseIn(name, filepath.Dir(name), data)
}

func parseIn(name, dir string, data []byte) (Config, error) {
	c := Default()
	c.LockFile = filepath.Join(dir, c.LockFile)
	d := decoder{settings.NewDecoder(name, dir), &c}
	d.Mapping = d.mapping
	d.Document(data, reflect.ValueOf(&c).Elem())
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

// Plugin returns the settings of the plugin of a name: what the file says about it, else its defaults. The result shares
// nothing with the Config.
func (c *Config) Plugin(name string) PluginSettings {
	if s, ok := c.ByPlugin[name]; ok {
		return s.clone()
	}
	return c.Defaults.clone()
}
