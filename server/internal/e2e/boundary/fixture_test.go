package boundary_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
)

var keep = flag.String("boundary.keep", "", "keep the journal of an interrupted run in this file of testdata, for later versions to go on with")

// interrupted is the turn in which the stored journals end: one call runs and two decisions are
// pending.
const interrupted = 14

// Journals that earlier versions wrote can be read from the first event. Their runs continue and
// end as if the version had not changed. Never overwrite a stored journal: each new version adds
// one with -boundary.keep.
func TestKeptJournals(t *testing.T) {
	if *keep != "" {
		keepJournal(t, filepath.Join("testdata", *keep))
	}
	kept, err := filepath.Glob("testdata/journal-*.db")
	if err != nil || len(kept) == 0 {
		t.Fatalf("there are no journals: %v", err)
	}
	for _, path := range kept {
		t.Run(filepath.Base(path), func(t *testing.T) { goOn(t, path) })
	}
}

// errEnough makes follow return early.
var errEnough = errors.New("seen enough")

// keepJournal writes the journal of a run whose agentd is killed while two decisions are pending.
func keepJournal(t *testing.T, path string) {
	t.Helper()
	w := newWorld(t)
	b := newBrain(t)
	d := newAgentd(t, w, b, folder(t, w), place{})
	p := newPerson(t, d.addr, "kept", false)
	asked := 0
	p.seen = func(e *agentdv1.RunEvent) error {
		if e.GetDecisionRequested() != nil && len(b.seen()) == interrupted {
			asked++
		}
		if asked == 2 {
			return errEnough
		}
		return nil
	}
	if _, err := live(t, w, b, p); !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	d.life.kill()
	store, err := sqlite.Open(t.Context(), d.journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil { // Close moves the write-ahead log into the file
		t.Fatal(err)
	}
	copyFile(t, d.journal, path)
}

// copyFile copies a file. It fails if to exists.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

// goOn lets today's agentd continue a kept journal and checks how the run ends.
func goOn(t *testing.T, path string) {
	t.Helper()
	w := newWorld(t)
	b := newBrain(t)
	dir := folder(t, w)
	copyFile(t, path, filepath.Join(dir, "runs.db"))
	d := newAgentd(t, w, b, dir, place{})
	p := newPerson(t, d.addr, "kept", false)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := p.follow(ctx); err != nil {
		t.Fatal(err)
	}
	list := turns(nil)
	results, calls := p.results(), 0
	for _, asks := range list {
		calls += len(asks)
	}
	if len(results) != calls {
		t.Errorf("the run has %d results, want %d", len(results), calls)
	}
	end := p.end()
	if end.GetStopReason() != agentdv1.StopReason_STOP_REASON_END_TURN || end.GetTurns() != uint32(len(list)) || end.GetText() != keptEnd {
		t.Errorf("the run ended with %v, want %q", end, keptEnd)
	}
	for id, n := range w.executed(t, "kept") {
		var turn int
		if _, err := fmt.Sscanf(id, "r.t%d.", &turn); err != nil || turn < interrupted || n != 1 {
			t.Errorf("call %s was executed %d times", id, n)
		}
	}
	if first := b.seen(); len(first) != len(list)-interrupted {
		t.Errorf("the model was asked for %d turns, want those after %d", len(first), interrupted)
	}
}

// keptEnd is the final text of the kept run. It contains the result of a call before the
// interruption and of one after it.
const keptEnd = "done: a: d229e52dba84: fe8ae36c0769, nn: 13eb985d8e9f"
