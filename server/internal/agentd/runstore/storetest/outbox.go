package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// message returns a message of a run for a target, due some minutes after noon.
func message(run, id, target string, minutes int) runstore.Message {
	at := noon.Add(time.Duration(minutes) * time.Minute)
	return runstore.Message{ID: id, Kind: "waiting", RunID: run, Seq: 7, Decision: "d1", Target: target, Created: noon, Due: at, Until: at.Add(time.Hour)}
}

// told takes all messages of a target that are due, and returns their ids.
func told(t *testing.T, store runstore.Outbox, target string, now time.Time) (ids []string) {
	t.Helper()
	for {
		m, ok, err := store.Take(t.Context(), target, now, now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return ids
		}
		ids = append(ids, fmt.Sprint(m.ID, "#", m.Attempts))
	}
}

// testOutbox checks that messages are written with their batch or not at all, and that each is
// returned when it is due until it is removed.
func testOutbox(t *testing.T, store runstore.Store) {
	outbox := store.(runstore.Outbox)
	add := func(run string, after uint64, messages ...runstore.Message) error {
		return store.Append(t.Context(), runstore.Batch{RunID: run, After: after, Records: Records(int(after)+1, 1), Messages: messages})
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(target string, minutes int, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, told(t, outbox, target, noon.Add(time.Duration(minutes)*time.Minute))); diff != "" {
			t.Errorf("the messages of %s (-want +got):\n%s", target, diff)
		}
	}
	must(add("r", 0, message("r", "b", "ops", 1), message("r", "a", "ops", 1), message("r", "later", "ops", 30), message("r", "x", "chat", 0)))
	must(add("r", 1, message("r", "a", "ops", 0))) // it is there
	wantError(t, add("r", 1, message("r", "lost", "ops", 0)), runstore.ErrConflict)
	if err := add("r", 2, message("other", "odd", "ops", 0)); err == nil {
		t.Error("a message of another run is written")
	}
	want("nobody", 99)
	want("ops", 0)
	m, ok, err := outbox.Take(t.Context(), "ops", noon.Add(time.Minute), noon.Add(2*time.Minute))
	full := message("r", "a", "ops", 1)
	full.Due, full.Attempts = noon.Add(2*time.Minute), 1
	if diff := cmp.Diff(full, m); err != nil || !ok || diff != "" {
		t.Errorf("the first message: %v, %v (-want +got):\n%s", ok, err, diff)
	}
	want("ops", 1, "b#1")
	want("ops", 2, "a#2") // whoever took it has died
	must(outbox.Delay(t.Context(), "a", noon.Add(3*time.Minute)))
	must(outbox.Remove(t.Context(), "b"))
	must(outbox.Remove(t.Context(), "b"))
	must(outbox.Delay(t.Context(), "b", noon))
	want("ops", 3, "a#3")
	want("ops", 30, "later#1")
	trimmed := func(minutes, most, want int) {
		t.Helper()
		if n, err := outbox.Trim(t.Context(), noon.Add(time.Duration(minutes)*time.Minute), most); err != nil || n != want {
			t.Errorf("trimmed %d messages, %v, want %d", n, err, want)
		}
	}
	trimmed(59, 9, 0)
	trimmed(60, 9, 1) // x
	trimmed(60, 1, 1) // a, which ends before the other one
	want("ops", 999, "later#2")
	want("chat", 999)
}
