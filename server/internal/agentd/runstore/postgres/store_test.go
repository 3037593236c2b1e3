//go:build more

package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
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

func TestClaims(t *testing.T) {
	storetest.RunClaims(t, func(t *testing.T) (_, _ storetest.Claimer) {
		address := postgrestest.Database(t)
		return open(t, address), open(t, address)
	})
}

// A run whose row another session holds, such as a backup's or that of a process that hangs during
// an append, does not keep a process from claiming the others.
func TestALockedRunHoldsUpNoClaims(t *testing.T) {
	address := postgrestest.Database(t)
	store := open(t, address)
	runs := []string{"held", "free", "last"}
	for _, id := range runs {
		storetest.Must(t, store, id, 0, 1)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	holder, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Exec(t.Context(), "SELECT FROM agentd_runs WHERE id = 'held' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	claimed, err := store.ClaimAll(runs)
	if want := map[string]bool{"free": true, "last": true}; err != nil || !maps.Equal(claimed, want) {
		t.Errorf("beside a held run: %v, %v, want %v", claimed, err, want)
	}
	if err := holder.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	claimed, err = store.ClaimAll(runs)
	if err != nil || len(claimed) != len(runs) {
		t.Errorf("afterwards: %v, %v, want all", claimed, err)
	}
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

// child runs this program with one variable, and returns it with its output.
func child(t *testing.T, variable, address string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable+"="+address)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

// TestKill kills a writing process. Everything that Append returned for is stored, and no batch is
// stored partly.
func TestKill(t *testing.T) {
	address := postgrestest.Database(t)
	open(t, address) // the child finds the tables
	cmd, lines := child(t, writerEnv, address)
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
	if err := store.Claim("r"); err != nil {
		t.Fatal(err)
	}
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

// claim claims the run r, reports it, and waits until it is killed.
func claim(address string) {
	store, err := postgres.Open(context.Background(), database.Config{URL: address})
	if err == nil {
		err = store.Claim("r")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("claimed")
	select {}
}

// A claim ends with its process.
func TestClaimOfAKilledProcess(t *testing.T) {
	address := postgrestest.Database(t)
	store := open(t, address)
	storetest.Must(t, store, "r", 0, 1)
	cmd, lines := child(t, claimerEnv, address)
	if !lines.Scan() || lines.Text() != "claimed" {
		t.Fatalf("the claimer said %q", lines.Text())
	}
	if !storetest.Claimed(t, store, "r") {
		t.Error("the claim of another process is not seen")
	}
	if err := store.Claim("r"); !errors.Is(err, runstore.ErrClaimed) {
		t.Errorf("a second claim: %v", err)
	}
	err := store.Append(t.Context(), runstore.Batch{RunID: "r", After: 1, Records: storetest.Records(2, 1)})
	if !errors.Is(err, runstore.ErrConflict) {
		t.Errorf("appending to a run that another process has claimed: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually.Holds(t, "the server has noticed the end", func() bool { return !storetest.Claimed(t, store, "r") })
	if err := store.Claim("r"); err != nil {
		t.Error(err)
	}
	storetest.Must(t, store, "r", 1, 1)
}

// A store whose connections were cut loses its claim to another one, and then writes nothing, also
// before the other one has written.
func TestFencing(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	loser, winner := open(t, s.URL(name)), open(t, s.URL(name))
	storetest.Must(t, loser, "r", 0, 1)
	if err := loser.Claim("r"); err != nil {
		t.Fatal(err)
	}
	eventually.Shows(t, "the claim ends with its session", func() (bool, any) {
		// A store that notices connects again at once, so it may take several attempts.
		s.Do(t, name, "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN agentd_runs ON claimer = (classid::bigint << 32) | objid::bigint WHERE locktype = 'advisory'")
		err := winner.Claim("r")
		return err == nil, err
	})
	err := loser.Append(t.Context(), runstore.Batch{RunID: "r", After: 1, Records: storetest.Records(2, 1)})
	if !errors.Is(err, runstore.ErrConflict) || !strings.Contains(err.Error(), "another process has claimed the run") {
		t.Errorf("the store that lost its claim: %v", err)
	}
	storetest.Must(t, winner, "r", 1, 1)
	eventually.Shows(t, "the loser keeps claims again", func() (bool, any) {
		err := loser.Claim("r")
		return errors.Is(err, runstore.ErrClaimed), err
	})
	loser.Release("r") // changes nothing
	storetest.Must(t, winner, "r", 2, 1)
}

// A database has one server. It stays the server when its session is cut, and another store becomes
// the server after its end.
func TestServe(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	first, second := open(t, s.URL(name)), open(t, s.URL(name))
	if err := first.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused := func() {
		t.Helper()
		if err := second.Serve(t.Context()); err == nil || !strings.Contains(err.Error(), "another agentd serves") {
			t.Errorf("a second server: %v", err)
		}
	}
	refused()
	s.Do(t, name, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
	storetest.Must(t, first, "r", 0, 1)
	eventually.Shows(t, "the first server keeps claims again", func() (bool, any) {
		err := first.Claim("r")
		n := s.Do(t, name, "SELECT count(DISTINCT pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
		return err == nil && n[0][0] == "2", n
	})
	refused()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Serve(t.Context()); err != nil {
		t.Error(err)
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
		if err := store.Claim(id); err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			for seq := uint64(1); ; {
				select {
				case <-stop:
					if seq >= least {
						return
					}
				default:
				}
				err := store.Append(t.Context(), runstore.Batch{RunID: id, After: seq, Records: storetest.Records(int(seq)+1, 1), Spent: runstore.Spent{Day: 1, Tokens: 1}})
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
	const before = "DROP TABLE agentd_verdicts; DROP TABLE agentd_outbox; DROP TRIGGER agentd_runs_ask ON agentd_runs; DROP TRIGGER agentd_runs_decide ON agentd_runs; DROP FUNCTION agentd_runs_changed; DROP INDEX agentd_runs_changed; ALTER TABLE agentd_runs DROP COLUMN changed; DROP INDEX agentd_runs_waiting; ALTER TABLE agentd_runs DROP COLUMN decisions; ALTER TABLE agentd_runs DROP COLUMN decide_by; DROP INDEX agentd_runs_open; ALTER TABLE agentd_runs DROP COLUMN ended; UPDATE toolhost_layouts SET version = 1, oldest = 1 WHERE name = 'agentd runs'"
	if _, err := conn.Exec(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	storetest.WantEnded(t, open(t, address))
}
