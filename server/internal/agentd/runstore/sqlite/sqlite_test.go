package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/storetest"
	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
)

// writerEnv names a journal. The test binary then appends to it until it is killed.
const writerEnv = "RUNSTORE_TEST_WRITER"

// claimerEnv names a journal. The test binary then claims the run r in it until it is killed.
const claimerEnv = "RUNSTORE_TEST_CLAIMER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		write(path)
		return
	}
	if path := os.Getenv(deleterEnv); path != "" {
		deleteAll(path)
		return
	}
	if path := os.Getenv(claimerEnv); path != "" {
		claim(path)
		return
	}
	goleak.VerifyTestMain(m)
}

func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return store
}

func TestConformance(t *testing.T) {
	paths := make(map[runstore.Store]string)
	storetest.Run(t, storetest.Harness{
		New: func(t *testing.T) runstore.Store {
			path := filepath.Join(t.TempDir(), "sub folder", "runs?#%.db")
			store := open(t, path)
			paths[store] = path
			return store
		},
		Reopen: func(t *testing.T, store runstore.Store) runstore.Store {
			if err := store.(*sqlite.Store).Close(); err != nil {
				t.Fatal(err)
			}
			again := open(t, paths[store])
			paths[again] = paths[store]
			return again
		},
	})
}

func write(path string) {
	store, err := sqlite.Open(context.Background(), path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for seq := uint64(0); ; seq++ {
		batch := runstore.Batch{RunID: "r", After: seq, Records: storetest.Records(int(seq)+1, 1), Contents: []runstore.Content{contentOf(seq + 1)}}
		if err := store.Append(context.Background(), batch); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(seq + 1)
	}
}

// contentOf returns the content that the writer appends with a record. It has two rows.
func contentOf(seq uint64) runstore.Content {
	return runstore.Content{SHA256: fmt.Sprintf("%064x", seq), Data: bytes.Repeat([]byte{byte(seq)}, 256<<10+1)}
}

// TestKill kills a writing process. Everything that Append returned for is stored, and no batch is
// stored partly: each record has its content, and there is no content without its record.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	acknowledged := 0
	for acknowledged < 50 && lines.Scan() {
		if _, err := fmt.Sscan(lines.Text(), &acknowledged); err != nil {
			t.Errorf("the writer said %q", lines.Text())
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	for lines.Scan() {
		fmt.Sscan(lines.Text(), &acknowledged)
	}
	cmd.Wait()
	store := open(t, path)
	run, err := store.Get(t.Context(), "r")
	if err != nil || acknowledged < 50 || int(run.LastSeq) < acknowledged {
		t.Fatalf("the journal ends at %d, acknowledged %d: %v", run.LastSeq, acknowledged, err)
	}
	storetest.Want(t, store, "r", int(run.LastSeq))
	for seq := range run.LastSeq {
		want := contentOf(seq + 1)
		if got, err := store.Content(t.Context(), "r", want.SHA256); err != nil || !bytes.Equal(got, want.Data) {
			t.Errorf("record %d has a content of %d bytes: %v", seq+1, len(got), err)
		}
	}
	if n := count(t, path, "SELECT count(DISTINCT digest) FROM contents"); n != int(run.LastSeq) {
		t.Errorf("%d contents are stored for %d records", n, run.LastSeq)
	}
	storetest.Must(t, store, "r", run.LastSeq, 1)
}

// TestTornTail cuts the write-ahead log at many places, as a power failure may. The journal then
// ends with a complete batch.
func TestTornTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, path)
	for i := range uint64(20) {
		storetest.Must(t, store, "r", 2*i, 2)
	}
	main, wal := read(t, path), read(t, path+"-wal")
	longest := 0
	for cut := len(wal); cut >= 0; cut -= len(wal)/53 + 1 { // more than two in each batch
		torn := filepath.Join(t.TempDir(), "runs.db")
		if err := errors.Join(os.WriteFile(torn, main, 0o600), os.WriteFile(torn+"-wal", wal[:cut], 0o600)); err != nil {
			t.Fatal(err)
		}
		got := open(t, torn)
		run, err := got.Get(t.Context(), "r")
		if errors.Is(err, runstore.ErrNotFound) {
			continue
		}
		if err != nil || run.LastSeq%2 != 0 {
			t.Fatalf("cut at %d: the journal ends at %d, in the middle of a batch: %v", cut, run.LastSeq, err)
		}
		storetest.Want(t, got, "r", int(run.LastSeq))
		longest = max(longest, int(run.LastSeq))
	}
	if longest != 40 {
		t.Errorf("the whole log gave %d records, want 40", longest)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestTwoProcessesShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	one, two := open(t, path), open(t, path)
	storetest.Must(t, one, "r", 0, 1)
	storetest.Must(t, two, "r", 1, 1)
	err := one.Append(t.Context(), runstore.Batch{RunID: "r", After: 1, Records: storetest.Records(2, 1)})
	if !errors.Is(err, runstore.ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	storetest.Want(t, one, "r", 2)
}

func TestClosed(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "runs.db"))
	storetest.Must(t, store, "r", 0, 1)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	err := store.Append(t.Context(), runstore.Batch{RunID: "r", After: 1, Records: storetest.Records(2, 1)})
	if !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func TestRefusesForeignFiles(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign, newer := filepath.Join(folder, "foreign.db"), filepath.Join(folder, "newer.db")
	execute(t, foreign, "CREATE TABLE recipes (name TEXT)")
	open(t, newer)
	execute(t, newer, "PRAGMA user_version = 99")
	for path, want := range map[string]string{text: "not a database", foreign: "another program", newer: "newer program"} {
		_, err := sqlite.Open(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("opening %s: got %v, want it to say %q", filepath.Base(path), err, want)
		}
	}
}

// A journal with a trigger, which would run with each statement of the store, is refused.
func TestRefusesForeignSchemas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Check(t.Context(), path); err != nil {
		t.Errorf("its own file: %v", err)
	}
	execute(t, path, "CREATE TRIGGER approve AFTER INSERT ON records BEGIN UPDATE records SET data = '{}'; END")
	_, err := sqlite.Open(t.Context(), path)
	for what, err := range map[string]error{"Open": err, "Check": sqlite.Check(t.Context(), path)} {
		if !errors.Is(err, sqlitefile.ErrForeignSchema) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// beforeTenants turns a file into one of the format without contents, owners and tenants.
const beforeTenants = beforeDeletions + "DROP TRIGGER contents_go; DROP TABLE contents; DROP TABLE spending; DROP INDEX runs_owner; DROP INDEX runs_tenant; " +
	"ALTER TABLE runs DROP COLUMN tenant; ALTER TABLE runs DROP COLUMN owner; "

// A file of the format without snapshots is migrated with all of its content.
func TestFilesWithoutSnapshots(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, path)
	storetest.Must(t, store, "r", 0, 3)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, path, beforeTenants+"DROP TRIGGER snapshots_go; DROP TABLE snapshots; PRAGMA user_version = 1")
	store = open(t, path)
	storetest.Want(t, store, "r", 3)
	if kept, err := store.Snapshot(t.Context(), "r"); err != nil || kept.State != nil || kept.Parts != nil {
		t.Errorf("a run of before has the snapshot %+v, %v", kept, err)
	}
	renewal := runstore.Batch{RunID: "r", After: 3, Records: storetest.Records(4, 1), Snapshot: &runstore.Renewal{State: []byte("s"), Parts: [][]byte{{1}}}}
	if err := store.Append(t.Context(), renewal); err != nil {
		t.Fatal(err)
	}
	if kept, err := store.Snapshot(t.Context(), "r"); err != nil || string(kept.State) != "s" || len(kept.Parts) != 1 {
		t.Errorf("the snapshot is %+v, %v", kept, err)
	}
	digest := strings.Repeat("0f", 32)
	attached := runstore.Batch{RunID: "r", After: 4, Records: storetest.Records(5, 1), Contents: []runstore.Content{{SHA256: digest, Data: make([]byte, 600<<10)}}}
	if err := store.Append(t.Context(), attached); err != nil {
		t.Fatal(err)
	}
	if n := count(t, path, "SELECT max(length(data)) FROM contents"); n > 256<<10 {
		t.Errorf("a row of a content has %d bytes", n)
	}
	execute(t, path, "DELETE FROM records; DELETE FROM runs")
	for _, table := range []string{"snapshots", "contents"} {
		if n := count(t, path, "SELECT count(*) FROM "+table); n != 0 {
			t.Errorf("%d rows of %s outlive their run", n, table)
		}
	}
}

func count(t *testing.T, path, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "runs.db")
	store := open(t, path)
	storetest.Must(t, store, "r", 0, 1)
	for name, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600, path + "-wal": 0o600} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v: %v", filepath.Base(name), info.Mode().Perm(), want, err)
		}
	}
}

// Several processes can create the file at the same time.
func TestOpenAtOnce(t *testing.T) {
	for range 4 {
		path := filepath.Join(t.TempDir(), "runs.db")
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				store, err := sqlite.Open(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				batch := runstore.Batch{RunID: fmt.Sprint("r", i), Records: storetest.Records(1, 1)}
				if err := errors.Join(store.Append(t.Context(), batch), store.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		runs, err := open(t, path).List(t.Context(), runstore.Query{})
		if err != nil || len(runs) != 8 {
			t.Errorf("%d runs, %v", len(runs), err)
		}
	}
}

// claim claims the run r, reports it, and waits until it is killed.
func claim(path string) {
	store, err := sqlite.Open(context.Background(), path)
	if err == nil {
		_, err = store.Claim("r")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("claimed")
	// A process whose goroutines all wait for each other is ended by the Go runtime. One that reads is
	// not.
	_, _ = io.Copy(io.Discard, os.Stdin)
}
