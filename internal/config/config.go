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
	"io"
	"os"
	"path/filepath"
	"reflect"
)

// maxBytes bounds a file: YAML that is nested deeply takes the parser a time that grows with its square.
const maxBytes = 256 << 10

// Default returns the configuration without a file.
func Default() Config {
	var c Config
	fill(reflect.ValueOf(&c).Elem())
	return c
}

// fill gives each field its default.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i).Tag
		if field.Kind() == reflect.Struct {
			fill(field)
		} else if text, ok := tag.Lookup("default"); ok {
			if err := set(field, tag, scalar{text: text}); err != nil {
				panic(fmt.Sprintf("config: the default of %s: %v", v.Type().Field(i).Name, err))
			}
		}
	}
}

// Load reads the file at path. Folders and files that it names are relative to the folder that holds it, and absolute in
// the result. If the file can be read, the error is of type Errors: all that is wrong with it.
func Load(path string) (Config, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	data, err := read(path)
	if err != nil {
		return Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	return parseIn(path, dir, data)
}

// read reads one byte more than is allowed at most: a device may never end.
func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxBytes+1))
}

// Parse reads the text of a file, whose name stands for it in errors. Folders and files are taken relative to the folder
// of the name, and stay relative if that is. The error is of type Errors. It may be called concurrently.
func Parse(name string, data []byte) (Config, error) {
	return parseIn(name, filepath.Dir(name), data)
}

func parseIn(name, dir string, data []byte) (Config, error) {
	c := Default()
	c.LockFile = filepath.Join(dir, c.LockFile)
	d := decoder{file: name, dir: dir, config: &c, at: map[string]place{}}
	d.document(data)
	if len(d.errs) == 0 {
		d.check()
	}
	d.checkPolicy()
	if len(d.errs) > 0 {
		d.errs.sort()
		return Config{}, d.errs
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
