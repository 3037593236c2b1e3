package main

import (
	"context"
	"sync"
	"time"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
	"github.com/toolhost/toolhost/plugins/querydb/setup"
)

const (
	// fresh is how long a schema is reused. Tools are described before each call.
	fresh = time.Minute
	// freshFailure is the same for an unreadable schema.
	freshFailure = 5 * time.Second
	// maxSchemas limits the number of cached schemas.
	maxSchemas = 256
)

// schemas caches schemas. The zero value is ready to use. It is safe for concurrent use.
type schemas struct {
	mu   sync.Mutex
	kept map[schemaKey]keptSchema
}

// schemaKey identifies a tenant's database. It includes the place, so that a change of the setup
// takes effect immediately.
type schemaKey struct{ tenant, database, place string }

type keptSchema struct {
	schema rowset.Schema
	err    error
	until  time.Time
}

// get returns a schema, from the cache if it is fresh.
func (s *schemas) get(ctx context.Context, of *shelf, name string, database setup.Database) (rowset.Schema, error) {
	key := schemaKey{tenant: of.tenant, database: name, place: place(database)}
	s.mu.Lock()
	kept, ok := s.kept[key]
	s.mu.Unlock()
	if ok && time.Now().Before(kept.until) {
		return kept.schema, kept.err
	}
	schema, err := of.schema(ctx, database, tablesToShow)
	age := fresh
	if err != nil {
		age = freshFailure
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil || len(s.kept) >= maxSchemas {
		s.kept = map[schemaKey]keptSchema{}
	}
	s.kept[key] = keptSchema{schema: schema, err: err, until: time.Now().Add(age)}
	return schema, err
}

func place(database setup.Database) string {
	if database.SQLite != nil {
		return database.SQLite.File
	}
	return database.Postgres.Role + " " + database.Postgres.Server
}
