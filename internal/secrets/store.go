// Package secrets holds the operator's secrets. It reads a value when a tool of a plugin with a
// grant needs it, and it redacts every value that it has read.
//
// It owns the sources of values, the grants, the messages on missing secrets, and the redactor. It
// does not know how a value reaches a plugin, or which output is redacted.
package secrets

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// Source is the source of a secret's value, and the plugins that may have it. Either Env or File is
// set.
type Source struct {
	// The name that tools use, and that replaces the value; without ", \ and control characters.
	Name string
	Env  string // a variable of toolhost's environment
	// The absolute path of a regular file; the end of its last line is not part of the value.
	File    string
	Plugins []string // the plugins that may have it
}

// Config lists the secrets.
type Config struct {
	Sources []Source // with different names
	// Getenv returns the value of a variable of toolhost's environment, or "". nil means os.Getenv.
	Getenv func(name string) string
}

// Store holds the operator's secrets. A nil Store has none. Its methods are safe for concurrent
// use.
type Store struct {
	sources  map[string]Source // by name
	getenv   func(string) string
	redactor *Redactor
}

// New returns a store. It reads no secret.
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

// Redactor returns the redactor of the values that the store has read. It is nil, which redacts
// nothing, for a store without secrets.
func (s *Store) Redactor() *Redactor {
	if s == nil || len(s.sources) == 0 {
		return nil
	}
	return s.redactor
}

// Inspect reads all secrets and returns warnings for the operator. A missing value is not a
// warning, because the tools that need the value report it.
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

// View returns a view of the store, which reads each secret once, on first use.
func (s *Store) View() *View { return &View{store: s} }

// View is a short-lived view of a store. It does not see later changes of a value. It is not safe
// for concurrent use.
type View struct {
	store *Store
	seen  map[string]reading // nil until the first read
}

type reading struct {
	value string
	err   error
}

// Values returns the values of named secrets for a plugin. The error says which secrets the plugin
// cannot have and what to do about it; it contains no value. Values reads files of bounded size.
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

// read reads a secret of the store once.
func (v *View) read(name string) (string, error) {
	if seen, ok := v.seen[name]; ok {
		return seen.value, seen.err
	}
	source := v.store.sources[name]
	value, err := v.store.fetch(source)
	if err == nil {
		v.store.redactor.Learn(name, value) // before any other code sees the value
	}
	if v.seen == nil {
		v.seen = map[string]reading{}
	}
	v.seen[name] = reading{value, err}
	return value, err
}

// largest bounds the length of a value in bytes. A key with its certificates fits, and a wrong path
// does no harm.
const largest = 64 << 10

// fetch reads a value from its source.
func (s *Store) fetch(source Source) (string, error) {
	value, where, remedy := "", "", ""
	if source.Env != "" {
		where = "the variable " + source.Env + " of toolhost's environment"
		remedy = "start toolhost with it"
		if value = s.getenv(source.Env); value == "" {
			return "", fmt.Errorf("the secret %q is missing: %s is not set or empty; %s", source.Name, where, remedy)
		}
	} else {
		where = "the file " + source.File
		remedy = "write the value into it"
		text, err := readFile(source.File)
		if err != nil {
			return "", fmt.Errorf("the secret %q is missing: %s cannot be read: %w; %s", source.Name, where, reason(err), remedy)
		}
		value = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	switch {
	case value == "":
		return "", fmt.Errorf("the secret %q is missing: %s is empty; %s", source.Name, where, remedy)
	case len(value) > largest:
		return "", fmt.Errorf("the secret %q cannot be used: what %s holds is larger than %d bytes", source.Name, where, largest)
	case !utf8.ValidString(value):
		return "", fmt.Errorf("the secret %q cannot be used: what %s holds is no UTF-8 text; encode it, in base64 for example", source.Name, where)
	}
	return value, nil
}

// readFile reads a regular file, up to one line end and one byte more than the largest value. It
// does not wait for the writer of a pipe.
func readFile(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	text, err := io.ReadAll(io.LimitReader(file, largest+3))
	return string(text), err
}

// reason returns an error without the path, which the message contains already.
func reason(err error) error {
	if inner, ok := errors.AsType[*os.PathError](err); ok {
		return inner.Err
	}
	return err
}
