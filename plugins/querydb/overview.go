package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
	"github.com/toolhost/toolhost/plugins/querydb/setup"
)

const (
	// roomForTables limits the bytes that tables take in a description, because each request to the
	// model has the description.
	roomForTables = 4096
	// roomForLine limits the bytes of one table.
	roomForLine = 500
	// tablesToShow is the largest number of tables that can fit.
	tablesToShow = 100
	// patience is how long a description waits for the databases. Databases that have not answered
	// by then are listed without tables.
	patience = 3 * time.Second
)

// noLimit is a room that no line exceeds.
const noLimit = int(^uint(0) >> 1)

// overview lists the tenant's databases and their tables, as far as they fit.
func (s *shelf) overview(ctx context.Context) string {
	names := s.file.Names(s.tenant)
	if len(names) == 0 {
		return "There is no database that can be queried here."
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the database did not answer within %v", patience))
	defer cancel()
	parts := make([]string, len(names))
	var reading sync.WaitGroup
	for i, name := range names {
		reading.Go(func() { // ends with ctx
			database, _ := s.file.Find(name, s.tenant)
			parts[i] = s.describe(ctx, name, database, roomForTables/len(names))
		})
	}
	reading.Wait()
	return "The databases and their tables:\n" + strings.Join(parts, "\n")
}

// describe describes one database in about room bytes.
func (s *shelf) describe(ctx context.Context, name string, database setup.Database, room int) string {
	dialect := "PostgreSQL"
	if database.SQLite != nil {
		dialect = "SQLite"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s, at most %d rows)", name, dialect, database.MaxRows)
	if database.Description != "" {
		b.WriteString(": " + oneLine(database.Description))
	}
	schema, err := s.schemas.get(ctx, s, name, database)
	if err != nil {
		b.WriteString("\n  its tables cannot be listed now; describe_db may tell why")
		return b.String()
	}
	if len(schema.Tables) == 0 {
		b.WriteString("\n  no tables")
	}
	for i, table := range schema.Tables {
		line := "\n  " + tableLine(table, roomForLine)
		if b.Len()+len(line) > room && i > 0 {
			schema.More = true
			break
		}
		b.WriteString(line)
	}
	if schema.More {
		b.WriteString("\n  … and more tables: see describe_db")
	}
	return b.String()
}

// tableLine returns a table with its columns as one line of about room bytes at most.
func tableLine(table rowset.Table, room int) string {
	var b strings.Builder
	b.WriteString(oneLine(table.Name) + "(")
	for i, column := range table.Columns {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > room {
			b.WriteString("…")
			break
		}
		b.WriteString(oneLine(column.Name))
		for _, word := range []string{column.Type, column.Key} {
			if word != "" {
				b.WriteString(" " + oneLine(word))
			}
		}
		if column.Comment != "" {
			b.WriteString(" -- " + clip(oneLine(column.Comment), room/4))
		}
	}
	b.WriteString(")")
	if table.Comment != "" {
		b.WriteString(" -- " + clip(oneLine(table.Comment), room/4))
	}
	return b.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// clip truncates a text to room bytes without splitting a character.
func clip(text string, room int) string {
	if len(text) <= room {
		return text
	}
	return strings.ToValidUTF8(text[:room], "") + "…"
}
