package callstore_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

// A copy of a ledger that Renew has changed has the calls of the other one, another id, and records
// where it comes from.
func TestRenew(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "calls.db"), filepath.Join(dir, "copy.db")
	before, err := callstore.Open(t.Context(), callstore.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	if before.Restored() != nil {
		t.Error("a new ledger was restored")
	}
	key := callstore.Key{Principal: "p", ID: "a"}
	if err := before.Begin(t.Context(), callstore.Entry{Key: key}); err != nil {
		t.Fatal(err)
	}
	if err := sqlitefile.Copy(t.Context(), path, copied); err != nil {
		t.Fatal(err)
	}
	if id, err := callstore.ReadID(t.Context(), copied); err != nil || id != before.ID() {
		t.Errorf("the copy has the id %s, %v; want %s", id, err, before.ID())
	}
	backup := time.Date(2026, 11, 20, 1, 2, 3, 0, time.UTC)
	now := backup.Add(time.Hour)
	renewed, err := callstore.Renew(t.Context(), copied, backup, now)
	if err != nil {
		t.Fatal(err)
	}
	if renewed.From != before.ID() || renewed.ID == before.ID() || renewed.Newest != 1 || renewed.Calls != 1 {
		t.Errorf("Renew returned %+v", renewed)
	}
	open := func() *callstore.Store {
		t.Helper()
		s, err := callstore.Open(t.Context(), callstore.Config{Path: copied, Bounds: callstore.Bounds{KeepIDs: 24 * time.Hour}, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	after := open()
	want := callstore.Restoration{From: before.ID(), Backup: backup, Restored: now, Ends: now.Add(24 * time.Hour)}
	if got := after.Restored(); got == nil || *got != want || after.ID() != renewed.ID || !after.Known(key) {
		t.Errorf("the renewed ledger %s was restored: %+v; want %+v", after.ID(), got, want)
	}
	if err := after.AcceptRestoration(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // in this process and in a later one
		if got := after.Restored(); got == nil || !got.Ends.IsZero() {
			t.Errorf("after the acceptance: %+v", got)
		}
		if err := after.Close(); err != nil {
			t.Fatal(err)
		}
		after = open()
	}
	if err := after.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := callstore.Renew(t.Context(), copied, backup, now)
	if err != nil || again.From != renewed.ID {
		t.Errorf("a second time: %+v, %v", again, err)
	}
}

func TestRenewRefusesAnotherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := sqlitefile.Connect(path, 1, "immediate")
	if err != nil {
		t.Fatal(err)
	}
	if err := (sqlitefile.Layout{ApplicationID: 1, Steps: []string{"CREATE TABLE a (n)"}}).Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := callstore.Renew(t.Context(), path, time.Now(), time.Now()); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("error %v", err)
	}
}

// A call that was free in a backup is unknown in the restored ledger, because the other ledger may
// have executed it since. Its tool can be asked again.
func TestARestoredLedgerFreesNoCall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	key := callstore.Key{Principal: "p", ID: "a"}
	reopen := func() *callstore.Store {
		store, err := callstore.Open(t.Context(), callstore.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	find := func(store *callstore.Store) callstore.Entry {
		e, found, err := store.Find(t.Context(), key)
		if err != nil || !found {
			t.Fatalf("found %v, %v", found, err)
		}
		return e
	}
	store := reopen()
	err := store.Begin(t.Context(), callstore.Entry{Key: key, Arguments: []byte("{}")})
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	store = reopen()
	err = store.Settle(t.Context(), key, find(store).Number, tool.Settlement{Verdict: tool.VerdictDidNotHappen}, tool.Outcome{})
	if state := find(store).State; err != nil || state != callstore.StateFree {
		t.Fatalf("the call is %s, %v", state, err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := callstore.Renew(t.Context(), path, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	store = reopen()
	defer store.Close()
	if e := find(store); e.State != callstore.StateUnknown || !e.Unsettled() || e.Settled != nil {
		t.Errorf("in the restored ledger it is %+v", e)
	}
}
