package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/toolhost/toolhost/plugins/querydb/postgres"
	"github.com/toolhost/toolhost/plugins/querydb/rowset"
	"github.com/toolhost/toolhost/plugins/querydb/setup"
	"github.com/toolhost/toolhost/plugins/querydb/sqlite"
	"github.com/toolhost/toolhost/sdk"
)

const (
	// setupVariable is the environment variable with the path of the operator's file.
	setupVariable = "QUERY_DB_SETUP"
	// keyTenant is the context key of the call's tenant. Arguments never name the tenant, because a
	// model writes them.
	keyTenant = sdk.KeyTenant
)

// library has the databases of all tenants. It is safe for concurrent use.
type library struct {
	path    string // path of the operator's file; empty if there is none
	files   *sqlite.Reader
	schemas schemas
}

func newLibrary(path string) (*library, error) {
	files, err := sqlite.NewReader()
	if err != nil {
		return nil, err
	}
	return &library{path: path, files: files}, nil
}

// shelf has the databases of one tenant according to the present file.
type shelf struct {
	*library
	file   *setup.File
	tenant string
}

// shelf returns the databases of the call's tenant. It reads the file each time, so that a change
// applies to the next call.
func (l *library) shelf(ctx context.Context) (*shelf, error) {
	if l.path == "" {
		return nil, sdk.Unavailable("no databases are set up; an operator names the file that does in %s, among the environment variables of the plugin querydb in toolhost.yaml", setupVariable)
	}
	file, err := setup.Read(l.path)
	if err != nil {
		return nil, sdk.Unavailable("the databases are not set up right: %w%s", err, ungranted(err))
	}
	tenant := file.Tenant
	if tenant == "" {
		var found bool
		tenant, found, err = sdk.Value[string](ctx, keyTenant)
		if !found {
			return nil, sdk.Denied("the call has no tenant; the caller names it in the context, as %s", keyTenant)
		}
		if err != nil {
			return nil, sdk.Denied("the context's %s is no text: %w", keyTenant, err)
		}
	}
	if err := setup.CheckTenant(tenant); err != nil {
		return nil, sdk.Denied("the context's %s: %w", keyTenant, err)
	}
	return &shelf{library: l, file: file, tenant: tenant}, nil
}

// described returns the databases for describing a tool, or nil if the tenant is unknown. The tool
// then keeps its declared description.
func (l *library) described(ctx context.Context) (*shelf, error) {
	s, err := l.shelf(ctx)
	if infra, ok := errors.AsType[*sdk.Error](err); ok && infra.Kind == kindDenied {
		return nil, nil
	}
	return s, err
}

// kindDenied is the kind of errors of sdk.Denied.
const kindDenied sdk.Kind = "denied"

// find returns a database of the tenant.
func (s *shelf) find(name string) (setup.Database, error) {
	database, ok := s.file.Find(name, s.tenant)
	if !ok {
		names := strings.Join(s.file.Names(s.tenant), ", ")
		if names == "" {
			return database, errors.New("there is no database here that you may query")
		}
		return database, fmt.Errorf("there is no database %q; there are: %s", name, names)
	}
	return database, nil
}

// within returns a context that ends when a query exceeds the database's time limit. The cause is a
// message for the model.
func within(ctx context.Context, database setup.Database) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, database.Timeout,
		fmt.Errorf("it took longer than the %v that a query may take; filter, aggregate, or use an index", database.Timeout))
}

// query runs a statement.
func (s *shelf) query(ctx context.Context, database setup.Database, in queryInput) (rowset.Answer, error) {
	limits := rowset.Limits{Rows: database.MaxRows, Bytes: database.MaxBytes}
	if in.MaxRows > 0 {
		limits.Rows = min(limits.Rows, in.MaxRows)
	}
	ctx, cancel := within(ctx, database)
	defer cancel()
	if database.SQLite != nil {
		parameters, err := asValues(in.Parameters)
		if err != nil {
			return rowset.Answer{}, err
		}
		answer, err := s.files.Query(ctx, database.SQLite.File, in.SQL, parameters, limits)
		return answer, judged(err)
	}
	parameters, err := asTexts(in.Parameters)
	if err != nil {
		return rowset.Answer{}, err
	}
	role, err := roleOf(database.Postgres)
	if err != nil {
		return rowset.Answer{}, err
	}
	answer, err := postgres.Query(ctx, role, in.SQL, parameters, limits)
	return answer, judged(err)
}

// schema reads at most the given number of tables of a database.
func (s *shelf) schema(ctx context.Context, database setup.Database, most int) (rowset.Schema, error) {
	ctx, cancel := within(ctx, database)
	defer cancel()
	if database.SQLite != nil {
		schema, err := s.files.Schema(ctx, database.SQLite.File, most)
		return schema, judged(err)
	}
	role, err := roleOf(database.Postgres)
	if err != nil {
		return rowset.Schema{}, err
	}
	schema, err := postgres.Schema(ctx, role, most)
	return schema, judged(err)
}

// roleOf returns the role with its password. It reads the password each time, because it may have
// changed.
func roleOf(p *setup.Postgres) (postgres.Role, error) {
	role := postgres.Role{Server: p.Server, Name: p.Role, AllowFunctions: p.AllowFunctions}
	if p.PasswordFile != "" {
		password, err := os.ReadFile(p.PasswordFile)
		if err != nil {
			return role, sdk.Unavailable("the password of the role %q cannot be read: %w%s", p.Role, err, ungranted(err))
		}
		role.Password = strings.TrimRight(string(password), "\r\n")
	}
	return role, nil
}

// judged classifies an error. An error that the model can correct stays unchanged. An error that
// the operator must correct goes to the caller.
func judged(err error) error {
	switch {
	case errors.Is(err, postgres.ErrUnfit):
		return sdk.Denied("%w", err)
	case errors.Is(err, postgres.ErrUnavailable), errors.Is(err, sqlite.ErrUnavailable):
		return sdk.Unavailable("%w; if it is there, "+grantIt, err)
	}
	return err
}

const grantIt = "an operator may have to grant it in the plugin's sandbox, as docs/query_db.md says"

// ungranted returns a hint for an error about a file that the sandbox hides.
func ungranted(err error) string {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return "; if it is there, " + grantIt
	}
	return ""
}
