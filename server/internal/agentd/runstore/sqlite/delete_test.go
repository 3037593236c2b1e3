package sqlite_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/storetest"
)

// beforeVerdicts turns a file into one of the format without what principals have decided.
const beforeVerdicts = "DROP TRIGGER verdicts_go; DROP TABLE verdicts; "

// beforeChanges turns a file into one of the format without the positions of changes.
const beforeChanges = beforeVerdicts + "DROP TRIGGER runs_ask; DROP TRIGGER runs_decide; DROP TABLE changes; DROP INDEX runs_changed; ALTER TABLE runs DROP COLUMN changed; "

// beforeOutbox turns a file into one of the format without an outbox.
const beforeOutbox = beforeChanges + "DROP TABLE outbox; "

// beforeDecisions turns a file into one of the format without the decisions that runs wait for.
const beforeDecisions = beforeOutbox + "DROP INDEX runs_waiting; ALTER TABLE runs DROP COLUMN decisions; ALTER TABLE runs DROP COLUMN decide_by; "

// beforeOpen turns a file into one of the format that does not have whether a run has ended.
const beforeOpen = beforeDecisions + "DROP INDEX runs_open; ALTER TABLE runs DROP COLUMN ended; "

// beforeDeletions turns a file into one of the format without parents and deletions.
const beforeDeletions = beforeOpen + "DROP TABLE deleted; DROP INDEX runs_parent; ALTER TABLE runs DROP COLUMN parent; "

// A file of the format without parents knows the parents of its sub-runs after the migration. A
// summary that is broken, or that has something else as its parent, prevents nothing.
func TestFilesWithoutParents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, path)
	for id, summary := range map[string]string{
		"top": `{"prompt":"p"}`, "below": `{"parent":{"run_id":"top","call_id":"c"}}`, "odd": `{"parent":{"run_id":["top"]}}`, "list": `[{"parent":"top"}]`, "none": "",
	} {
		batch := runstore.Batch{RunID: id, Records: storetest.Records(1, 1), Head: runstore.Head{Summary: json.RawMessage(summary)}}
		if err := store.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Must(t, store, "broken", 0, 1)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "UPDATE runs SET summary = x'7b' WHERE id = 'broken'")
	execute(t, path, beforeDeletions+"PRAGMA user_version = 4")
	store = open(t, path)
	runs, err := store.List(t.Context(), runstore.Query{Parent: "top"})
	if err != nil || len(runs) != 1 || runs[0].ID != "below" || runs[0].Head.Parent != "top" {
		t.Errorf("the sub-runs are %+v, %v", runs, err)
	}
	if runs, err := store.List(t.Context(), runstore.Query{}); err != nil || len(runs) != 6 {
		t.Errorf("the runs are %+v, %v", runs, err)
	}
}

// deleterEnv names a journal. The test binary then deletes the families of runs in it, until it is
// killed.
const deleterEnv = "RUNSTORE_TEST_DELETER"

// families is how many runs with a sub-run TestKillWhileDeleting has. They are more than are
// deleted before the process is killed.
const families = 120

// familyOf returns the ids of a run and of its sub-run.
func familyOf(n int) (top, below string) { return fmt.Sprintf("r%d", n), fmt.Sprintf("r%d-sub", n) }

func deleteAll(path string) {
	store, err := sqlite.Open(context.Background(), path)
	for n := 0; err == nil && n < families; n++ {
		top, below := familyOf(n)
		if err = store.Delete(context.Background(), runstore.Deletion{Last: map[string]uint64{top: 2, below: 2}}); err == nil {
			fmt.Println(n)
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	select {} // until it is killed
}

// A process that deletes runs is killed. Each run is whole, or it is gone with its sub-run and its
// id cannot be used. All that Delete returned for are gone.
func TestKillWhileDeleting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, path)
	for n := range families {
		top, below := familyOf(n)
		for id, parent := range map[string]string{top: "", below: top} {
			batch := runstore.Batch{
				RunID: id, Records: storetest.Records(1, 2), Head: runstore.Head{Parent: parent}, Snapshot: &runstore.Renewal{State: []byte("s")},
				Contents: []runstore.Content{contentOf(1)},
			}
			if err := store.Append(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), deleterEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, acknowledged := bufio.NewScanner(out), -1
	for acknowledged < 29 && lines.Scan() {
		if _, err := fmt.Sscan(lines.Text(), &acknowledged); err != nil {
			t.Errorf("the process said %q", lines.Text())
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	for lines.Scan() {
		fmt.Sscan(lines.Text(), &acknowledged)
	}
	cmd.Wait()
	gone := 0
	for n := range families {
		top, below := familyOf(n)
		_, err := store.Get(t.Context(), top)
		if err == nil && n > acknowledged {
			storetest.Want(t, store, top, 2)
			storetest.Want(t, store, below, 2)
			continue
		}
		gone++
		for _, id := range []string{top, below} {
			if err := store.Append(t.Context(), runstore.Batch{RunID: id, Records: storetest.Records(1, 1)}); !errors.Is(err, runstore.ErrDeleted) {
				t.Errorf("of %d acknowledged deletions, the run %s: %v", acknowledged+1, id, err)
			}
		}
	}
	if gone < 30 {
		t.Errorf("%d families are gone", gone)
	}
	for _, table := range []string{"records", "snapshots", "contents"} {
		if n := count(t, path, "SELECT count(*) FROM "+table+" WHERE run NOT IN (SELECT number FROM runs)"); n != 0 {
			t.Errorf("%d rows of %s have no run", n, table)
		}
	}
}

// Of a deleted run, the file has only its id.
func TestNothingOfADeletedRunIsLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, path)
	for _, id := range []string{"r", "s"} {
		batch := runstore.Batch{
			RunID: id, Records: storetest.Records(1, 3), Snapshot: &runstore.Renewal{State: []byte("s"), Parts: [][]byte{{1}, {2}}}, Contents: []runstore.Content{contentOf(1)},
		}
		if err := store.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	rows := func() (list []int) {
		for _, table := range []string{"runs", "records", "snapshots", "contents", "deleted"} {
			list = append(list, count(t, path, "SELECT count(*) FROM "+table))
		}
		return list
	}
	if got := rows(); !slices.Equal(got, []int{2, 6, 6, 4, 0}) {
		t.Fatalf("before, the tables have %v rows", got)
	}
	if err := store.Delete(t.Context(), runstore.Deletion{Last: map[string]uint64{"r": 3}}); err != nil {
		t.Fatal(err)
	}
	if got := rows(); !slices.Equal(got, []int{1, 3, 3, 2, 1}) {
		t.Errorf("the tables have %v rows", got)
	}
}
