package ledger_test

import (
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/tool"
)

// A restored ledger replays the calls that it has, takes calls whose caller says that they are new,
// and refuses all others until no caller can repeat a call from before.
func TestRestoredLedger(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "calls.db")
	before, err := callstore.Open(t.Context(), callstore.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	former := before.ID()
	key := callstore.Key{Principal: "p", ID: "known"}
	if err := before.Begin(t.Context(), callstore.Entry{Key: key}); err != nil {
		t.Fatal(err)
	}
	if err := before.End(t.Context(), key, tool.Outcome{Result: tool.TextResult("done")}); err != nil {
		t.Fatal(err)
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	restored := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	if _, err := callstore.Renew(t.Context(), path, restored.Add(-time.Hour), restored); err != nil {
		t.Fatal(err)
	}
	var clock atomic.Pointer[time.Time] // the goroutine of the store reads it
	set := func(now time.Time) { clock.Store(&now) }
	set(restored.Add(time.Minute))
	store, err := callstore.Open(t.Context(), callstore.Config{Path: path, Bounds: callstore.Bounds{KeepIDs: 24 * time.Hour}, Now: func() time.Time { return *clock.Load() }})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	l := ledger.New[string](ledger.Config{Store: store, MaxEntries: 10, MaxBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	check := func(call tool.Call) tool.Kind {
		call.Principal = "p"
		if err := l.Check(t.Context(), &call); err != nil {
			return err.Kind
		}
		if err := l.CheckRestored(&call); err != nil {
			return err.Kind
		}
		return ""
	}
	for name, test := range map[string]struct {
		call tool.Call
		want tool.Kind
	}{
		"a call from before the backup":          {tool.Call{ID: "known"}, ""},
		"the same with its ledger":               {tool.Call{ID: "known", Ledger: former}, ""},
		"the same with an unrelated ledger":      {tool.Call{ID: "known", Ledger: "0123"}, ""},
		"an unknown call with the former ledger": {tool.Call{ID: "lost", Ledger: former}, tool.KindOutcomeUnknown},
		"an unknown call without a ledger":       {tool.Call{ID: "lost"}, tool.KindOutcomeUnknown},
		"an unknown call from before":            {tool.Call{ID: "lost", FirstSent: restored.Add(-time.Minute)}, tool.KindOutcomeUnknown},
		"a new call by its ledger":               {tool.Call{ID: "new", Ledger: store.ID()}, ""},
		"a new call by its time":                 {tool.Call{ID: "new", FirstSent: restored.Add(time.Second)}, ""},
		"a call with a generated id":             {tool.Call{}, ""},
	} {
		if got := check(test.call); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	set(restored.Add(24 * time.Hour))
	if got := check(tool.Call{ID: "lost"}); got != "" {
		t.Errorf("after the time of the ledger: %q", got)
	}
	set(restored.Add(time.Minute))
	if err := store.AcceptRestoration(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := check(tool.Call{ID: "lost"}); got != "" {
		t.Errorf("after the operator accepted it: %q", got)
	}
	if got := check(tool.Call{ID: "lost", Ledger: former}); got != tool.KindOutcomeUnknown {
		t.Errorf("a caller that names the former ledger: %q", got)
	}
}
