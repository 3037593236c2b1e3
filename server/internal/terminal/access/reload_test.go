package access_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/terminal/access"
	"github.com/toolhost/toolhost/tool"
)

// A reload that changes callers or their rights is in the audit log, with the caller that reloads.
// If the log cannot be written, the reload must not happen.
func TestNoteReload(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.Config{File: file})
	if err != nil {
		t.Fatal(err)
	}
	ada := identity.NewContext(t.Context(), identity.Principal{Tenant: "red", Name: "ada", Credential: "token", From: "192.0.2.1"})
	plain := &tool.ConfigurationChange{File: "f", Changes: []tool.SettingChange{{Key: "authors"}, {Key: "log.level"}}}
	rights := &tool.ConfigurationChange{File: "f", Changes: []tool.SettingChange{{Key: "log.level"}, {Key: "auth.bindings"}, {Key: "auth.issuers"}}}
	for _, err := range []error{access.NoteReload(ada, log, plain), access.NoteReload(ada, log, rights), access.NoteReload(t.Context(), log, rights)} {
		if err != nil {
			t.Error(err)
		}
	}
	var lines []string
	if err := audit.Search(t.Context(), []string{file}, audit.Query{}, func(l audit.Line) error { lines = append(lines, string(l.Text)); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 2 || !strings.Contains(lines[0], `"principal":"red/ada"`) || !strings.Contains(lines[0], "auth.bindings, auth.issuers") || !strings.Contains(lines[1], `"from":"signal"`) {
		t.Errorf("%q", lines)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := access.NoteReload(ada, log, rights); err == nil {
		t.Error("a reload that cannot be written is permitted")
	}
}
