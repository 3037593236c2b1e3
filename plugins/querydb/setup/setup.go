// Package setup reads the operator's file about the databases that can be queried, in YAML or JSON.
//
// It owns the keys of the file, their defaults and limits, and which file or role belongs to a
// tenant. It opens no database.
package setup

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// File is the whole file.
type File struct {
	// Tenant is the tenant of all calls, for a machine with one tenant. If empty, the calls'
	// context names it.
	Tenant string `yaml:"tenant"`
	// Databases maps the names that models use to databases.
	Databases map[string]Database `yaml:"databases"`
}

// Database is one database, separate for each tenant. Either SQLite or Postgres is set.
type Database struct {
	// Description describes the content to models. It may be empty.
	Description string `yaml:"description"`
	// Tenants are the tenants that have the database. Empty means all.
	Tenants  []string  `yaml:"tenants"`
	SQLite   *SQLite   `yaml:"sqlite"`
	Postgres *Postgres `yaml:"postgres"`
	// MaxRows is the largest number of rows of an answer. 0 means 200.
	MaxRows int `yaml:"max_rows"`
	// MaxBytes is the largest size of an answer's values, in bytes. 0 means 256 KiB.
	MaxBytes int `yaml:"max_bytes"`
	// Timeout is the time limit of a query. 0 means 10 s.
	Timeout time.Duration `yaml:"timeout"`
}

// SQLite is one file per tenant.
type SQLite struct {
	// File is the path. {tenant} in it stands for the tenant. A relative path starts at the folder
	// of the setup file.
	File string `yaml:"file"`
}

// Postgres is one login role per tenant.
type Postgres struct {
	// Server is a libpq connection string without user and password.
	Server string `yaml:"server"`
	// Role is the login role. {tenant} in it stands for the tenant.
	Role string `yaml:"role"`
	// PasswordFile is the file with the role's password. {tenant} in it stands for the tenant.
	// Empty if the server asks for none.
	PasswordFile string `yaml:"password_file"`
	// AllowFunctions names functions that the role may execute although they do more than read,
	// such as pg_sleep.
	AllowFunctions []string `yaml:"allow_functions"`
}

const (
	defaultRows    = 200
	defaultBytes   = 256 << 10
	defaultTimeout = 10 * time.Second

	mostRows    = 10_000
	mostBytes   = 16 << 20
	mostTimeout = 5 * time.Minute

	// placeholder stands for the tenant's name.
	placeholder = "{tenant}"
)

var (
	names   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	tenants = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)
)

// Read reads and validates a file. The error lists everything that is wrong with the content.
func Read(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the setup of the databases: %w", err)
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("reading the setup of the databases: %w", err)
	}
	// This plugin does not use the strict YAML layer of toolhost's own files
	// (server/internal/text/yamldoc). The shipped plugins import only sdk and the libraries that they
	// wrap, as the plugins of any author do. The library's strict mode refuses unknown keys too, with
	// line and column.
	var f File
	if err := yaml.UnmarshalWithOptions(text, &f, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if err := f.complete(folder); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return &f, nil
}

// complete sets defaults and returns all errors.
func (f *File) complete(folder string) error {
	var problems []error
	if f.Tenant != "" && !tenants.MatchString(f.Tenant) {
		problems = append(problems, fmt.Errorf("tenant: %w", CheckTenant(f.Tenant)))
	}
	if len(f.Databases) == 0 {
		problems = append(problems, errors.New("databases: there are none; name at least one"))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Databases)) {
		d := f.Databases[name]
		if !names.MatchString(name) {
			problems = append(problems, fmt.Errorf("databases: %q is no name; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter", name))
		}
		for _, problem := range d.complete(folder, f.Tenant != "") {
			problems = append(problems, fmt.Errorf("databases.%s.%w", name, problem))
		}
		f.Databases[name] = d
	}
	return errors.Join(problems...)
}

func (d *Database) complete(folder string, single bool) []error {
	var problems []error
	fail := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, t := range d.Tenants {
		if err := CheckTenant(t); err != nil {
			fail("tenants: %w", err)
		}
	}
	fallback(&d.MaxRows, defaultRows)
	fallback(&d.MaxBytes, defaultBytes)
	fallback(&d.Timeout, defaultTimeout)
	if d.MaxRows < 1 || d.MaxRows > mostRows {
		fail("max_rows: %d is not from 1 to %d", d.MaxRows, mostRows)
	}
	if d.MaxBytes < 1 || d.MaxBytes > mostBytes {
		fail("max_bytes: %d is not from 1 to %d", d.MaxBytes, mostBytes)
	}
	if d.Timeout < time.Millisecond || d.Timeout > mostTimeout {
		fail("timeout: %v is not from 1ms to %v", d.Timeout, mostTimeout)
	}
	// A place that does not depend on the tenant would be shared by all tenants.
	single = single || len(d.Tenants) == 1
	switch {
	case (d.SQLite == nil) == (d.Postgres == nil):
		fail("sqlite, postgres: set one of the two")
	case d.SQLite != nil:
		problems = append(problems, d.SQLite.complete(folder, single)...)
	default:
		problems = append(problems, d.Postgres.complete(folder, single)...)
	}
	return problems
}

func (s *SQLite) complete(folder string, single bool) []error {
	if s.File == "" {
		return []error{errors.New("sqlite.file: say where the file is")}
	}
	if !single && !strings.Contains(s.File, placeholder) {
		return []error{fmt.Errorf("sqlite.file: %q is the same file for every tenant; put %s in it, or name one tenant", s.File, placeholder)}
	}
	s.File = within(folder, s.File)
	return nil
}

func (p *Postgres) complete(folder string, single bool) []error {
	var problems []error
	if p.Role == "" {
		problems = append(problems, errors.New("postgres.role: say as which role a tenant logs in"))
	} else if !single && !strings.Contains(p.Role, placeholder) {
		problems = append(problems, fmt.Errorf("postgres.role: %q is the same role for every tenant; put %s in it, or name one tenant", p.Role, placeholder))
	}
	if p.PasswordFile != "" {
		p.PasswordFile = within(folder, p.PasswordFile)
	}
	return problems
}

func fallback[T int | time.Duration](value *T, otherwise T) {
	if *value == 0 {
		*value = otherwise
	}
}

func within(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}
