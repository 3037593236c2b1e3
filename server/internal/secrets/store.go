// Package secrets holds the operator's secrets. It reads a value when a tool of a plugin with a
// grant needs it, and it redacts every value that it has read.
//
// It owns the sources of values, the grants, the messages on missing secrets, and the redactor. It
// does not know how a value reaches a plugin, or which output is redacted.
package secrets

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
)

// Source describes a secret: where its values are, and which plugins may have them.
//
// A call gets the value of its principal. If the principal has none, it gets that of its tenant,
// and then that of all tenants. There is no other fallback, so a value reaches no tenant that the
// operator did not name.
type Source struct {
	// The name that tools use, and that replaces the value; without ", \ and control characters.
	Name       string
	Plugins    []string         // the plugins that may have it
	Tenants    map[string]Place // the values of tenants; AllTenants: of every other tenant
	Principals map[string]Place // the values of principals, by their keys
}

// AllTenants is the key of Source.Tenants for every tenant that has no value of its own.
const AllTenants = "all"

// place returns where the value of a principal is, and the name of the place in the source. ok is
// false if there is none.
func (s *Source) place(principal string) (p Place, where string, ok bool) {
	if p, ok = s.Principals[principal]; ok {
		return p, "principal " + principal, true
	}
	for _, tenant := range []string{identity.TenantOf(principal), AllTenants} {
		if p, ok = s.Tenants[tenant]; ok {
			return p, "tenant " + tenant, true
		}
	}
	return p, "", false
}

// Config lists the secrets.
type Config struct {
	Sources []Source // with different names
	// Getenv returns the value of a variable of toolhost's environment, or "". nil means os.Getenv.
	Getenv func(name string) string
	// Now returns the time, for the refresh of printed values. nil means time.Now.
	Now func() time.Time
	// Redactor learns the values. Stores that replace each other share one, because a plugin may
	// print a value that a later store does not have. Nil means a new one.
	Redactor *Redactor
}

// Store holds the operator's secrets. A nil Store has none. Its methods are safe for concurrent
// use.
type Store struct {
	sources  map[string]Source // by name
	commands commands
	getenv   func(string) string
	redactor *Redactor
}

// New returns a store. It reads no secret.
func New(cfg Config) *Store {
	s := &Store{sources: make(map[string]Source, len(cfg.Sources)), getenv: cfg.Getenv, redactor: cfg.Redactor}
	if s.getenv == nil {
		s.getenv = os.Getenv
	}
	if s.commands.now = cfg.Now; cfg.Now == nil {
		s.commands.now = time.Now
	}
	if s.redactor == nil && len(cfg.Sources) > 0 {
		s.redactor = &Redactor{}
	}
	for _, source := range cfg.Sources {
		s.sources[source.Name] = source
	}
	return s
}

// Redactor returns the redactor of the values that the store has read. It is nil, which redacts
// nothing, for a store without secrets and without Config.Redactor.
func (s *Store) Redactor() *Redactor {
	if s == nil {
		return nil
	}
	return s.redactor
}

// Inspect reads all secrets that are not printed by commands, and returns warnings for the
// operator. A missing value is not a warning, because the tools that need the value report it.
func (s *Store) Inspect() (warnings []string) {
	if s == nil {
		return nil
	}
	for name, source := range s.sources {
		for kind, places := range map[string]map[string]Place{"tenant ": source.Tenants, "principal ": source.Principals} {
			for key, place := range places {
				warnings = append(warnings, s.inspect(name, kind+key, place)...)
			}
		}
	}
	slices.Sort(warnings)
	return slices.Compact(warnings)
}

func (s *Store) inspect(name, where string, place Place) (warnings []string) {
	if len(place.Command) > 0 {
		return nil // it may need a network, a person or much time
	}
	value, err := s.read(name, where, place)
	if err == nil && len(value) < shortest {
		warnings = append(warnings, fmt.Sprintf("the secret %q is shorter than %d bytes: it is not kept out of results and logs, where it would be found in too much else; use a longer one", name, shortest))
	}
	if place.File == "" {
		return warnings
	}
	if info, err := os.Stat(place.File); err == nil && info.Mode().Perm()&0o007 != 0 {
		warnings = append(warnings, fmt.Sprintf("the file %s of the secret %q is open to every user of this machine (its mode is %v); chmod 600 it", place.File, name, info.Mode().Perm()))
	}
	return warnings
}

// PerPrincipal reports whether a plugin may get a secret that has values for single principals. Its
// instances then have to serve one principal, because a plugin may keep what a call brought.
func (s *Store) PerPrincipal(plugin string) bool {
	if s == nil {
		return false
	}
	for _, source := range s.sources {
		if len(source.Principals) > 0 && slices.Contains(source.Plugins, plugin) {
			return true
		}
	}
	return false
}

// View returns a view of the store for the principal with a key. It reads each secret once, on
// first use.
func (s *Store) View(principal string) *View { return &View{store: s, principal: principal} }

// Glance is View for a question that must be answered at once: it runs no command, and takes it for
// granted that the command prints a value.
func (s *Store) Glance(principal string) *View {
	return &View{store: s, principal: principal, glance: true}
}

// View is a short-lived view of a store. It does not see later changes of a value. It is not safe
// for concurrent use.
type View struct {
	store     *Store
	principal string
	glance    bool
	seen      map[string]reading // nil until the first read
}

type reading struct {
	value string
	err   error
}

// Values returns the values of named secrets for a plugin. The error says which secrets the plugin
// cannot have and what to do about it; it contains no value. Values reads files of bounded size,
// and waits for commands for a bounded time.
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
	place, where, ok := source.place(v.principal)
	var value string
	var err error
	switch {
	case !ok:
		tenant := identity.TenantOf(v.principal)
		err = fmt.Errorf("the secret %q has no value for the tenant %q: add secrets.%s.tenants.%s to toolhost.yaml", name, tenant, name, tenant)
	case v.glance && len(place.Command) > 0:
	default:
		value, err = v.store.read(name, where, place)
	}
	if v.seen == nil {
		v.seen = map[string]reading{}
	}
	v.seen[name] = reading{value, err}
	return value, err
}

// read reads the value at a place of a secret, and teaches it to the redactor before any other code
// sees it.
func (s *Store) read(name, where string, place Place) (string, error) {
	value, err := s.fetch(name, where, place)
	if err == nil {
		s.redactor.learn(name, where, value)
	}
	return value, err
}
