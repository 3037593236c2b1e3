//go:build more

package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/storetest"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
)

// writerEnv and claimerEnv have the URL of a database. The test binary then appends to the run r,
// or claims it, until it is killed.
const (
	writerEnv  = "RUNSTORE_TEST_WRITER"
	claimerEnv = "RUNSTORE_TEST_CLAIMER"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(writerEnv); address != "" {
		write(address)
		return
	}
	if address := os.Getenv(claimerEnv); address != "" {
		claim(address)
		return
	}
	goleak.VerifyTestMain(postgrestest.Main(m))
}

func open(t *testing.T, address string) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), database.Config{URL: address, LockTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func TestConformance(t *testing.T) {
	addresses := make(map[runstore.Store]string)
	storetest.Run(t, storetest.Harness{
		New: func(t *testing.T) runstore.Store {
			address := postgrestest.Database(t)
			store := open(t, address)
			addresses[store] = address
			return store
		},
		Reopen: func(t *testing.T, store runstore.Store) runstore.Store {
			if err := store.(*postgres.Store).Close(); err != nil {
				t.Fatal(err)
			}
			again := open(t, addresses[store])
			addresses[again] = addresses[store]
			return again
		},
	})
}

// A position passes no transaction that is open, also if a later one is visible before it. A
// program of before the column, which does not know it, changes it, too.
func TestChangesThatBecomeVisibleOutOfOrder(t *testing.T) {
	address := postgrestest.Database(t)
	store := open(t, address)
	for _, id := range []string{"slow", "fast"} {
		storetest.Must(t, store, id, 0, 1)
	}
	_, start, err := store.Changed(t.Context(), runstore.ChangedQuery{After: runstore.Now})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	slow, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Exec(t.Context(), "UPDATE agentd_runs SET decisions = '[1]' WHERE id = 'slow'"); err != nil {
		t.Fatal(err)
	}
	asks := runstore.Batch{RunID: "fast", After: 1, Records: storetest.Records(2, 1), Head: runstore.Head{Unfinished: true, Decisions: []byte(`[2]`)}}
	if err := store.Append(t.Context(), asks); err != nil {
		t.Fatal(err)
	}
	runs, position, err := store.Changed(t.Context(), runstore.ChangedQuery{After: start})
	if err != nil || len(runs) > 0 {
		t.Errorf("beside an open transaction: %v, %v", runs, err)
	}
	if err := slow.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "both changes can be read", func() bool {
		runs, _, err := store.Changed(t.Context(), runstore.ChangedQuery{After: position})
		return err == nil && len(runs) == 2 && runs[0].ID == "slow" && runs[1].ID == "fast"
	})
}

// Names that no text of PostgreSQL can have are runs that do not exist.
func TestImpossibleNames(t *testing.T) {
	store := open(t, postgrestest.Database(t))
	for _, id := range []string{"a\x00b", "a\xffb"} {
		_, got := store.Get(t.Context(), id)
		_, content := store.Content(t.Context(), id, strings.Repeat("0", 64))
		_, snapshot := store.Snapshot(t.Context(), id)
		for _, err := range []error{got, content, snapshot} {
			if !errors.Is(err, runstore.ErrNotFound) {
				t.Errorf("run %q: %v", id, err)
			}
		}
		if err := store.Append(t.Context(), runstore.Batch{RunID: id, Records: storetest.Records(1, 1)}); err == nil {
			t.Errorf("run %q was created", id)
		}
	}
}

func write(address string) {
	store, err := postgres.Open(context.Background(), database.Config{URL: address})
	for seq := uint64(0); err == nil; seq++ {
		batch := runstore.Batch{RunID: "r", After: seq, Records: storetest.Records(int(seq)+1, 1), Snapshot: &runstore.Renewal{State: fmt.Appendf(nil, "%d", seq+1)}}
		if err = store.Append(context.Background(), batch); err == nil {
			fmt.Println(seq + 1)
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// child runs this program with one variable, and returns it with its output and its input.
func child(t *testing.T, variable, address string) (*exec.Cmd, *bufio.Scanner, io.Writer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable+"="+address)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewScanner(out), in
}

// TestKill kills a writing process. Everything that Append returned for is stored, and no batch is
// stored partly.
func TestKill(t *testing.T) {
	address := postgrestest.Database(t)
	open(t, address) // the child finds the tables
	cmd, lines, _ := child(t, writerEnv, address)
	acknowledged := 0
	for acknowledged < 20 && lines.Scan() {
		if _, err := fmt.Sscan(lines.Text(), &acknowledged); err != nil {
			t.Fatalf("the writer said %q", lines.Text())
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	for lines.Scan() {
		_, _ = fmt.Sscan(lines.Text(), &acknowledged)
	}
	_ = cmd.Wait()
	store := open(t, address)
	// A statement that was sent is executed after the end of its client, too. After the claim, which
	// waits for the row, there is none.
	eventually.Shows(t, "the writer is taken for gone", func() (bool, any) {
		_, err := store.Claim("r")
		return err == nil, err
	})
	run, err := store.Get(t.Context(), "r")
	if err != nil || acknowledged < 20 || int(run.LastSeq) < acknowledged {
		t.Fatalf("the journal ends at %d, acknowledged %d: %v", run.LastSeq, acknowledged, err)
	}
	storetest.Want(t, store, "r", int(run.LastSeq))
	kept, err := store.Snapshot(t.Context(), "r")
	if err != nil || string(kept.State) != fmt.Sprint(run.LastSeq) {
		t.Errorf("the snapshot is of %s and the journal ends at %d: %v", kept.State, run.LastSeq, err)
	}
}

// Appends go on while PostgreSQL is restarted and crashes. None is lost or done twice.
func TestRestarts(t *testing.T) {
	s := postgrestest.Start(t)
	store := open(t, s.URL("postgres"))
	const runs, least = 3, 30
	stop := make(chan struct{})
	var group sync.WaitGroup
	for i := range runs {
		id := fmt.Sprint("r", i)
		storetest.Must(t, store, id, 0, 1)
		epoch := storetest.MustClaim(t, store, id)
		group.Go(func() {
			for seq := uint64(1); ; {
				select {
				case <-stop:
					if seq >= least {
						return
					}
				default:
				}
				err := store.Append(t.Context(), runstore.Batch{RunID: id, After: seq, Epoch: epoch, Records: storetest.Records(int(seq)+1, 1), Spent: runstore.Spent{Day: 1, Tokens: 1}})
				switch {
				case err == nil:
					seq++
				case errors.Is(err, runstore.ErrUnavailable):
					// A busy machine restarts the server slowly. As the agent does, find out what is written.
					run, err := store.Get(t.Context(), id)
					if err == nil {
						seq = run.LastSeq
					} else if !errors.Is(err, runstore.ErrUnavailable) {
						t.Errorf("%s: %v", id, err)
						return
					}
				default:
					t.Errorf("%s after %d: %v", id, seq, err)
					return
				}
			}
		})
	}
	for range 2 {
		s.Restart(t)
		storetest.Must(t, store, "after-restart-"+s.Create(t), 0, 1)
		s.Kill()
		s.Resume(t)
		storetest.Must(t, store, "after-crash-"+s.Create(t), 0, 1)
	}
	close(stop)
	group.Wait()
	total := uint64(0)
	for i := range runs {
		run, err := store.Get(t.Context(), fmt.Sprint("r", i))
		if err != nil {
			t.Fatal(err)
		}
		storetest.Want(t, store, run.ID, int(run.LastSeq))
		total += run.LastSeq - 1
	}
	if spent, err := store.Spent(t.Context(), 1, runstore.Query{}); err != nil || uint64(spent.Tokens) != total {
		t.Errorf("%d appends count %d: %v", total, spent.Tokens, err)
	}
}

// Tables without the mark of ended runs have it after the migration.
func TestTablesWithoutEnded(t *testing.T) {
	address := postgrestest.Database(t)
	store := open(t, address)
	for _, old := range storetest.BeforeEnded {
		if err := store.Append(t.Context(), old.Batch); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	const before = "ALTER TABLE agentd_runs DROP COLUMN works; ALTER TABLE agentd_runs DROP COLUMN asked; ALTER TABLE agentd_runs DROP COLUMN stalled; DROP TRIGGER agentd_runs_claim ON agentd_runs; DROP FUNCTION agentd_runs_claimed; DROP INDEX agentd_runs_due; ALTER TABLE agentd_runs DROP COLUMN wake_at; DROP TABLE agentd_inbox; DROP INDEX agentd_runs_posted; ALTER TABLE agentd_runs DROP COLUMN posted; DROP TABLE agentd_nodes; DROP INDEX agentd_runs_claimer; ALTER TABLE agentd_runs DROP COLUMN epoch; DROP TABLE agentd_verdicts; DROP TABLE agentd_outbox; DROP TRIGGER agentd_runs_ask ON agentd_runs; DROP TRIGGER agentd_runs_decide ON agentd_runs; DROP FUNCTION agentd_runs_changed; DROP INDEX agentd_runs_changed; ALTER TABLE agentd_runs DROP COLUMN changed; DROP INDEX agentd_runs_waiting; ALTER TABLE agentd_runs DROP COLUMN decisions; ALTER TABLE agentd_runs DROP COLUMN decide_by; DROP INDEX agentd_runs_open; ALTER TABLE agentd_runs DROP COLUMN ended; UPDATE toolhost_layouts SET version = 1, oldest = 1 WHERE name = 'agentd runs'"
	if _, err := conn.Exec(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	storetest.WantEnded(t, open(t, address))
}
