package ledger_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/tool"
)

func entry(l *ledger.Ledger[string], id string) *ledger.Entry[string] {
	e := &ledger.Entry[string]{}
	e.Init(l, "call "+id, ledger.Key{Principal: "p", ID: id}, false)
	return e
}

// An id belongs to one call. The same call finds the first one, another call is a conflict, and a
// released id is free again.
func TestAnIDIsGivenOnce(t *testing.T) {
	l := ledger.New[string](ledger.Config{MaxEntries: 10, MaxBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	first, second := entry(l, "a"), entry(l, "a")
	if got, _, err := l.Claim(t.Context(), first, ledger.Sum{1}, true); got != first || err != nil {
		t.Fatalf("the first claim got %v, %v", got, err)
	}
	if got, _, err := l.Claim(t.Context(), second, ledger.Sum{1}, true); got != first || err != nil {
		t.Errorf("the same call got %v, %v", got, err)
	}
	if got, _, err := l.Claim(t.Context(), second, ledger.Sum{2}, true); got != nil || tool.KindOf(err) != tool.KindConflict {
		t.Errorf("another call got %v, %v", got, err)
	}
	first.Release()
	if got, _, err := l.Claim(t.Context(), second, ledger.Sum{2}, true); got != second || err != nil {
		t.Errorf("after the release the other call got %v, %v", got, err)
	}
	if got, _, err := l.Claim(t.Context(), first, ledger.Sum{1}, true); got != nil || tool.KindOf(err) != tool.KindConflict {
		t.Errorf("the released call got %v, %v", got, err)
	}
}

// The key by which a server recognizes a repeated call is that of one call of one principal.
func TestIdempotencyKeys(t *testing.T) {
	type ledgerOf = *ledger.Ledger[string]
	open := func() ledgerOf {
		return ledger.New[string](ledger.Config{MaxEntries: 10, MaxBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	}
	l := open()
	keyOf := func(l ledgerOf, key ledger.Key) string {
		var e ledger.Entry[string]
		e.Init(l, "call", key, false)
		return e.IdempotencyKey()
	}
	seen := map[string]string{}
	for name, test := range map[string]struct {
		ledger ledgerOf
		key    ledger.Key
	}{
		"a call":             {l, ledger.Key{Principal: "ada", Session: "s", ID: "1"}},
		"another id":         {l, ledger.Key{Principal: "ada", Session: "s", ID: "2"}},
		"another session":    {l, ledger.Key{Principal: "ada", Session: "t", ID: "1"}},
		"another principal":  {l, ledger.Key{Principal: "bob", Session: "s", ID: "1"}},
		"another ledger":     {open(), ledger.Key{Principal: "ada", Session: "s", ID: "1"}},
		"a longer principal": {l, ledger.Key{Principal: "adas", ID: "1"}},
		"a forged length":    {l, ledger.Key{Principal: "ada1:s", Session: "", ID: "1"}},
		"a NUL":              {l, ledger.Key{Principal: "ada\x00s", ID: "1"}},
	} {
		key := keyOf(test.ledger, test.key)
		if other, ok := seen[key]; ok || len(key) != 32 {
			t.Errorf("%s has the key %q, as %q has", name, key, other)
		}
		seen[key] = name
		if again := keyOf(test.ledger, test.key); again != key {
			t.Errorf("%s has the keys %s and %s", name, key, again)
		}
	}
}

// A full ledger first forgets outcomes of calls without side effects. It never forgets a call in
// progress.
func TestHarmlessOutcomesAreForgottenFirst(t *testing.T) {
	l := ledger.New[string](ledger.Config{MaxEntries: 2, MaxBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	for i, sideEffects := range []bool{true, false, true, true} {
		e := entry(l, fmt.Sprint(i))
		l.Claim(t.Context(), e, ledger.Sum{}, true)
		e.Settle(1, sideEffects)
	}
	running := entry(l, "running")
	l.Claim(t.Context(), running, ledger.Sum{}, true)
	for id, want := range map[string]bool{"0": false, "1": false, "2": true, "3": true, "running": true} {
		if got := l.Find(ledger.Key{Principal: "p", ID: id}) != nil; got != want {
			t.Errorf("the ledger has %s: %v, want %v", id, got, want)
		}
	}
	generated := &ledger.Entry[string]{}
	generated.Init(l, "call", ledger.Key{ID: "generated"}, true)
	l.Claim(t.Context(), generated, ledger.Sum{}, true)
	generated.Settle(1, true)
	if l.Find(generated.Key()) != nil {
		t.Error("the ledger keeps a call whose id no caller knows")
	}
}

// The tenant with the most outcomes loses its oldest one. A tenant with few of them keeps them,
// with and without side effects, and a quota bounds the bytes of its own tenant only.
func TestTenantsKeepTheirOutcomes(t *testing.T) {
	l := ledger.New[string](ledger.Config{MaxEntries: 100, MaxBytes: 1000, Logger: slog.New(slog.DiscardHandler), Quota: func(tenant string) int64 {
		return map[string]int64{"green": 20}[tenant]
	}})
	settle := func(principal, id string, size int, sideEffects bool) {
		e := &ledger.Entry[string]{}
		e.Init(l, id, ledger.Key{Principal: principal, ID: id}, false)
		l.Claim(t.Context(), e, ledger.Sum{}, true)
		e.Settle(size, sideEffects)
	}
	kept := func(principal string, ids ...string) (n int) {
		for _, id := range ids {
			if l.Find(ledger.Key{Principal: principal, ID: id}) != nil {
				n++
			}
		}
		return n
	}
	settle("blue/ada", "harmless", 100, false)
	settle("blue/ada", "effects", 100, true)
	for i := range 1000 {
		settle("red/ada", fmt.Sprint("large", i), 90, true)
	}
	for i := range 1000 {
		settle(fmt.Sprint("red/", i), "small", 0, i%2 == 0)
	}
	for i := range 10 {
		settle("green/ada", fmt.Sprint(i), 10, true)
	}
	if n := kept("blue/ada", "harmless", "effects"); n != 2 {
		t.Errorf("the tenant with few calls keeps %d of 2", n)
	}
	if n := kept("green/ada", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"); n != 2 || kept("green/ada", "8", "9") != 2 {
		t.Errorf("the tenant with a quota keeps %d of 10, want the last 2", n)
	}
	if calls, bytes := l.Usage(); calls != 100 || bytes > 1000 || bytes < 220 {
		t.Errorf("%d calls with %d bytes are kept", calls, bytes)
	}
}

// If a call has ended before Begin, Begin fails and removes what it wrote, so that the id can be
// used again.
func TestACallThatEndedBeforeItBeganIsNotStored(t *testing.T) {
	store, err := callstore.Open(t.Context(), callstore.Config{Path: filepath.Join(t.TempDir(), "calls.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	l := ledger.New[string](ledger.Config{Store: store, MaxEntries: 10, MaxBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	ended, made := entry(l, "a"), entry(l, "b")
	for _, e := range []*ledger.Entry[string]{ended, made} {
		if _, _, err := l.Claim(t.Context(), e, ledger.Sum{1}, true); err != nil {
			t.Fatal(err)
		}
	}
	if first, begun := ended.Conclude(); !first || begun || !ended.Finished() {
		t.Errorf("a call that did not begin: first %v, begun %v", first, begun)
	}
	if err := ended.Begin(t.Context(), "write", "p", time.Now(), nil, false, nil, callstore.Quota{}); err == nil || store.Known(ended.Key()) {
		t.Errorf("Begin of a call that has ended: %v; it is stored: %v", err, store.Known(ended.Key()))
	}
	if err := made.Begin(t.Context(), "write", "p", time.Now(), nil, false, nil, callstore.Quota{}); err != nil || !store.Known(made.Key()) {
		t.Errorf("Begin: %v; it is stored: %v", err, store.Known(made.Key()))
	}
	if first, begun := made.Conclude(); !first || !begun {
		t.Errorf("a call that began: first %v, begun %v", first, begun)
	}
	if first, _ := made.Conclude(); first {
		t.Error("a call was concluded twice")
	}
}

// An outcome that the store has settled is forgotten as soon as a caller can have seen it, also if
// the ledger has not recorded it yet. A call in progress stays.
func TestDrop(t *testing.T) {
	l := ledger.New[string](ledger.Config{MaxEntries: 10, MaxBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	e := entry(l, "a")
	l.Claim(t.Context(), e, ledger.Sum{}, true)
	if l.Drop(e.Key()); l.Find(e.Key()) != e {
		t.Error("a call in progress is forgotten")
	}
	e.Conclude()
	if l.Drop(e.Key()); l.Find(e.Key()) != nil {
		t.Error("a call that has ended is not forgotten")
	}
	next := entry(l, "a")
	l.Claim(t.Context(), next, ledger.Sum{}, true)
	e.Settle(1, true)
	if l.Find(e.Key()) != next {
		t.Error("the former outcome replaces the call that has the id now")
	}
}
