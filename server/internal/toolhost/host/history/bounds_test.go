//go:build !race

package history_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/tool"
)

// The bytes of the lines of a crash are bounded, and so are the bytes of all crashes in the file. A
// shorter time to keep them makes the file smaller. Only the newest crashes of each plugin are
// read.
func TestHistoryBoundsItsBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	l := open(t, path, 0)
	began := time.Now()
	const crashes = 600
	for n := range crashes {
		e := crash(n, began)
		e.Exit.Exit.LastStderr = []string{"panic: the reason", strings.Repeat("x", 80<<10), "the last words"}
		l.Append(e)
		if n%50 == 0 {
			if err := l.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.Append(history.Entry{Exit: &history.Exit{Plugin: "q", PluginExit: tool.PluginExit{Instance: "q-1", Time: began}}})
	l.Close()
	reopen := func(keep time.Duration, exits int) (past []history.Entry, size int64) {
		l, err := history.Open(t.Context(), history.Config{Path: path, Keep: keep, Exits: exits, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		past = l.TakePast()
		if again := l.TakePast(); again != nil {
			t.Errorf("the log keeps %d entries in memory", len(again))
		}
		l.Close()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return past, info.Size()
	}
	past, size := reopen(0, 0)
	if len(past) < 400 || len(past) > 550 || size > 40<<20 {
		t.Errorf("%d crashes are kept in %d bytes", len(past), size)
	}
	lines := past[len(past)-2].Exit.Exit.LastStderr
	if kept := strings.Join(lines, "\n"); len(kept) > 64<<10 || !strings.HasPrefix(kept, "panic: the reason") || !strings.HasSuffix(kept, "the last words") {
		t.Errorf("%d bytes of the lines are kept: %.100s", len(kept), kept)
	}
	if past, _ := reopen(0, 3); len(past) != 4 || past[3].Exit.Plugin != "q" || past[2].Exit.Instance != fmt.Sprintf("p-%d", crashes-1) {
		t.Errorf("%d crashes are read, 3 of each plugin are wanted", len(past))
	}
	if past, size := reopen(time.Nanosecond, 0); len(past) != 0 || size > 1<<20 {
		t.Errorf("%d crashes are kept in %d bytes after their time", len(past), size)
	}
}

// The number of rows is bounded, and the newest stay.
func TestHistoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	l := open(t, path, 0)
	const crashes = 3*2000 + 7
	now := time.Now()
	for n := range crashes {
		l.Append(crash(n, now))
		if n%1000 == 0 {
			if err := l.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.Close()
	past := open(t, path, 0).TakePast()
	if len(past) != 2000 || past[len(past)-1].Exit.Instance != fmt.Sprintf("p-%d", crashes-1) {
		t.Errorf("%d crashes are kept", len(past))
	}
}

// A tenant that fills the history loses its own entries: those of a tenant with few of them stay,
// also if they are the oldest and the largest.
func TestTenantsKeepTheirHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	l := open(t, path, 0)
	add := func(principal, id string, at time.Time, size int) {
		l.Append(history.Entry{Call: &tool.CallRecord{Principal: principal, CallID: id, StartTime: at, Err: tool.Errorf(tool.KindTimeout, "%s", strings.Repeat("x", size))}})
	}
	now := time.Now().Add(-time.Hour)
	for i := range 100 {
		add([]string{"blue/ada", "ada"}[i%2], fmt.Sprint(i), now, 1000)
	}
	const flood = 60_000
	for i := range flood {
		add("red/"+fmt.Sprint(i%7), fmt.Sprint(i), now.Add(time.Minute), 1)
		if i%1000 == 0 {
			if err := l.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, path, 0)
	counts := map[string]int{}
	newest := false
	if err := l.Calls(t.Context(), time.Time{}, time.Time{}, func(c tool.CallRecord) bool {
		tenant, _, _ := strings.Cut(c.Principal, "/")
		counts[tenant]++
		newest = newest || tenant == "red" && c.CallID == fmt.Sprint(flood-1)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if counts["blue"] != 50 || counts["ada"] != 50 || counts["red"] != 50_000-100 || !newest {
		t.Errorf("the history has these calls: %v, the newest among them: %v", counts, newest)
	}
}
