//go:build more

package postgres_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
	"github.com/toolhost/toolhost/tool"
)

// calls are what a file has that fill has written, by id.
var calls = []string{"answered", "failed", "empty", "free", "asked", "unknown", "under way"}

// fill writes one call of each kind to a new ledger, and returns its path, its id and its calls.
func fill(t testing.TB) (path, id string, entries map[string]callstore.Entry) {
	t.Helper()
	path = filepath.Join(t.TempDir(), callstore.LedgerFile)
	store := openFile(t, path)
	unknown := tool.Outcome{Err: tool.Errorf(tool.KindOutcomeUnknown, "who knows")}
	settle := func(id string, verdict tool.Verdict) {
		e, _, err := store.Find(t.Context(), storetest.Key(id))
		storetest.Must(t, err, store.Settle(t.Context(), e.Key, e.Number, tool.Settlement{Verdict: verdict, Reason: "a reason\x00"}, tool.Outcome{}))
	}
	for _, id := range calls {
		e := storetest.Entry(id)
		e.Arguments = []byte(`{"of":"` + id + `"}`)
		storetest.Must(t, store.BeginWithin(t.Context(), e, callstore.Quota{}))
		switch id {
		case "answered":
			storetest.Must(t, store.End(t.Context(), e.Key, storetest.Answer("yes")))
		case "failed":
			storetest.Must(t, store.End(t.Context(), e.Key, tool.Outcome{Err: tool.Errorf(tool.KindTimeout, "too slow"), Instance: "p#1"}))
		case "empty":
			storetest.Must(t, store.End(t.Context(), e.Key, tool.Outcome{Result: tool.Result{}}))
		case "free", "asked":
			storetest.Must(t, store.End(t.Context(), e.Key, unknown))
			settle(id, map[string]tool.Verdict{"free": tool.VerdictDidNotHappen, "asked": tool.VerdictUnknown}[id])
		case "unknown":
			storetest.Must(t, store.Close())
			store = openFile(t, path)
		}
	}
	// As a killed process leaves it: "under way" is still so in the file.
	entries = map[string]callstore.Entry{}
	for _, id := range calls {
		e, found, err := store.Find(t.Context(), storetest.Key(id))
		if storetest.Must(t, err); !found {
			t.Fatalf("the file has no call %s", id)
		}
		entries[id] = e
	}
	storetest.Must(t, store.Close())
	return path, store.ID(), entries
}

func openFile(t testing.TB, path string) *callstore.Store {
	t.Helper()
	store, err := callstore.Open(t.Context(), callstore.Config{Path: path})
	storetest.Must(t, err)
	t.Cleanup(func() { store.Close() })
	return store
}

func move(t testing.TB, path string, m postgres.Move) (postgres.Moved, error) {
	t.Helper()
	file, err := callstore.OpenToLeave(t.Context(), path, 0)
	storetest.Must(t, err)
	defer func() { storetest.Must(t, file.Close()) }()
	return m.Of(t.Context(), file)
}

func moveTo(address string) postgres.Move {
	return postgres.Move{Database: database.Config{URL: address}, Name: "machine-a", Folder: "a", Boot: "boot", KeepIDs: 7 * 24 * time.Hour}
}

// usable reports whether a toolhost could start with the file.
func usable(t testing.TB, path string) bool {
	t.Helper()
	store, err := callstore.Open(t.Context(), callstore.Config{Path: path})
	if err != nil {
		want(t, "opening the file", err, callstore.ErrMoved)
		return false
	}
	storetest.Must(t, store.Close())
	return true
}

// checkMoved checks that a ledger has what fill has written.
func checkMoved(t testing.TB, store *postgres.Store, id string, entries map[string]callstore.Entry) {
	t.Helper()
	if !store.Is(id) {
		t.Errorf("the ledger %s is not %s", store.ID(), id)
	}
	last := int64(0)
	for _, name := range calls {
		was, is := entries[name], find(t, store, name)
		if is.Number <= last {
			t.Errorf("%s has the number %d, after %d", name, is.Number, last)
		}
		last = is.Number
		if was.Settled != nil && was.State != callstore.StateFree {
			was.Err, is.Err = nil, nil // they quote the reason, in which a NUL is replaced
			was.Outcome, is.Outcome = nil, nil
		}
		if was.Settled != nil {
			was.Settled.Reason, is.Settled.Reason = "", ""
		}
		if name == "under way" {
			was.State, was.How, was.Ended = callstore.StateUnknown, is.How, is.Ended
			was.Err = is.Err
			if is.Err == nil || is.Err.Kind != tool.KindOutcomeUnknown || is.Ended.IsZero() {
				t.Errorf("the call under way: %+v", is)
			}
		}
		was.Number = is.Number
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("%s (file, database): %s", name, diff)
		}
		err := begin(t, store, name)
		if name != "free" {
			want(t, "repeating "+name, err, callstore.ErrTaken)
		} else if is.State != callstore.StateFree {
			t.Errorf("the free call: %+v", is)
		}
	}
}

func TestMove(t *testing.T) {
	path, id, entries := fill(t)
	address := postgrestest.Database(t)
	m := moveTo(address)
	m.Check = true
	checked, err := move(t, path, m)
	storetest.Must(t, err)
	if n := execute(t, address, "SELECT FROM toolhost_calls"); n != 0 || !usable(t, path) {
		t.Errorf("after a check: %d calls", n)
	}
	done, err := move(t, path, moveTo(address))
	storetest.Must(t, err)
	if done != checked || done != (postgres.Moved{Calls: 7, Unknown: 2, Results: 4, Ledger: id}) {
		t.Errorf("moved %+v, checked %+v", done, checked)
	}
	if usable(t, path) {
		t.Error("the file can still be used")
	}
	if _, err := callstore.Renew(t.Context(), path, time.Now(), time.Now()); !errors.Is(err, callstore.ErrMoved) {
		t.Errorf("restoring the file: %v", err)
	}
	again, err := move(t, path, moveTo(address))
	if storetest.Must(t, err); !again.Already || again.Ledger != id {
		t.Errorf("moving again: %+v", again)
	}
	a, b := open(t, config(address, "a")), open(t, config(address, "b"))
	if a.ID() != id || a.Newest() < entries["under way"].Number {
		t.Errorf("the ledger %s up to %d", a.ID(), a.Newest())
	}
	if e := find(t, b, "under way"); e.Arguments != nil {
		t.Error("a tool at another folder can settle a call of the file")
	}
	unsettled, err := a.List(t.Context(), callstore.Query{Unsettled: true})
	if storetest.Must(t, err); len(unsettled) != 3 {
		t.Errorf("%d calls can be settled", len(unsettled))
	}
	checkMoved(t, a, id, entries)
	storetest.Must(t, begin(t, b, "new"))
	if e := find(t, b, "new"); e.Number <= a.Newest() {
		t.Errorf("a new call has the number %d, before %d", e.Number, a.Newest())
	}
}

// A move that ends between two steps leaves one usable ledger at most, and none of them has another
// call than the other one. Repeating it moves everything.
func TestAMoveThatEnds(t *testing.T) {
	for _, others := range []bool{false, true} {
		for _, end := range []postgres.Step{postgres.StepReserve, postgres.StepCopy, postgres.StepCompare, postgres.StepName, postgres.StepLeave, postgres.StepCommit, postgres.StepDone} {
			t.Run(fmt.Sprintf("%s/others=%t", end, others), func(t *testing.T) {
				path, id, entries := fill(t)
				address := postgrestest.Database(t)
				there := ""
				if others {
					b := open(t, config(address, "b"))
					storetest.Must(t, begin(t, b, "of b"), b.End(t.Context(), storetest.Key("of b"), storetest.Answer("b")))
					there = b.ID()
				}
				m, stop := moveTo(address), errors.New("stop")
				m.Before = func(step postgres.Step) error {
					if step == end {
						return stop
					}
					return nil
				}
				_, err := move(t, path, m)
				want(t, "the move", err, stop)
				inFile, inDatabase := usable(t, path), execute(t, address, "SELECT FROM toolhost_ledger WHERE $1 = ANY(former)", id) == 1
				if left := end == postgres.StepCommit || end == postgres.StepDone; inFile == left || inDatabase != (end == postgres.StepDone) {
					t.Errorf("the file can be used: %t, the database: %t", inFile, inDatabase)
				}
				if visible := execute(t, address, "SELECT FROM toolhost_calls WHERE id <> 'of b'"); (visible > 0) != inDatabase {
					t.Errorf("%d calls can be seen", visible)
				}
				done, err := move(t, path, moveTo(address))
				storetest.Must(t, err)
				if done.Already != inDatabase || usable(t, path) {
					t.Errorf("moving again: %+v", done)
				}
				a := open(t, config(address, "a"))
				if others != (a.ID() == there) || others && !a.Is(there) || !others && a.ID() != id {
					t.Errorf("the ledger is %s", a.ID())
				}
				checkMoved(t, a, id, entries)
				if e := find(t, a, "of b"); others && (e.Outcome == nil || e.Outcome.Result.Text() != "b") {
					t.Errorf("the call of the other toolhost: %+v", e)
				}
			})
		}
	}
}

// A move that the database has lost, such as by a failover, can be repeated, also after the ledger
// has got another id for it. The id of the file is not valid then: calls that were begun under it
// after the move may be lost, too.
func TestAMoveThatIsLost(t *testing.T) {
	const renew = "UPDATE toolhost_ledger SET lost = (SELECT jsonb_agg(jsonb_build_object('id', one)) FROM unnest(former || id) one), former = '{}', id = 'renewed'"
	for name, test := range map[string]struct {
		until   postgres.Step
		sql     string
		used    bool
		already bool
	}{
		"the ledger was renewed":       {postgres.StepCommit, renew, false, false},
		"the folder knows the move":    {postgres.StepCommit, "", true, false},
		"the move is there, and other": {postgres.StepDone, renew, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			path, id, entries := fill(t)
			address := postgrestest.Database(t)
			m, stop := moveTo(address), errors.New("stop")
			m.Before = func(s postgres.Step) error {
				if s == test.until {
					return stop
				}
				return nil
			}
			_, err := move(t, path, m)
			want(t, "the move", err, stop)
			if test.sql != "" {
				execute(t, address, test.sql)
			}
			m.Before, m.Used = nil, test.used
			for i := range 2 {
				done, err := move(t, path, m)
				storetest.Must(t, err)
				if done.Already != (test.already || i > 0) || !done.Lost || done.Ledger == id {
					t.Errorf("moving again: %+v", done)
				}
			}
			a := open(t, config(address, "a"))
			if a.Is(id) {
				t.Errorf("the ledger %s is that of the file", a.ID())
			}
			checkMoved(t, a, a.ID(), entries)
		})
	}
}

// The file stays bound to the ledger of the first attempt, which no later loss can make unknown.
func TestAMoveThatIsLostTwice(t *testing.T) {
	path, _, entries := fill(t)
	address := postgrestest.Database(t)
	m, stop := moveTo(address), errors.New("stop")
	m.Before = func(s postgres.Step) error {
		if s == postgres.StepCommit {
			return stop
		}
		return nil
	}
	for _, id := range []string{"second", "third"} {
		_, err := move(t, path, m)
		want(t, "the move", err, stop)
		execute(t, address, "UPDATE toolhost_ledger SET lost = jsonb_build_array(jsonb_build_object('id', coalesce(lost->0->>'id', id))), id = $1", id)
	}
	m.Before = nil
	_, err := move(t, path, m)
	storetest.Must(t, err)
	a := open(t, config(address, "a"))
	checkMoved(t, a, "third", entries)
}

func TestMoveRefuses(t *testing.T) {
	refused := func(t *testing.T, path, address, text string) {
		t.Helper()
		if _, err := move(t, path, moveTo(address)); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("it does not say %q: %v", text, err)
		}
	}
	t.Run("a call that both have", func(t *testing.T) {
		path, _, _ := fill(t)
		address := postgrestest.Database(t)
		storetest.Must(t, begin(t, open(t, config(address, "b")), "asked"))
		refused(t, path, address, "the database has a call with the principal")
		if n := execute(t, address, "SELECT FROM toolhost_calls"); n != 1 || !usable(t, path) {
			t.Errorf("it has moved %d calls", n-1)
		}
	})
	t.Run("another database than that of the first attempt", func(t *testing.T) {
		path, _, _ := fill(t)
		m := moveTo(postgrestest.Database(t))
		m.Before = func(step postgres.Step) error {
			if step == postgres.StepCommit {
				return errors.New("stop")
			}
			return nil
		}
		if _, err := move(t, path, m); err == nil {
			t.Fatal("it did not stop")
		}
		refused(t, path, postgrestest.Database(t), "the file has been left for the ledger")
	})
	t.Run("a copy", func(t *testing.T) {
		path, _, _ := fill(t)
		copied := filepath.Join(t.TempDir(), callstore.LedgerFile)
		storetest.Must(t, sqlitefile.Copy(t.Context(), path, copied))
		address := postgrestest.Database(t)
		_, err := move(t, path, moveTo(address))
		storetest.Must(t, err)
		refused(t, copied, address, "it is a copy")
	})
	t.Run("a restored ledger", func(t *testing.T) {
		path, _, _ := fill(t)
		_, err := callstore.Renew(t.Context(), path, time.Now(), time.Now())
		storetest.Must(t, err)
		if _, err := callstore.OpenToLeave(t.Context(), path, time.Hour); err == nil || !strings.Contains(err.Error(), "--accept-lost-ledger") {
			t.Errorf("a restored ledger: %v", err)
		}
	})
}
