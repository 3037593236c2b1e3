package postgres

import (
	"strings"
	"testing"
)

// The first two are the forms of libpq, in which a journal was taken for a file of SQLite. The
// others are what documentation and drivers write: libpq's connection strings, Npgsql, JDBC,
// Doctrine, GDAL, psql.
func TestCheckFile(t *testing.T) {
	for _, text := range []string{
		"host=db.example dbname=agentd", "dbname=agentd", "hostaddr=10.0.0.1 port=5432", "user=agentd password=secret-word", "service=agentd",
		"Host=db.example;Database=agentd;Username=u;Password=secret-word", "Server=db;Port=5432", "  host = db.example", "sslmode=require host=x",
		"postgres:agentd", "postgresql:agentd", "jdbc:postgresql:agentd", "PG:dbname=agentd", "pgsql:host=db", "db.example:5432/agentd",
		"sqlite:runs.db", "file:runs.db?mode=rw", "mysql:agentd",
	} {
		err := CheckFile(text)
		if err == nil || strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", "runs.db", "./host=x", "/var/lib/agentd/runs.db", "a=b.db", "hosts", "postgres.db", "../x:5432/y", "runs 2026-11-28T10:00.db", "my journal.db"} {
		if err := CheckFile(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
