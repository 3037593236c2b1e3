package main

import (
	"os"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/plugins/querydb/postgres"
)

// blocks returns the code blocks of a language in docs/query_db.md.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/query_db.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, part := range strings.Split(string(text), "\n```"+language+"\n")[1:] {
		code, _, _ := strings.Cut(part, "\n```")
		found = append(found, code)
	}
	return found
}

func TestDocsNameTheFunctions(t *testing.T) {
	if sql := blocks(t, "sql")[0]; !strings.Contains(sql, "proname ~ '"+postgres.BeyondReading+"'") {
		t.Errorf("the statement in docs/query_db.md does not take these functions:\n%s", postgres.BeyondReading)
	}
}
