package setup

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// CheckTenant returns what is wrong with a tenant's name, or nil. Names become parts of paths and
// roles, so they may only have letters, digits, _ and -.
func CheckTenant(name string) error {
	if !tenants.MatchString(name) {
		return fmt.Errorf("%q is no tenant; use 1 to 63 of A-Z a-z 0-9 _ -, beginning with a letter or digit", name)
	}
	return nil
}

// Names returns the names of a tenant's databases, sorted.
func (f *File) Names(tenant string) []string {
	all := slices.Sorted(maps.Keys(f.Databases))
	return slices.DeleteFunc(all, func(name string) bool {
		d := f.Databases[name]
		return !d.has(tenant)
	})
}

// Find returns a tenant's database, or false if the tenant has no database of that name.
func (f *File) Find(name, tenant string) (Database, bool) {
	d, ok := f.Databases[name]
	if !ok || !d.has(tenant) {
		return Database{}, false
	}
	return d.of(tenant), true
}

func (d *Database) has(tenant string) bool {
	return len(d.Tenants) == 0 || slices.Contains(d.Tenants, tenant)
}

// of returns the database with the tenant in place of each placeholder.
func (d *Database) of(tenant string) Database {
	one := *d
	put := func(text string) string { return strings.ReplaceAll(text, placeholder, tenant) }
	if d.SQLite != nil {
		one.SQLite = &SQLite{File: put(d.SQLite.File)}
	}
	if d.Postgres != nil {
		p := *d.Postgres
		p.Role, p.PasswordFile = put(p.Role), put(p.PasswordFile)
		one.Postgres = &p
	}
	return one
}
