package callstore

import (
	"path/filepath"
	"testing"
)

// TestOnlyBeginsAreSynced asks SQLite, because no test can pull the plug.
func TestOnlyBeginsAreSynced(t *testing.T) {
	ctx := t.Context()
	db, err := connect(filepath.Join(t.TempDir(), "calls.db"), 1, "journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := migrate(ctx, db); err != nil {
		t.Fatal(err)
	}
	cfg, err := Config{Path: "unused"}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWriter(ctx, &Store{cfg: cfg, db: db, index: &index{numbers: map[hash]int64{}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.release()
	const normal, full = 1, 2
	do := func(v verb, id string) *op { return newOp(v, Key{ID: id}) }
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
