package auditlog

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/audit"
	ledger "github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
)

// The log must have the lines that the database has noted: a log that was cut, replaced or begun
// again is found. Lines of files that rotation has removed are not asked for.
func TestNotedLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.Config{File: path, All: true})
	if err != nil {
		t.Fatal(err)
	}
	var heads []audit.Head
	if log.Head() != (audit.Head{}) {
		t.Errorf("the head of an empty log: %v", log.Head())
	}
	for range 4 {
		if err := log.Record(t.Context(), audit.Decision{Principal: "uid:7", Tool: "echo", Outcome: audit.Allowed}); err != nil {
			t.Fatal(err)
		}
		heads = append(heads, log.Head())
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(bytes.Lines(whole))
	for name, test := range map[string]struct {
		lines    [][]byte
		noted    []audit.Head
		problems int
		compared int
	}{
		"all":              {lines, heads, 0, 4},
		"none is noted":    {lines[:2], nil, 0, 0},
		"the end is gone":  {lines[:3], heads, 1, 4},
		"the beginning is": {lines[2:], heads, 0, 2},
		"it is empty":      {nil, heads[3:], 1, 1},
		"another line 2":   {lines, []audit.Head{{Seq: 2, SHA256: strings.Repeat("0", 64)}}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "audit.jsonl")
			if err := os.WriteFile(file, bytes.Join(test.lines, nil), 0o600); err != nil {
				t.Fatal(err)
			}
			found, compared, err := verify([]string{file}, nil, test.noted)
			if err != nil || len(found.Problems) != test.problems || len(compared) != test.compared {
				t.Errorf("%d compared, %v, %v", len(compared), found.Problems, err)
			}
		})
	}
}

// What the database has is any text.
func TestHeadsOfNodes(t *testing.T) {
	digest := strings.Repeat("a", 64)
	nodes := []ledger.Listed{{Folder: "mine", Audited: "7:" + digest}, {Folder: "other", Audited: "8:" + digest}, {Folder: "mine"}}
	heads, err := headsOf(nodes, "mine")
	if err != nil || len(heads) != 1 || heads[0] != (audit.Head{Seq: 7, SHA256: digest}) {
		t.Errorf("%v, %v", heads, err)
	}
	_, err = headsOf([]ledger.Listed{{ID: "1", Folder: "mine", Audited: "\x1b[2J"}}, "mine")
	if err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("a text that is no line: %v", err)
	}
	if heads, err := headsOf(slices.Repeat(nodes[:1], 1000), "mine"); err != nil || len(heads) != maxNoted {
		t.Errorf("of many starts: %d, %v", len(heads), err)
	}
}
