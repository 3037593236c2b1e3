package ledger_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/internal/host/ledger"
	"github.com/toolhost/toolhost/tool"
)

func entry(l *ledger.Ledger[string], id string) *ledger.Entry[string] {
	e := &ledger.Entry[string]{}
	e.Init(l, "call "+id, ledger.Key{Principal: "p", ID: id}, false, false)
	return e
}

// TestAnIDIsGivenOnce: the same call finds the first one, another call conflicts, and a released id
// is free again.
func TestAnIDIsGivenOnce(t *testing.T) {
	l := ledger.New[string](ledger.Config{MaxEntries: 10, MaxBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	first, second := entry(l, "a"), entry(l, "a")
	if got, _, err := l.Claim(t.Context(), first, ledger.Sum{1}); got != first || err != nil {
		t.Fatalf("the first claim got %v, %v", got, err)
	}
	if got, _, err := l.Claim(t.Context(), second, ledger.Sum{1}); got != first || err != nil {
		t.Errorf("the same call got %v, %v", got, err)
	}
	if got, _, err := l.Claim(t.Context(), second, ledger.Sum{2}); got != nil || tool.KindOf(err) != tool.KindConflict {
		t.Errorf("another call got %v, %v", got, err)
	}
	first.Release()
	if got, _, err := l.Claim(t.Context(), second, ledger.Sum{2}); got != second || err != nil {
		t.Errorf("after the release the other call got %v, %v", got, err)
	}
	if got, _, err := l.Claim(t.Context(), first, ledger.Sum{1}); got != nil || tool.KindOf(err) != tool.KindConflict {
		t.Errorf("the released call got %v, %v", got, err)
	}
}

// TestHarmlessOutcomesAreForgottenFirst: and calls that run are not forgotten at all.
func TestHarmlessOutcomesAreForgottenFirst(t *testing.T) {
	l := ledger.New[string](ledger.Config{MaxEntries: 2, MaxBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	for i, sideEffects := range []bool{true, false, true, true} {
		e := entry(l, fmt.Sprint(i))
		l.Claim(t.Context(), e, ledger.Sum{})
		e.Settle(1, sideEffects)
	}
	running := entry(l, "running")
	l.Claim(t.Context(), running, ledger.Sum{})
	for id, want := range map[string]bool{"0": false, "1": false, "2": true, "3": true, "running": true} {
		if got := l.Find(ledger.Key{Principal: "p", ID: id}) != nil; got != want {
			t.Errorf("the ledger has %s: %v, want %v", id, got, want)
		}
	}
	generated := &ledger.Entry[string]{}
	generated.Init(l, "call", ledger.Key{ID: "generated"}, true, false)
	l.Claim(t.Context(), generated, ledger.Sum{})
	generated.Settle(1, true)
	if l.Find(generated.Key()) != nil {
		t.Error("the ledger keeps a call whose id no caller knows")
	}
}

// TestACallThatEndedBeforeItBeganIsNotStored: Begin fails and takes back what it wrote, so that the
// id can be used again.
func TestACallThatEndedBeforeItBeganIsNotStored(t *testing.T) {
	store, err := callstore.Open(t.Context(), callstore.Config{Path: filepath.Join(t.TempDir(), "calls.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	l := ledger.New[string](ledger.Config{Store: store, MaxEntries: 10, MaxBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	ended, made := entry(l, "a"), entry(l, "b")
	for _, e := range []*ledger.Entry[string]{ended, made} {
		if _, _, err := l.Claim(t.Context(), e, ledger.Sum{1}); err != nil {
			t.Fatal(err)
		}
	}
	if first, begun := ended.Conclude(); !first || begun || !ended.Finished() {
		t.Errorf("a call that did not begin: first %v, begun %v", first, begun)
	}
	if err := ended.Begin(t.Context(), "write", "p", time.Now()); err == nil || store.Known(ended.Key()) {
		t.Errorf("Begin of a call that has ended: %v; it is stored: %v", err, store.Known(ended.Key()))
	}
	if err := made.Begin(t.Context(), "write", "p", time.Now()); err != nil || !store.Known(made.Key()) {
		t.Errorf("Begin: %v; it is stored: %v", err, store.Known(made.Key()))
	}
	if first, begun := made.Conclude(); !first || !begun {
		t.Errorf("a call that began: first %v, begun %v", first, begun)
	}
	if first, _ := made.Conclude(); first {
		t.Error("a call was concluded twice")
	}
}
