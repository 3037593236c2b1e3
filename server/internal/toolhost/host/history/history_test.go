package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/tool"
)

func open(t *testing.T, path string, keep time.Duration) *history.Log {
	t.Helper()
	l, err := history.Open(t.Context(), history.Config{Path: path, Keep: keep, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func crash(n int, at time.Time) history.Entry {
	return history.Entry{Exit: &history.Exit{Plugin: "p", PluginExit: tool.PluginExit{
		Instance: fmt.Sprintf("p-%d", n), Time: at, Exit: tool.Exit{Code: 3, LastStderr: []string{"the last words"}},
		Calls: []tool.ExitCall{{CallID: fmt.Sprintf("c-%d", n), Tool: "t", Principal: "uid:7", StartTime: at, ArgumentsDigest: "ab"}},
	}}}
}

func failure(id string, at time.Time) history.Entry {
	return history.Entry{Call: &tool.CallRecord{
		CallID: id, Tool: "t", Plugin: "p", State: tool.CallFailed, StartTime: at, EndTime: at.Add(time.Second),
		Err: &tool.Error{Kind: tool.KindDenied, Message: "no"},
	}}
}

func hour(at time.Time, calls uint64, took time.Duration) history.Entry {
	h := history.Hour{Start: at, Tenant: "default", Tool: "t", Plugin: "p"}
	for range calls {
		h.Count(&tool.Outcome{}, took, .5)
	}
	return history.Entry{Hour: &h}
}

func callsOf(t *testing.T, l *history.Log, since, before time.Time) []string {
	t.Helper()
	var ids []string
	err := l.Calls(t.Context(), since, before, func(c tool.CallRecord) bool {
		ids = append(ids, c.CallID)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// What was appended is there after the file was opened again.
func TestHistoryAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "history.db")
	now := time.Now().UTC()
	l := open(t, path, 0)
	want := []history.Entry{
		{Event: &tool.PluginEvent{Type: "plugin_quarantined", Plugin: "p", Reason: "why", Time: now}},
		crash(1, now), crash(2, now),
	}
	for _, e := range want {
		l.Append(e)
	}
	l.Append(failure("one", now.Add(-time.Minute)))
	l.Append(failure("two", now))
	l.Append(hour(now, 3, time.Millisecond))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, path, 0)
	if diff := cmp.Diff(want, l.TakePast()); diff != "" {
		t.Errorf("the past (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"two", "one"}, callsOf(t, l, time.Time{}, time.Time{})); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"one"}, callsOf(t, l, now.Add(-time.Hour), now)); diff != "" {
		t.Errorf("calls of an interval (-want +got):\n%s", diff)
	}
	l.Append(hour(now, 2, time.Second))
	hours, err := l.Hours(t.Context(), now)
	if err != nil || len(hours) != 1 || hours[0].Calls != 5 || hours[0].Cost != 2.5 || hours[0].Ran != 5 || hours[0].Tool != "t" ||
		!hours[0].Start.Equal(now.Truncate(time.Hour)) {
		t.Errorf("the hours are %+v, %v", hours, err)
	}
	if p50, p99 := hours[0].Percentile(.5), hours[0].Percentile(.99); p50 < 950*time.Microsecond || p50 > 1050*time.Microsecond ||
		p99 < 950*time.Millisecond || p99 > 1050*time.Millisecond {
		t.Errorf("percentiles %v and %v of three calls of 1 ms and two of 1 s", p50, p99)
	}
}

// Entries that are too old are gone after the next start.
func TestHistoryForgets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	l := open(t, path, 0)
	now := time.Now()
	for _, age := range []time.Duration{3 * time.Hour, time.Minute} {
		l.Append(crash(int(age/time.Minute), now.Add(-age)))
		l.Append(failure(age.String(), now.Add(-age)))
		l.Append(hour(now.Add(-age), 1, 0))
	}
	l.Close()
	l = open(t, path, 2*time.Hour)
	if past := l.TakePast(); len(past) != 1 || past[0].Exit.Instance != "p-1" {
		t.Errorf("the past is %+v", past)
	}
	if ids := callsOf(t, l, time.Time{}, time.Time{}); len(ids) != 1 || ids[0] != "1m0s" {
		t.Errorf("calls %v", ids)
	}
	if hours, err := l.Hours(t.Context(), time.Time{}); err != nil || len(hours) != 1 {
		t.Errorf("hours %+v, %v", hours, err)
	}
}

// Entries that are too old disappear also from a history that is open and gets no new ones.
func TestHistoryForgetsWhileNothingHappens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	synctest.Test(t, func(t *testing.T) {
		l := open(t, path, 2*time.Hour)
		l.Append(failure("one", time.Now()))
		time.Sleep(time.Hour)
		if ids := callsOf(t, l, time.Time{}, time.Time{}); len(ids) != 1 {
			t.Errorf("calls after an hour: %v", ids)
		}
		time.Sleep(2 * time.Hour)
		if ids := callsOf(t, l, time.Time{}, time.Time{}); len(ids) != 0 {
			t.Errorf("calls after three hours: %v", ids)
		}
		l.Close()
	})
}

// A damaged file is set aside, and a new history begins.
func TestDamagedHistory(t *testing.T) {
	for name, spoil := range map[string]func(data []byte) []byte{
		"not a database": func([]byte) []byte { return []byte(strings.Repeat("no database ", 1000)) },
		"zeros within": func(data []byte) []byte {
			clear(data[4096:])
			return data
		},
		"cut": func(data []byte) []byte { return data[:5000] },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.db")
			l := open(t, path, 0)
			for n := range 100 {
				l.Append(crash(n, time.Now()))
			}
			l.Close()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data = spoil(data)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			l = open(t, path, 0)
			l.Append(crash(7, time.Now()))
			if err := l.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.Close()
			if past := open(t, path, 0).TakePast(); len(past) == 0 || past[len(past)-1].Exit.Instance != "p-7" {
				t.Errorf("the new history has %d entries", len(past))
			}
			if kept, err := os.ReadFile(path + ".damaged"); err != nil || !bytes.Equal(kept, data) {
				t.Errorf("the damaged file is not kept: %v", err)
			}
		})
	}
}

// A file with another schema is set aside, like a damaged one, before its trigger runs.
func TestHistoryWithAForeignSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	open(t, path, 0).Close()
	db, err := sqlitefile.Connect(path, 1, "immediate")
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "CREATE TRIGGER forget AFTER INSERT ON exits BEGIN DELETE FROM exits; END")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if err := history.Check(t.Context(), path); !errors.Is(err, sqlitefile.ErrForeignSchema) {
		t.Errorf("Check: error %v", err)
	}
	l := open(t, path, 0)
	l.Append(crash(7, time.Now()))
	l.Close()
	if past := open(t, path, 0).TakePast(); len(past) != 1 {
		t.Errorf("the new history has %d entries", len(past))
	}
	if err := history.Check(t.Context(), path+".damaged"); !errors.Is(err, sqlitefile.ErrForeignSchema) {
		t.Errorf("the file that was set aside: error %v", err)
	}
}

// A disk that is full costs entries, and nothing else.
func TestHistoryOnAFullDisk(t *testing.T) {
	var log bytes.Buffer
	path := filepath.Join(t.TempDir(), "history.db")
	l, err := history.Open(t.Context(), history.Config{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	l.Limit(t, 64) // pages
	for n := range 3000 {
		l.Append(crash(n, time.Now()))
		if n%100 == 0 {
			if err := l.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "the history cannot be written"); n != 1 {
		t.Errorf("the log has the failure %d times:\n%.500s", n, &log)
	}
	if len(open(t, path, 0).TakePast()) == 0 {
		t.Error("what was written before is lost")
	}
}

// The file of a build before 0.1.0 is read once.
func TestEarlierHistory(t *testing.T) {
	dir := t.TempDir()
	earlier := filepath.Join(dir, "history.jsonl")
	at := time.Now().UTC().Format(time.RFC3339Nano)
	lines := `{"event":{"seq":4,"time":"` + at + `","type":"plugin_quarantined","plugin":"p","reason":"why"}}` + "\n" +
		"no JSON\n" +
		`{"exit":{"plugin":"p","instance":"p-1","time":"` + at + `","exit":{"code":3}}}` + "\n" + `{"exit":{"plug`
	if err := os.WriteFile(earlier, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l := open(t, filepath.Join(dir, "history.db"), 0)
		if past := l.TakePast(); len(past) != 2 || past[0].Event.Reason != "why" || past[1].Exit.Instance != "p-1" {
			t.Errorf("the past is %+v", past)
		}
		l.Close()
	}
	if _, err := os.Stat(earlier); err == nil {
		t.Error("the earlier file is still there")
	}
}

// The statistics of a file from before tenants belong to the default tenant, and each tenant has
// counts for itself.
func TestHoursBelongToTenants(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	now := time.Now().UTC()
	l := open(t, path, 0)
	l.Append(hour(now, 3, time.Millisecond))
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Downgrade(t)
	l.Close()
	l = open(t, path, 0)
	red := hour(now, 2, time.Millisecond)
	red.Hour.Tenant = "red"
	l.Append(red)
	l.Append(hour(now, 1, time.Millisecond))
	hours, err := l.Hours(t.Context(), now)
	if err != nil || len(hours) != 2 || hours[0].Tenant != "default" || hours[0].Calls != 4 || hours[1].Tenant != "red" || hours[1].Calls != 2 {
		t.Errorf("the hours are %+v, %v", hours, err)
	}
}

// A nil Log keeps nothing.
func TestNoHistory(t *testing.T) {
	var l *history.Log
	l.Append(crash(1, time.Now()))
	hours, err := l.Hours(t.Context(), time.Time{})
	if err != nil || hours != nil || l.TakePast() != nil || l.Flush(t.Context()) != nil || l.Close() != nil {
		t.Errorf("it has %v, %v", hours, err)
	}
}

// An entry without a JSON form, or a row that another program changed, does not prevent the other
// entries from being stored.
func TestAnEntryThatCannotBeStoredIsLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	now := time.Now().UTC()
	l := open(t, path, 0)
	absurd := hour(now, 1, time.Millisecond)
	absurd.Hour.Cost = math.Inf(1)
	l.Append(crash(1, now))
	l.Append(absurd)
	l.Append(crash(2, now))
	l.Append(hour(now, 3, time.Millisecond))
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Change(t, "UPDATE hours SET data = 'no JSON'")
	l.Append(hour(now, 5, time.Millisecond))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, path, 0)
	hours, err := l.Hours(t.Context(), time.Time{})
	past := l.TakePast()
	if err != nil || len(hours) != 1 || hours[0].Calls != 5 || len(past) != 2 {
		t.Errorf("there are %d entries and the hours %+v, %v", len(past), hours, err)
	}
}
