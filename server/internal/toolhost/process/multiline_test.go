package process

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recordsOf returns the records of a process that prints a text to standard error, each as its
// level and its message.
func recordsOf(t *testing.T, limit int, printed string) []string {
	t.Helper()
	var out bytes.Buffer
	o := newOutput(slog.New(slog.NewJSONHandler(&out, nil)), 1000, limit)
	for line := range strings.Lines(printed) {
		o.stderrLine(strings.TrimSuffix(line, "\n"))
	}
	o.close()
	var records []string
	for line := range strings.Lines(out.String()) {
		r := parseRecord(strings.TrimSuffix(line, "\n"))
		records = append(records, fmt.Sprintf("%v %s", r.level, r.message))
	}
	return records
}

// A stack trace of each language is one record at the level error, and lines of text that do not
// belong together stay apart.
func TestLinesThatBelongTogether(t *testing.T) {
	for name, tc := range map[string]struct {
		printed string
		want    []string
	}{
		"plain lines": {"one\ntwo\n\nthree\n", []string{"INFO one", "INFO two", "INFO three"}},
		"indented":    {"options:\n  -a\n\t-b\nnext\n", []string{"INFO options:\n  -a\n\t-b", "INFO next"}},
		"Python": {
			"started\nTraceback (most recent call last):\n  File \"x.py\", line 1, in f\n    raise X\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n" +
				"Traceback (most recent call last):\n  File \"x.py\", line 2, in g\nValueError: b\nlater\n",
			[]string{
				"INFO started",
				"ERROR Traceback (most recent call last):\n  File \"x.py\", line 1, in f\n    raise X\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n" +
					"Traceback (most recent call last):\n  File \"x.py\", line 2, in g\nValueError: b",
				"INFO later",
			},
		},
		"Go": {
			"panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:5 +0x1d\nexit status 2\n",
			[]string{"ERROR panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:5 +0x1d\nexit status 2"},
		},
		"Node": {
			"Error: no such city\n    at call (file:///x/tool.js:3:9)\n    at run (node:internal/x:1:2)\n",
			[]string{"ERROR Error: no such city\n    at call (file:///x/tool.js:3:9)\n    at run (node:internal/x:1:2)"},
		},
		"a record ends a trace": {
			"panic: boom\n" + `{"level":"WARN","msg":"a record"}` + "\ngoroutine 1\n",
			[]string{"ERROR panic: boom", "WARN a record", "INFO goroutine 1"},
		},
		"TypeScript's SDK": {
			`level=WARN msg="it is late" why="a b"` + "\n" + `level=ERROR msg="a tool failed" error="Error: x\n    at y"` + "\nlevel= nothing\n",
			[]string{"WARN it is late", "ERROR a tool failed", "INFO level= nothing"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, recordsOf(t, 8<<10, tc.printed)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A trace that is longer than a record may be becomes several records, without a loss.
func TestLongTrace(t *testing.T) {
	printed := "panic: boom\n" + strings.Repeat("\tmain.f()\n", 100)
	got := recordsOf(t, 300, printed)
	lines := 0
	for _, r := range got {
		if len(r) > 300+len("ERROR ") {
			t.Errorf("a record has %d bytes", len(r))
		}
		lines += strings.Count(r, "\n") + 1
	}
	if lines != 101 || len(got) < 4 {
		t.Errorf("%d lines in %d records", lines, len(got))
	}
}

// A line is logged soon even if no other line follows, with the time at which it arrived.
func TestLastLineIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		o := newOutput(slog.New(slog.NewTextHandler(&out, nil)), 10, 8<<10)
		defer o.close()
		arrived := time.Now()
		o.stderrLine("ready")
		time.Sleep(time.Second) // virtual
		synctest.Wait()
		if want := "time=" + arrived.Format("2006-01-02T15:04:05.000Z07:00") + " level=INFO msg=ready\n"; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	})
}
