//go:build more

package postgres_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/storetest"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
)

// attached is larger than one part of a content in a file.
var attached = runstore.Content{SHA256: strings.Repeat("ab", 32), Data: []byte(strings.Repeat("content ", 1<<20))}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// journalFile writes one of each thing that a journal keeps to a new file.
func journalFile(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "runs.db")
	store, err := sqlite.Open(t.Context(), path)
	must(t, err)
	for i, id := range []string{"ended", "deleted", "unfinished", "waiting", "foreground", "child"} {
		b := runstore.Batch{RunID: id, Records: storetest.Records(i, 3), Head: runstore.Head{Owner: "user:ann", Tenant: "a", Ended: id == "ended", Unfinished: id == "unfinished" || id == "waiting"}}
		switch id {
		case "ended":
			b.Spent = runstore.Spent{Day: 20000, Tokens: 10, Cost: 0.1, Attached: 3}
			b.Verdicts = []runstore.Verdict{{Principal: "user:eve", Data: json.RawMessage(`{"n":1}`)}}
			b.Contents = []runstore.Content{attached, {SHA256: strings.Repeat("cd", 32), Data: []byte("x")}}
			b.Head.Summary = json.RawMessage(`{"text":"\u0000 ü"}`)
		case "unfinished":
			b.Snapshot = &runstore.Renewal{State: []byte("state\x00"), Parts: [][]byte{[]byte("one"), {}}}
			b.Verdicts = []runstore.Verdict{{Principal: "user:eve", Data: json.RawMessage(`{"n":2}`)}}
		case "waiting":
			b.Head.Decisions, b.Head.DecideBy = json.RawMessage(`[{"id":"d"}]`), time.Unix(3, 0).UTC()
			b.Messages = []runstore.Message{{ID: "m", Kind: "decision", RunID: id, Seq: 2, Decision: "d", Target: "mail", Created: time.Unix(1, 0).UTC(), Due: time.Unix(1, 0).UTC(), Until: time.Unix(9, 0).UTC()}}
		case "child":
			b.Head.Parent = "unfinished"
		}
		must(t, store.Append(t.Context(), b))
	}
	must(t, store.Delete(t.Context(), runstore.Deletion{Time: time.Unix(5, 0), Last: map[string]uint64{"deleted": 3}}))
	must(t, store.Close())
	return path
}

// content is all that a store has of the runs of journalFile.
type content struct {
	Runs      []runstore.Run
	Records   map[string][]runstore.Record
	Snapshots map[string]string
	Contents  []string
	Waiting   []string
	Verdicts  []string
}

func contentOf(t *testing.T, store runstore.Store) content {
	t.Helper()
	c := content{Records: map[string][]runstore.Record{}, Snapshots: map[string]string{}}
	runs, err := store.List(t.Context(), runstore.Query{Owner: "user:ann"})
	must(t, err)
	c.Runs = runs
	for _, run := range runs {
		c.Records[run.ID] = storetest.Collect(t, store, run.ID, 0)
		snapshot, err := store.Snapshot(t.Context(), run.ID)
		must(t, err)
		c.Snapshots[run.ID] = fmt.Sprintf("%q", snapshot)
	}
	for _, digest := range []string{attached.SHA256, strings.Repeat("cd", 32)} {
		data, err := store.Content(t.Context(), "ended", digest)
		must(t, err)
		c.Contents = append(c.Contents, string(data))
	}
	waiting, _, err := store.Waiting(t.Context(), runstore.WaitingQuery{Owner: "user:ann"})
	must(t, err)
	for _, run := range waiting {
		c.Waiting = append(c.Waiting, run.ID)
	}
	verdicts, err := store.Verdicts(t.Context(), runstore.VerdictQuery{Principal: "user:eve"})
	must(t, err)
	for _, v := range verdicts {
		c.Verdicts = append(c.Verdicts, v.RunID+string(v.Data))
	}
	return c
}

func move(t testing.TB, path, address string, change func(*postgres.Move)) (postgres.Moved, error) {
	t.Helper()
	m := postgres.Move{Database: database.Config{URL: address}}
	if change != nil {
		change(&m)
	}
	file, err := sqlite.Depart(t.Context(), path, m.Check)
	must(t, err)
	defer func() { must(t, file.Close()) }()
	m.Left, m.At = file.ID, file.At
	return m.Of(t.Context(), file)
}

// usable reports whether an agentd can use the file.
func usable(t testing.TB, path string) bool {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		// Check says what an agentd without ErrMoved says.
		if old := sqlite.Check(t.Context(), path); !errors.Is(err, sqlite.ErrMoved) || old == nil || !strings.Contains(old.Error(), "use a newer program") {
			t.Errorf("opening a file that was left: %v, %v", err, old)
		}
		return false
	}
	must(t, store.Close())
	return true
}

func count(t testing.TB, address, query string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	must(t, err)
	defer conn.Close(t.Context())
	must(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+query).Scan(&n))
	return n
}

// checkMoved checks that the database has the content of the file, and that runs go on there.
func checkMoved(t *testing.T, address string, was content) {
	t.Helper()
	store := open(t, address)
	must(t, store.Serve(t.Context()))
	if diff := cmp.Diff(was, contentOf(t, store)); diff != "" {
		t.Errorf("(-file +database):\n%s", diff)
	}
	sum, err := store.Spent(t.Context(), 20000, runstore.Query{Owner: "user:ann"})
	if must(t, err); sum.Tokens != 10 || sum.Cost != 0.1 || sum.Attached != 3 {
		t.Errorf("spent: %+v", sum)
	}
	b := runstore.Batch{RunID: "deleted", Records: storetest.Records(1, 1)}
	if err := store.Append(t.Context(), b); !errors.Is(err, runstore.ErrDeleted) {
		t.Errorf("a run with the id of a deleted one: %v", err)
	}
	m, ok, err := store.Take(t.Context(), "mail", time.Unix(2, 0), time.Unix(3, 0))
	if must(t, err); !ok || m.ID != "m" || m.RunID != "waiting" || m.Seq != 2 || m.Attempts != 1 {
		t.Errorf("the message: %+v", m)
	}
	epoch, err := store.Claim("unfinished")
	must(t, err)
	must(t, store.Append(t.Context(), runstore.Batch{RunID: "unfinished", After: 3, Epoch: epoch, Records: storetest.Records(4, 1)}))
	storetest.Must(t, store, "new", 0, 1)
	if runs, err := store.List(t.Context(), runstore.Query{}); err != nil || runs[0].ID != "new" {
		t.Errorf("the newest run: %v %v", runs[0].ID, err)
	}
}

func fileContent(t *testing.T, path string) content {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	must(t, err)
	defer store.Close()
	return contentOf(t, store)
}

// A check changes nothing, a move moves everything once, and the runs of others stay.
func TestMove(t *testing.T) {
	path, address := journalFile(t), postgrestest.Database(t)
	was := fileContent(t, path)
	other := open(t, address)
	must(t, other.Append(t.Context(), runstore.Batch{RunID: "other", Records: storetest.Records(1, 2), Head: runstore.Head{Owner: "user:bob"}, Spent: runstore.Spent{Day: 20000, Tokens: 5}}))
	checked, err := move(t, path, address, func(m *postgres.Move) { m.Check = true })
	must(t, err)
	if n := count(t, address, "agentd_runs"); n != 1 || !usable(t, path) || count(t, address, "agentd_moves") > 0 {
		t.Errorf("after a check, the database has %d runs", n)
	}
	done, err := move(t, path, address, nil)
	must(t, err)
	if done != checked || done != (postgres.Moved{Runs: 5, Unfinished: 2, Foreground: 2, Records: 15, Deleted: 1}) {
		t.Errorf("moved %+v, checked %+v", done, checked)
	}
	if usable(t, path) {
		t.Error("the file can still be used")
	}
	again, err := move(t, path, address, nil)
	if must(t, err); !again.Already {
		t.Errorf("moving again: %+v", again)
	}
	storetest.Want(t, other, "other", 2)
	must(t, other.Close())
	checkMoved(t, address, was)
}

// A move that ends between two steps leaves the runs usable at one place at most. Repeating it
// moves everything.
func TestAMoveThatEnds(t *testing.T) {
	steps := []postgres.Step{postgres.StepReserve, postgres.StepCopy, postgres.StepNote, postgres.StepLeave, postgres.StepCommit, postgres.StepDone}
	for i, end := range steps {
		t.Run(string(end), func(t *testing.T) {
			path, address := journalFile(t), postgrestest.Database(t)
			was, stop := fileContent(t, path), errors.New("stop")
			_, err := move(t, path, address, func(m *postgres.Move) {
				m.Before = func(step postgres.Step) error {
					if step == end {
						return stop
					}
					return nil
				}
			})
			if !errors.Is(err, stop) {
				t.Fatalf("the move: %v", err)
			}
			inFile, inDatabase := usable(t, path), count(t, address, "agentd_runs") > 0
			if left := i > slices.Index(steps, postgres.StepLeave); inFile == left || inDatabase != (end == postgres.StepDone) {
				t.Errorf("the file can be used: %t, the database: %t", inFile, inDatabase)
			}
			done, err := move(t, path, address, nil)
			if must(t, err); done.Already != inDatabase || usable(t, path) {
				t.Errorf("moving again: %+v", done)
			}
			checkMoved(t, address, was)
		})
	}
}

// A copy that the database changed is found, for each table.
func TestMoveCompares(t *testing.T) {
	for table, column := range map[string]string{"agentd_runs": "owner", "agentd_records": "type", "agentd_verdicts": "principal"} {
		t.Run(table, func(t *testing.T) {
			path, address := journalFile(t), postgrestest.Database(t)
			must(t, open(t, address).Close())
			conn, err := pgx.Connect(t.Context(), address)
			must(t, err)
			defer conn.Close(t.Context())
			_, err = conn.Exec(t.Context(), `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.`+column+` := 'x'; RETURN NEW; END $$;
				CREATE TRIGGER spoil BEFORE INSERT ON `+table+` FOR EACH ROW EXECUTE FUNCTION spoil()`)
			must(t, err)
			if _, err := move(t, path, address, nil); err == nil || !strings.Contains(err.Error(), "in "+table+" has") {
				t.Errorf("a copy with other content: %v", err)
			}
			if n := count(t, address, "agentd_runs"); n > 0 || !usable(t, path) {
				t.Errorf("the database has %d runs", n)
			}
		})
	}
}

func TestMoveRefuses(t *testing.T) {
	path, address := journalFile(t), postgrestest.Database(t)
	refused := func(path, address, text string) {
		t.Helper()
		if _, err := move(t, path, address, nil); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("it does not say %q: %v", text, err)
		}
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	must(t, sqlitefile.Copy(t.Context(), path, copied))
	_, err := move(t, path, address, nil)
	must(t, err)
	refused(copied, address, "is a copy of one that was moved")
	refused(path, postgrestest.Database(t), "this is another one")
	for _, id := range []string{"ended", "deleted"} {
		address := postgrestest.Database(t)
		storetest.Must(t, open(t, address), id, 0, 1)
		refused(copied, address, "with the id of one in the file")
		if n := count(t, address, "agentd_runs"); n != 1 || !usable(t, copied) {
			t.Errorf("%s: the database has %d runs", id, n)
		}
	}
}
