// Package secrets holds the operator's secrets: it reads a value when a tool of a plugin that was granted it needs it, and
// keeps every value that it has ever read out of what is shown.
//
// It owns where values come from, who may have them, the words for what is missing, and the redactor. It does not know
// who needs a secret and how it gets there, nor who shows what.
package secrets

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Source says where a secret's value is, and who may have it. Either Env or File is set.
type Source struct {
	Name    string   // which tools ask for, and which stands in the place of the value; without ", \ and control characters
	Env     string   // a variable of toolhost's environment
	File    string   // a regular file, by its absolute path; the end of its last line is no part of the value
	Plugins []string // the names of those that may have it; no others do
}

// Config says which secrets there are.
type Config struct {
	Sources []Source // of different names
	// Getenv returns the value of a variable of toolhost's environment, empty if there is none. Nil: os.Getenv.
	Getenv func(name string) string
}

// Store is the operator's secrets. A nil Store has none. Its methods may be called from any goroutine.
type Store struct {
	sources  map[string]Source // by name
	getenv   func(string) string
	redactor *Redactor
}

// New returns a store. It reads nothing yet.
func New(cfg Config) *Store {
	s := &Store{sources: make(map[string]Source, len(cfg.Sources)), getenv: cfg.Getenv, redactor: &Redactor{}}
	if s.getenv == nil {
		s.getenv = os.Getenv
	}
	for _, source := range cfg.Sources {
		s.sources[source.Name] = source
	}
	return s
}

// Redactor returns what keeps the values that the store has read out of texts; nil, which keeps out nothing, for a store
// without secrets.
func (s *Store) Redactor() *Redactor {
	if s == nil || len(s.sources) == 0 {
		return nil
	}
	return s.redactor
}

// Inspect reads all secrets and returns what an operator should know of them. That a value is missing is no warning: the
// tools that need it say so.
func (s *Store) Inspect() (warnings []string) {
	if s == nil {
		return nil
	}
	view := s.View()
	for _, name := range slices.Sorted(maps.Keys(s.sources)) {
		source := s.sources[name]
		value, err := view.read(name)
		if err == nil && len(value) < shortest {
			warnings = append(warnings, fmt.Sprintf("the secret %q is shorter than %d bytes: it is not kept out of results and logs, where it would be found in too much else; use a longer one", name, shortest))
		}
		if source.File == "" {
			continue
		}
		if info, err := os.Stat(source.File); err == nil && info.Mode().Perm()&0o007 != 0 {
			warnings = append(warnings, fmt.Sprintf("the file %s of the secret %q is open to every user of this machine (its mode is %v); chmod 600 it", source.File, name, info.Mode().Perm()))
		}
	}
	return warnings
}

// View returns the store as one look at it finds it: each secret is read when it is first asked for, and once.
func (s *Store) View() *View { return &View{store: s} }

// View is one look at a store. It is for one goroutine, and for a moment: a value that changes later is not seen.
type View struct {
	store *Store
	seen  map[string]reading // nil until something was read
}

type reading struct {
	value string
	err   error
}

// Values returns the secrets of the names, for a plugin. The error says which it cannot have and what to do about it; it
// holds no value. It reads files, which is bounded.
func (v *View) Values(plugin string, names []string) (map[string]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	values := make(map[string]string, len(names))
	var missing []string
	for _, name := range names {
		value, err := v.value(plugin, name)
		if err != nil {
			missing = append(missing, err.Error())
			continue
		}
		values[name] = value
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, errors.New(strings.Join(slices.Compact(missing), "; and "))
	}
	return values, nil
}

func (v *View) value(plugin, name string) (string, error) {
	const shown = 80
	if v.store == nil || v.store.sources[name].Name == "" {
		return "", fmt.Errorf("the secret %.*q is not in the configuration: add it under secrets of toolhost.yaml, with env or file, and plugins: [%s]", shown, name, plugin)
	}
	if !slices.Contains(v.store.sources[name].Plugins, plugin) {
		return "", fmt.Errorf("the secret %q is not granted to the plugin %q: add the plugin to secrets.%s.plugins of toolhost.yaml", name, plugin, name)
	}
	return v.read(name)
}

// read reads a secret that there is, once.
func (v *View) read(name string) (string, error) {
	if seen, ok := v.seen[name]; ok {
		return seen.value, seen.err
	}
	source := v.store.sources[name]
	value, err := v.store.fetch(source)
	if err == nil {
		v.store.redactor.Learn(name, value) // before anybody has it
	}
	if v.seen == nil {
		v.seen = map[string]reading{}
	}
	v.seen[name] = reading{value, err}
	return value, err
}
