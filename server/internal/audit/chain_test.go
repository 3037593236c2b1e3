package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/tool"
)

// written returns the path of a log with some lines.
func written(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Config{File: path})
	for i := range n {
		record(t, l, audit.Decision{Principal: "red/ada", CallID: fmt.Sprintf("c%d", i), Outcome: audit.Denied})
	}
	return path
}

func verify(t *testing.T, path string, expected ...audit.Head) audit.Report {
	t.Helper()
	files, err := audit.Files(path)
	if err != nil {
		t.Fatal(err)
	}
	report, err := audit.Verify(files, expected...)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Verify finds each change of a line, a removed, inserted, repeated or exchanged line, and with the
// head also lines that are missing at the end, and a log that was replaced as a whole.
func TestVerifyFindsChanges(t *testing.T) {
	path := written(t, 5)
	head := verify(t, path).Head
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")[:5]
	forged, err := os.ReadFile(written(t, 5))
	if err != nil {
		t.Fatal(err)
	}
	for name, changed := range map[string][]string{
		"nothing":      lines,
		"changed":      {lines[0], strings.Replace(lines[1], "denied", "approved", 1), lines[2], lines[3], lines[4]},
		"first":        {strings.Replace(lines[0], "ada", "bob", 1), lines[1], lines[2], lines[3], lines[4]},
		"removed":      {lines[0], lines[1], lines[3], lines[4]},
		"exchanged":    {lines[0], lines[2], lines[1], lines[3], lines[4]},
		"repeated":     {lines[0], lines[1], lines[1], lines[2], lines[3], lines[4]},
		"inserted":     {lines[0], "{\"kind\":\"call\"}\n", lines[1], lines[2], lines[3], lines[4]},
		"no line":      {lines[0], "x\n", lines[1], lines[2], lines[3], lines[4]},
		"end removed":  lines[:3],
		"last changed": {lines[0], lines[1], lines[2], lines[3], strings.Replace(lines[4], "denied", "allowed", 1)},
		"all removed":  nil,
		"replaced":     {string(forged)},
	} {
		if err := os.WriteFile(path, []byte(strings.Join(changed, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		report := verify(t, path, head)
		if found := len(report.Problems) > 0; found != (name != "nothing") {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

// The chain continues after a restart, after an incomplete line, and in the file of a version
// without a chain.
func TestTheChainContinues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(path, []byte("{\"call_id\":\"old\"}\n{\"call_id\":\"ha"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		l, err := audit.Open(audit.Config{File: path})
		if err != nil {
			t.Fatal(err)
		}
		record(t, l, audit.Decision{Outcome: audit.Denied})
		record(t, l, audit.Decision{Outcome: audit.Denied})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	report := verify(t, path)
	if len(report.Problems) > 0 || report.Lines != 6 || report.Unchained != 1 || report.Broken != 1 || report.First != 1 || report.Last != 6 {
		t.Errorf("got %+v", report)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(`"ha`), []byte(`"xx`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if report := verify(t, path); len(report.Problems) == 0 {
		t.Error("the incomplete line was changed, and that is no problem")
	}
}

// A log rotates by its size without a gap, and keeps some files.
func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Config{File: path, MaxBytes: 2000})
	var working sync.WaitGroup
	for w := range 4 {
		working.Go(func() {
			for i := range 50 {
				if err := l.Record(t.Context(), audit.Decision{CallID: fmt.Sprintf("%d-%d", w, i), Outcome: audit.Denied}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	working.Wait()
	files, err := audit.Files(path)
	if err != nil || len(files) < 10 {
		t.Fatalf("there are %d files, %v", len(files), err)
	}
	report := verify(t, path)
	if len(report.Problems) > 0 || report.First != 1 || report.Lines != 200+len(files)-1 {
		t.Errorf("%d files: %+v", len(files), report)
	}
	if report, err := audit.Verify(slices.Delete(slices.Clone(files), 3, 4)); err != nil || len(report.Problems) == 0 {
		t.Errorf("a missing file in the middle is not found: %+v, %v", report, err)
	}
	limited := open(t, audit.Config{File: path, MaxBytes: 2000, KeepFiles: 2})
	for range 20 {
		record(t, limited, audit.Decision{Outcome: audit.Denied})
	}
	if files, err := audit.Files(path); err != nil || len(files) != 3 {
		t.Errorf("%v stayed, %v", files, err)
	}
	if report := verify(t, path); len(report.Problems) > 0 || report.First < 2 {
		t.Errorf("without the oldest files: %+v", report)
	}
}

// Lines in a file without a name would be lost with the process. So a log whose file was removed
// goes on in a new file of the same name, and fails if there cannot be one.
func TestARemovedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Config{File: path})
	denied := audit.Decision{Principal: "red/ada", CallID: "c", Outcome: audit.Denied}
	record(t, l, denied)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	record(t, l, denied)
	if got := lines(t, path); len(got) != 1 || got[0]["call_id"] != "c" {
		t.Errorf("the new file has %v", got)
	}
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := l.Record(t.Context(), denied); err == nil {
		t.Error("a line was written, and there is no file for it")
	}
}

// Two logs, such as those of toolhost and of a command, write one chain.
func TestTwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a, b := open(t, audit.Config{File: path}), open(t, audit.Config{File: path})
	var working sync.WaitGroup
	for _, l := range []*audit.Log{a, b} {
		working.Go(func() {
			for range 100 {
				if err := l.Note(t.Context(), audit.Event{Kind: audit.OfCredential, Act: "create", Outcome: audit.Allowed}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	working.Wait()
	if report := verify(t, path); len(report.Problems) > 0 || report.Lines != 200 {
		t.Errorf("got %+v", report)
	}
}

// A server rotates its log while another process writes to it, and while commands open it for one
// line each. No line is lost, and the chain has no gap.
func TestWritersFollowARotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	server, other := open(t, audit.Config{File: path, MaxBytes: 2000}), open(t, audit.Config{File: path})
	note := func(l *audit.Log) {
		if err := l.Note(t.Context(), audit.Event{Kind: audit.OfCredential, Act: "create", Outcome: audit.Allowed}); err != nil {
			t.Error(err)
		}
	}
	var working sync.WaitGroup
	for _, l := range []*audit.Log{server, other} {
		working.Go(func() {
			for range 100 {
				note(l)
			}
		})
	}
	working.Go(func() {
		for range 100 {
			command, err := audit.Open(audit.Config{File: path})
			if err != nil {
				t.Error(err)
				return
			}
			note(command)
			if err := command.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	working.Wait()
	files, err := audit.Files(path)
	if err != nil || len(files) < 10 {
		t.Fatalf("there are %d files, %v", len(files), err)
	}
	notes := 0
	if err := audit.Search(t.Context(), files, audit.Query{Kind: audit.OfCredential}, func(audit.Line) error { notes++; return nil }); err != nil {
		t.Fatal(err)
	}
	if report := verify(t, path); len(report.Problems) > 0 || report.First != 1 || notes != 300 {
		t.Errorf("%d notes in %d files: %+v", notes, len(files), report)
	}
}

// A log whose newest file is gone goes on after the former one, and says so.
func TestALogWithoutItsNewestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Config{File: path, MaxBytes: 1})
	record(t, l, audit.Decision{Outcome: audit.Denied})
	if err := errors.Join(l.Close(), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	record(t, open(t, audit.Config{File: path}), audit.Decision{Outcome: audit.Denied})
	report := verify(t, path)
	text, err := os.ReadFile(path)
	if err != nil || len(report.Problems) > 0 || report.Last != 3 || !strings.Contains(string(text), "there was no file") {
		t.Errorf("%+v, %v, %s", report, err, text)
	}
}

// A log whose file lost its end continues so that Verify finds the gap.
func TestATruncatedLogHasAGap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Config{File: path})
	for range 3 {
		record(t, l, audit.Decision{Outcome: audit.Denied})
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	record(t, l, audit.Decision{Outcome: audit.Denied})
	record(t, l, audit.Decision{Outcome: audit.Denied})
	if report := verify(t, path); report.First != 4 || report.Last != 5 {
		t.Errorf("got %+v", report)
	}
}

func TestSearch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Config{File: path})
	record(t, l, audit.Decision{Principal: "red/ada", CallID: "a", Outcome: audit.Denied})
	record(t, l, audit.Decision{Principal: "blue/bob", Via: "agentd", CallID: "b", Outcome: audit.Approved, Approval: &tool.Approval{Approver: "blue/eve"}})
	if err := l.Note(t.Context(), audit.Event{Kind: audit.OfAuthentication, From: "192.0.2.1", Act: "/toolhost.v1.ToolService/Call", Outcome: audit.Denied}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		query audit.Query
		want  []uint64
	}{
		"all":             {audit.Query{}, []uint64{1, 2, 3}},
		"a tenant":        {audit.Query{Tenants: []string{"red"}}, []uint64{1}},
		"no tenant":       {audit.Query{Tenants: []string{}}, nil},
		"a principal":     {audit.Query{Principal: "blue/bob"}, []uint64{2}},
		"a delegate":      {audit.Query{Principal: "agentd"}, []uint64{2}},
		"an approver":     {audit.Query{Approver: "blue/eve"}, []uint64{2}},
		"a call":          {audit.Query{CallID: "a"}, []uint64{1}},
		"a kind":          {audit.Query{Kind: audit.OfAuthentication}, []uint64{3}},
		"an outcome":      {audit.Query{Outcome: audit.Denied}, []uint64{1, 3}},
		"the last":        {audit.Query{Last: 2}, []uint64{2, 3}},
		"the last denied": {audit.Query{Last: 1, Outcome: audit.Denied}, []uint64{3}},
		"after":           {audit.Query{After: 2}, []uint64{3}},
	} {
		var got []uint64
		if err := audit.Search(t.Context(), []string{path}, test.query, func(line audit.Line) error { got = append(got, line.Seq); return nil }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// Follow returns the newest line, and each new one, also when the log goes on in a new file.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Config{File: path})
	record(t, l, audit.Decision{Outcome: audit.Denied})
	record(t, l, audit.Decision{Outcome: audit.Denied})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen, done := make(chan uint64), make(chan error, 1)
	go func() {
		done <- l.Follow(ctx, audit.Query{Last: 1}, func(line audit.Line) error {
			select {
			case seen <- line.Seq:
			case <-ctx.Done():
			}
			return nil
		})
	}()
	if got := <-seen; got != 2 {
		t.Errorf("the first line is %d", got)
	}
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	record(t, l, audit.Decision{Outcome: audit.Denied})
	if first, second := <-seen, <-seen; first != 3 || second != 4 {
		t.Errorf("then %d and %d", first, second)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
