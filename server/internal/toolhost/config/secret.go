package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// AllTenants is the key in Secret.Tenants for every tenant that is not listed.
const AllTenants = "all"

// Places returns where the values of tenants are, by tenant. The place of the secret itself is that
// of the default tenant.
func (s *Secret) Places() map[string]SecretPlace {
	places := maps.Clone(s.Tenants)
	if own := (SecretPlace{Env: s.Env, File: s.File, Command: s.Command, Refresh: s.Refresh}); own.count() > 0 {
		if places == nil {
			places = map[string]SecretPlace{}
		}
		places[identity.DefaultTenant] = own
	}
	return places
}

// SecretPlaces returns all places of all secrets.
func (c *Config) SecretPlaces() (all []SecretPlace) {
	for _, name := range slices.Sorted(maps.Keys(c.Secrets)) {
		s := c.Secrets[name]
		for _, places := range []map[string]SecretPlace{s.Places(), s.Principals} {
			for _, key := range slices.Sorted(maps.Keys(places)) {
				all = append(all, places[key])
			}
		}
	}
	return all
}

// count returns how many of the keys of a place are set.
func (p *SecretPlace) count() (n int) {
	for _, set := range []bool{p.Env != "", p.File != "", len(p.Command) > 0} {
		if set {
			n++
		}
	}
	return n
}

// checkPrincipal is the check of a key of a principal.
func checkPrincipal(key string) error {
	tenant, name := identity.SplitKey(key)
	return identity.Principal{Tenant: tenant, Name: name}.Check()
}

// checkTenantKey is the check of a tenant, or of the word for all tenants.
func checkTenantKey(key string) error {
	if key == AllTenants {
		return nil
	}
	return identity.CheckTenant(key)
}

// checkSecrets reports each secret without a place, and each place that is none, two or impossible.
// toolhost looks for the value when a tool needs it.
func (d *decoder) checkSecrets() {
	for _, name := range slices.Sorted(maps.Keys(d.config.Secrets)) {
		s, path := d.config.Secrets[name], yamldoc.Join("secrets", yamldoc.ShownKey(name))
		if d.Failed(path) {
			continue
		}
		others := len(s.Tenants)+len(s.Principals) > 0
		d.checkPlace(path, SecretPlace{Env: s.Env, File: s.File, Command: s.Command}, !others)
		for _, tenant := range slices.Sorted(maps.Keys(s.Tenants)) {
			at := yamldoc.Join(yamldoc.Join(path, "tenants"), yamldoc.ShownKey(tenant))
			d.checkPlace(at, s.Tenants[tenant], true)
		}
		if _, twice := s.Tenants[identity.DefaultTenant]; twice && s.placed() {
			at := yamldoc.Join(yamldoc.Join(path, "tenants"), identity.DefaultTenant)
			d.Fail(d.Keys[at], at, "env, file or command of the secret itself is the place for this tenant; remove one of the two")
		}
		for _, principal := range slices.Sorted(maps.Keys(s.Principals)) {
			d.checkPlace(yamldoc.Join(yamldoc.Join(path, "principals"), yamldoc.ShownKey(principal)), s.Principals[principal], true)
		}
	}
}

// placed reports whether the secret itself has a place.
func (s *Secret) placed() bool {
	own := SecretPlace{Env: s.Env, File: s.File, Command: s.Command}
	return own.count() > 0
}

// checkPlace reports a place with two keys, an impossible one, and, if it is required, none.
func (d *decoder) checkPlace(path string, p SecretPlace, required bool) {
	env, file, command := yamldoc.Join(path, "env"), yamldoc.Join(path, "file"), yamldoc.Join(path, "command")
	if d.Failed(path) || d.Failed(env) || d.Failed(file) || d.Failed(command) {
		return
	}
	var given []string
	for _, key := range []string{env, file, command} {
		if _, ok := d.At[key]; ok {
			given = append(given, key)
		}
	}
	switch {
	case len(given) > 1:
		other := strings.TrimPrefix(given[1], path+".")
		d.Fail(d.At[given[0]], given[0], "the key %s names another place of the value; remove one of the two keys", other)
	case len(given) == 0 && required:
		d.Fail(d.Keys[path], path, "the place of the value is missing; write env and the name of a variable, file and a path, or command and a program")
	case len(given) == 0:
	case given[0] == env && (p.Env == "" || strings.ContainsAny(p.Env, "=\x00")):
		d.Fail(d.At[env], env, "a variable's name must not be empty or hold = or a zero byte")
	case given[0] == command && (len(p.Command) == 0 || !filepath.IsAbs(p.Command[0]) || strings.Contains(strings.Join(p.Command, ""), "\x00")):
		d.Fail(d.At[command], command, "a command begins with the absolute path of a program")
	}
}
