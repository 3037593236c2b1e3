// Package loglevel defines which records of a log are written: a lowest level for the whole
// program, and other levels for its subsystems.
//
// It owns the names of the subsystems of toolhost and agentd, and the text form of the levels. It
// does not write logs.
package loglevel

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/text/nearest"
	"github.com/toolhost/toolhost/tool"
)

// Subsystem is a part of a program whose records have a common lowest level.
type Subsystem struct {
	Name   string
	Covers string // what its records are about, for the documentation
}

// Key is the key of the slog attribute by which a logger belongs to a subsystem.
const Key = "subsystem"

// The names of the subsystems.
const (
	Server    = "server"
	Lifecycle = "lifecycle"
	Plugins   = "plugins"
	Calls     = "calls"
	Policy    = "policy"
	Storage   = "storage"
	Telemetry = "telemetry"
	Runs      = "runs"
	Models    = "models"
	Tools     = "tools"
)

// pluginPrefix begins the name that means one plugin, as in plugin.fs. Such a level replaces that
// of Plugins.
const pluginPrefix = "plugin."

// Subsystems are the subsystems of one program.
type Subsystems []Subsystem

// OfToolhost returns the subsystems of toolhost.
func OfToolhost() Subsystems {
	return Subsystems{
		{Server, "start, stop, reload, configuration, and connections of callers"},
		{Lifecycle, "plugins and their processes: found, trusted, launched, crashed, quarantined, upgraded, removed"},
		{Plugins, "what plugins write; `plugin.NAME` is what the plugin NAME writes"},
		{Calls, "problems of single calls: filters, results, effects"},
		{Policy, "decisions about calls, approvals, and the audit log"},
		{Storage, "the ledger, artifacts and the history on disk"},
		{Telemetry, "the export of metrics and traces"},
	}
}

// OfAgentd returns the subsystems of agentd.
func OfAgentd() Subsystems {
	return Subsystems{
		{Server, "start, stop, reload, configuration, and RPCs"},
		{Runs, "runs: begun, waiting for a person, resumed, ended"},
		{Models, "requests to models that failed and were repeated"},
		{Tools, "calls of tools, and the connection to toolhost"},
		{Storage, "the journal and snapshots"},
		{Telemetry, "the export of metrics and traces"},
	}
}

// Check returns an error if no subsystem has the name. The error lists the names.
func (s Subsystems) Check(name string) error {
	names := s.names()
	if slices.Contains(names, name) {
		return nil
	}
	plugin, one := strings.CutPrefix(name, pluginPrefix)
	if one && slices.Contains(names, Plugins) {
		if err := tool.CheckName(plugin); err != nil {
			return fmt.Errorf("%s is the name of a plugin: %w", plugin, err)
		}
		return nil
	}
	if slices.Contains(names, Plugins) {
		names = append(names, pluginPrefix+"NAME")
	}
	hint := "."
	if near := nearest.Names(name, names, 1); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", near[0])
	}
	return fmt.Errorf("there is no subsystem %q%s The subsystems are %s", name, hint, strings.Join(names, ", "))
}

func (s Subsystems) names() []string {
	names := make([]string, len(s))
	for i, one := range s {
		names[i] = one.Name
	}
	return names
}

// Settings are levels as text. Least is the level of all subsystems that By does not name. The zero
// value sets nothing.
type Settings struct {
	Least string
	By    map[string]string
}

// ParseSettings parses the form of flags and variables: a level, levels of subsystems, or both, as
// in `info,policy=debug,plugin.fs=warn`.
func (s Subsystems) ParseSettings(text string) (Settings, error) {
	var parsed Settings
	if text == "" {
		return parsed, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, level, named := strings.Cut(strings.TrimSpace(part), "=")
		if !named {
			name, level = "", name
		}
		if _, err := parse(level); err != nil {
			return Settings{}, err
		}
		if !named {
			if parsed.Least != "" {
				return Settings{}, fmt.Errorf("%q has two levels for all subsystems, %s and %s", text, parsed.Least, level)
			}
			parsed.Least = level
			continue
		}
		if err := s.Check(name); err != nil {
			return Settings{}, err
		}
		if parsed.By == nil {
			parsed.By = map[string]string{}
		}
		parsed.By[name] = level
	}
	return parsed, nil
}

// Over returns s with other's levels where s has none: s has precedence. A level that s sets for
// all subsystems does not replace one that other sets for a single subsystem.
func (s Settings) Over(other Settings) Settings {
	merged := Settings{Least: s.Least, By: maps.Clone(other.By)}
	if merged.Least == "" {
		merged.Least = other.Least
	}
	if merged.By == nil && len(s.By) > 0 {
		merged.By = map[string]string{}
	}
	maps.Copy(merged.By, s.By)
	return merged
}

// Levels say which records are written. The zero value has the level info for all. A Levels does
// not change.
type Levels struct {
	least slog.Level
	by    map[string]slog.Level
}

// Levels returns the parsed levels. An empty Least is info. It does not check the names.
func (s Settings) Levels() (Levels, error) {
	var l Levels
	var err error
	if s.Least != "" {
		if l.least, err = parse(s.Least); err != nil {
			return l, err
		}
	}
	for name, text := range s.By {
		level, err := parse(text)
		if err != nil {
			return l, fmt.Errorf("%s: %w", name, err)
		}
		if l.by == nil {
			l.by = map[string]slog.Level{}
		}
		l.by[name] = level
	}
	return l, nil
}

// Of returns the lowest level that is written of a subsystem. plugin is the plugin that the records
// are about; empty: none.
func (l Levels) Of(subsystem, plugin string) slog.Level {
	if subsystem == Plugins && plugin != "" {
		if level, ok := l.by[pluginPrefix+plugin]; ok {
			return level
		}
	}
	if level, ok := l.by[subsystem]; ok {
		return level
	}
	return l.least
}

// parse returns the level with a name of the configuration.
func parse(name string) (slog.Level, error) {
	switch name {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("there is no level %q; use debug, info, warn or error", name)
}
