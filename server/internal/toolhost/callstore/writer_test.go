package callstore

import (
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
)

// newTestWriter returns a writer whose loop does not run.
func newTestWriter(t *testing.T) *writer {
	t.Helper()
	ctx := t.Context()
	db, err := sqlitefile.Connect(filepath.Join(t.TempDir(), "calls.db"), 1, "immediate", "journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := layout().Migrate(ctx, db); err != nil {
		t.Fatal(err)
	}
	cfg, err := Config{Path: "unused"}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWriter(ctx, &Store{cfg: cfg, db: db, index: &index{numbers: map[Hash]int64{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.release() })
	return w
}

func do(v verb, id string) *op { return newOp(v, Key{ID: id}) }

// TestOnlyBeginsAreSynced asks SQLite, because a test cannot cut the power.
func TestOnlyBeginsAreSynced(t *testing.T) {
	ctx, w := t.Context(), newTestWriter(t)
	const normal, full = 1, 2
	for i, step := range []struct {
		ops  []*op
		want int
	}{
		{[]*op{do(verbBegin, "a")}, full},
		{[]*op{do(verbEnd, "a")}, normal},
		{[]*op{do(verbForget, "a"), do(verbForget, "b")}, normal},
		{[]*op{do(verbEnd, "b"), do(verbBegin, "b"), do(verbForget, "c")}, full},
	} {
		if err := w.transact(ctx, step.ops); err != nil {
			t.Fatal(err)
		}
		var mode int
		if err := w.conn.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&mode); err != nil || mode != step.want {
			t.Errorf("step %d: committed with synchronous = %d, %v; want %d", i, mode, err, step.want)
		}
	}
	var journal string
	if err := w.conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal); err != nil || journal != "wal" {
		t.Errorf("the journal mode is %q, %v", journal, err)
	}
}

// A Begin of an id that another caller has just given up succeeds, also in the same commit.
func TestLeftWithinATransaction(t *testing.T) {
	ctx, w := t.Context(), newTestWriter(t)
	first, second := do(verbBegin, "a"), do(verbBegin, "a")
	err := w.inTransaction(ctx, true, func(c *change) error {
		if err := w.apply(ctx, c, first); err != nil {
			return err
		}
		first.over.Store(true)
		return w.apply(ctx, c, second)
	})
	if err != nil {
		t.Fatal(err)
	}
	w.deliver(first)
	w.deliver(second)
	if err := <-second.done; err != nil || len(w.owed) != 0 {
		t.Errorf("the second: %v; %d are owed", err, len(w.owed))
	}
	if number, ok := w.store.index.find(second.hash); !ok || number != 2 || w.store.index.len() != 1 {
		t.Errorf("the id has number %d, %v, of %d", number, ok, w.store.index.len())
	}
	var rows int
	if err := w.conn.QueryRowContext(ctx, "SELECT count(*) FROM calls").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("the file has %d rows, %v", rows, err)
	}
}

// An owed operation is about one call, and not about a later call with the same id.
func TestWhatIsOwedIsAboutOneCall(t *testing.T) {
	ctx, w := t.Context(), newTestWriter(t)
	w.commit(ctx, []*op{do(verbBegin, "a")})
	w.owe(do(verbForget, "a"))
	w.commit(ctx, []*op{do(verbForget, "a"), do(verbBegin, "a")})
	w.payOwed(ctx)
	if number, ok := w.store.index.find(Key{ID: "a"}.Hash()); !ok || number != 2 || len(w.owed) != 0 {
		t.Errorf("the second call has number %d, %v; %d are owed", number, ok, len(w.owed))
	}
}
