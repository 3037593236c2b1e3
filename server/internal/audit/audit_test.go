package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, c audit.Config) *audit.Log {
	t.Helper()
	l, err := audit.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func record(t *testing.T, l *audit.Log, d audit.Decision) {
	t.Helper()
	if err := l.Record(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

// lines returns the lines of a log, each of which must be a JSON object, without their places in
// the chain and without those about rotations.
func lines(t *testing.T, path string) []map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := []map[string]string{}
	for line := range bytes.Lines(data) {
		var values map[string]any
		if err := json.Unmarshal(line, &values); err != nil || !bytes.HasSuffix(line, []byte("}\n")) {
			t.Fatalf("the line %q: %v", line, err)
		}
		object := map[string]string{}
		for key, value := range values {
			if key != "seq" && key != "prev" {
				object[key] = fmt.Sprint(value)
			}
		}
		if object["kind"] != "rotation" {
			found = append(found, object)
		}
	}
	return found
}

func TestALineSaysAllButTheArguments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "audit.jsonl")
	l := open(t, audit.Config{File: path})
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600))
	record(t, l, audit.Decision{
		Time: at, Principal: "uid:1", Session: "s", CallID: "c", Tool: "rm", Plugin: "fs", Outcome: audit.Approved, Rule: "r", Reason: "two\nlines <b>",
		Arguments: json.RawMessage(`{"password":"hunter2"}`),
		Approval:  &tool.Approval{ApprovedBy: "uid:2", Reason: "fine", Time: at.Add(time.Second), Arguments: json.RawMessage(`{"password":"hunter2"}`)},
	})
	record(t, l, audit.Decision{Time: at, Principal: "uid:1", Tool: "rm", Outcome: audit.Denied})
	want := []map[string]string{
		{
			"kind": "call", "tenant": "default", "time": "2026-01-02T02:04:05.000006Z", "principal": "uid:1", "session": "s", "call_id": "c", "tool": "rm", "plugin": "fs", "decision": "approved",
			"rule": "r", "reason": "two\nlines <b>", "approved_by": "uid:2", "approval_reason": "fine", "approval_time": "2026-01-02T02:04:06.000006Z",
			"arguments_sha256": "7881d759c44f0e45f22a9ec1075a2b26a80da5dea5e08eb791d84468c4388222",
		},
		{
			"kind": "call", "tenant": "default", "time": "2026-01-02T02:04:05.000006Z", "principal": "uid:1", "session": "", "call_id": "", "tool": "rm", "plugin": "", "decision": "denied",
			// the digest of {}
			"arguments_sha256": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
		},
	}
	if diff := cmp.Diff(want, lines(t, path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text, err := os.ReadFile(path); err != nil || bytes.Contains(text, []byte("hunter2")) {
		t.Errorf("the arguments are in the log: %s, %v", text, err)
	}
	for name, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestWhatIsKept(t *testing.T) {
	decisions := []audit.Decision{
		{CallID: "plain", Outcome: audit.Allowed}, {CallID: "ruled", Outcome: audit.Allowed, Rule: "r"}, {CallID: "denied", Outcome: audit.Denied},
		{CallID: "held", Outcome: audit.ApprovalRequired}, {CallID: "approved", Outcome: audit.Approved},
		{CallID: "soon", Outcome: audit.RateLimited}, {CallID: "ruled-soon", Outcome: audit.RateLimited, Rule: "r"},
		{CallID: "approved-soon", Outcome: audit.RateLimited, Approval: &tool.Approval{ApprovedBy: "Ada"}},
	}
	for all, want := range map[bool]string{
		false: "ruled denied held approved ruled-soon approved-soon",
		true:  "plain ruled denied held approved soon ruled-soon approved-soon",
	} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		l := open(t, audit.Config{File: path, All: all})
		for _, d := range decisions {
			record(t, l, d)
		}
		var got []string
		for _, line := range lines(t, path) {
			got = append(got, line["call_id"])
			if now, err := time.Parse(time.RFC3339Nano, line["time"]); err != nil || time.Since(now).Abs() > time.Hour {
				t.Errorf("the time is %s", line["time"])
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("all %v: %s", all, got)
		}
	}
}

func TestManyWriteWhileTheFileIsMoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	l := open(t, audit.Config{File: path})
	const writers, each, moves = 8, 100, 20
	var working sync.WaitGroup
	for w := range writers {
		working.Go(func() {
			for i := range each {
				if err := l.Record(t.Context(), audit.Decision{CallID: fmt.Sprintf("%d-%d", w, i), Outcome: audit.Denied}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for m := range moves {
		if err := os.Rename(path, fmt.Sprintf("%s.%d", path, m)); err != nil {
			t.Fatal(err)
		}
		if err := l.Reopen(); err != nil {
			t.Fatal(err)
		}
	}
	working.Wait()
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != moves+1 {
		t.Fatalf("the files are %v: %v", files, err)
	}
	seen := map[string]int{}
	for _, file := range files {
		for _, line := range lines(t, file) {
			seen[line["call_id"]]++
		}
	}
	for w := range writers {
		for i := range each {
			if id := fmt.Sprintf("%d-%d", w, i); seen[id] != 1 {
				t.Errorf("%s is there %d times", id, seen[id])
			}
		}
	}
}

func TestALineAfterHalfALineIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte("{\"call_id\":\"whole\"}\n{\"call_id\":\"ha"), 0o640); err != nil {
		t.Fatal(err)
	}
	l := open(t, audit.Config{File: path})
	for _, id := range []string{"a", "b"} {
		record(t, l, audit.Decision{CallID: id, Outcome: audit.Denied})
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(string(data), "\n")
	if len(got) != 5 || got[1] != `{"call_id":"ha` || !strings.Contains(got[2], `"call_id":"a"`) || !strings.Contains(got[3], `"call_id":"b"`) || got[4] != "" {
		t.Errorf("the file is\n%s", data)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode that somebody chose was changed to %v, %v", info.Mode(), err)
	}
}

func TestWhatCannotBeWrittenIsAnError(t *testing.T) {
	dir := t.TempDir()
	if l, err := audit.Open(audit.Config{File: dir}); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a folder: %v, %v", l, err)
	}
	path := filepath.Join(dir, "a.jsonl")
	l := open(t, audit.Config{File: path})
	d := audit.Decision{CallID: "c", Outcome: audit.Denied}

	record(t, l, d)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); err == nil {
		t.Error("a folder took the file's place, and that is no error")
	}
	record(t, l, d) // the log still uses the old file
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	record(t, l, d)
	if got := lines(t, path); len(got) != 1 {
		t.Errorf("the new file has %v", got)
	}

	if err := l.Record(t.Context(), audit.Decision{Outcome: audit.Denied, Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Error("what has no JSON is no error")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Record(t.Context(), d); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("after Close: %v", err)
	}
	if err := l.Reopen(); err == nil {
		t.Error("after Close it can be opened again")
	}
}

func TestWaitingForOtherLinesEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	l := open(t, audit.Config{File: path})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	release := l.Hold()
	err := l.Record(ended, audit.Decision{CallID: "late", Outcome: audit.Denied})
	release()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := l.Record(ended, audit.Decision{CallID: "free", Outcome: audit.Denied}); err != nil {
		t.Errorf("nothing had to be waited for: %v", err)
	}
	if got := lines(t, path); len(got) != 1 || got[0]["call_id"] != "free" {
		t.Errorf("the log has %v", got)
	}
}

func TestTextsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	l := open(t, audit.Config{File: path})
	long := strings.Repeat("aé", 1<<20)
	record(t, l, audit.Decision{Outcome: audit.Approved, Reason: long, Approval: &tool.Approval{ApprovedBy: long, Reason: long}})
	got := lines(t, path)[0]
	for _, key := range []string{"reason", "approved_by", "approval_reason"} {
		if len(got[key]) > 4100 || !strings.HasSuffix(got[key], "a…") && !strings.HasSuffix(got[key], "é…") {
			t.Errorf("%s has %d bytes and ends with %q", key, len(got[key]), got[key][len(got[key])-8:])
		}
	}
	if got["approval_time"] != "" {
		t.Errorf("the time of an approval without one is %s", got["approval_time"])
	}
}
