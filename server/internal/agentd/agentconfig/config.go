// Package agentconfig reads agentd.yaml, the operator's configuration of models, runs and
// approvals.
//
// It owns the keys, their defaults and bounds, and their meaning to the agent. The structs of
// yamldoc.go define the file: the decoder, `agentd config show` and docs/agentd.md follow them.
// Package yamldoc reads the file. This package opens no model, and it does not read the
// environment.
//
// A command with flags applies them to the Config that Parse returns: a flag has precedence over
// the file, and the file has precedence over the defaults.
package agentconfig

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// Default returns the configuration without a file.
func Default() Config {
	var c Config
	yamldoc.Fill(reflect.ValueOf(&c).Elem())
	return c
}

// Parse reads the text of the file at path. Relative paths in the text are relative to the folder
// that holds the file, and absolute in the result. If the text is wrong, the error is of type
// yamldoc.Errors and has everything that is wrong. Parse may be called concurrently.
func Parse(path string, text []byte) (Config, error) {
	c := Default()
	d := yamldoc.NewDecoder(path)
	d.MaxBytes, d.Checks = yamldoc.MaxConfigBytes, telemetryconfig.Checks()
	d.Checks["listener"] = authconfig.CheckListener
	d.Checks["file or database"] = CheckJournal
	d.Checks["subsystem"] = loglevel.OfAgentd().Check
	d.Decode(text, reflect.ValueOf(&c).Elem())
	check(d, &c)
	checkNotify(d, &c.Notify)
	checkTemporal(d, &c)
	telemetryconfig.Check(d, "telemetry", &c.Telemetry)
	authconfig.Check(d, "auth", &c.Auth)
	authconfig.CheckListeners(d, "listeners", c.Listeners)
	if len(d.Errs) > 0 {
		d.Errs.Sort()
		return Config{}, d.Errs
	}
	for key, m := range c.Models {
		if m.Provider != scripted {
			continue
		}
		var err error
		if m.Model, err = d.Resolve(m.Model); err != nil {
			return Config{}, fmt.Errorf("reading the configuration: %w", err)
		}
		c.Models[key] = m
	}
	if err := errors.Join(resolveScripts(d, &c), resolveMemory(d, &c)); err != nil {
		return Config{}, fmt.Errorf("reading the configuration: %w", err)
	}
	return c, nil
}

// resolveScripts makes the files of the scripted models that agents name absolute.
func resolveScripts(d *yamldoc.Decoder, c *Config) error {
	resolve := func(name *string) error {
		file, is := strings.CutPrefix(*name, scripted+":")
		if !is {
			return nil
		}
		path, err := d.Resolve(file)
		*name = scripted + ":" + path
		return err
	}
	for name, a := range c.Agents {
		errs := []error{resolve(&a.Model)}
		a.Fallbacks = slices.Clone(a.Fallbacks)
		for i := range a.Fallbacks {
			errs = append(errs, resolve(&a.Fallbacks[i]))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		c.Agents[name] = a
	}
	return nil
}

// resolveMemory makes the paths of the operator's memory files absolute.
func resolveMemory(d *yamldoc.Decoder, c *Config) error {
	var err error
	if c.Memory, err = resolved(d, c.Memory); err != nil {
		return err
	}
	for name, a := range c.Agents {
		if a.Memory, err = resolved(d, a.Memory); err != nil {
			return err
		}
		c.Agents[name] = a
	}
	return nil
}

func resolved(d *yamldoc.Decoder, files []string) ([]string, error) {
	files = slices.Clone(files)
	for i, file := range files {
		if _, inWorkspace := WorkspaceFile(file); inWorkspace {
			continue
		}
		path, err := d.Resolve(file)
		if err != nil {
			return nil, err
		}
		files[i] = path
	}
	return files, nil
}

// YAML returns the whole configuration as a file that loads as the same Config. It has every key
// with its value; keys without a value are comments.
func (c *Config) YAML() []byte {
	return yamldoc.YAML(reflect.ValueOf(c).Elem(), yamldoc.Bases{reflect.TypeFor[Price](): reflect.ValueOf(Price{})})
}

// Diff returns the settings that differ between two configurations.
func Diff(before, now *Config) []yamldoc.Change {
	return yamldoc.Diff(reflect.ValueOf(before).Elem(), reflect.ValueOf(now).Elem(), nil, nil)
}

// Applicable returns the configuration that is in force after a reload: it has the settings of now,
// except for those that need a restart, which it has from before.
func Applicable(before, now *Config) Config {
	c := *now
	yamldoc.KeepRestart(reflect.ValueOf(before).Elem(), reflect.ValueOf(&c).Elem())
	return c
}
