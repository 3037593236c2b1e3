//go:build more

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/storetest"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
)

func TestClaims(t *testing.T) {
	storetest.RunClaims(t, func(t *testing.T) (_, _ storetest.Claimer) {
		address := postgrestest.Database(t)
		return open(t, address), open(t, address)
	})
}

func TestInboxOfRuns(t *testing.T) {
	storetest.RunInbox(t, func(t *testing.T) (_, _ storetest.Sharer) {
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
		store.Release(id, 0)
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
	if want := map[string]uint64{"free": 1, "last": 1}; err != nil || !maps.Equal(claimed, want) {
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

// claim claims the run r, reports it, and appends to it when it gets a line.
func claim(address string) {
	store, err := postgres.Open(context.Background(), database.Config{URL: address})
	epoch := uint64(0)
	if err == nil {
		epoch, err = store.Claim("r")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("claimed")
	var line string
	_, _ = fmt.Scanln(&line)
	fmt.Println(store.Append(context.Background(), runstore.Batch{RunID: "r", After: 1, Epoch: epoch, Records: storetest.Records(2, 1)}))
}

// A claim ends with its process.
func TestClaimOfAKilledProcess(t *testing.T) {
	address := postgrestest.Database(t)
	store := open(t, address)
	storetest.Must(t, store, "r", 0, 1)
	store.Release("r", 0)
	cmd, lines, _ := child(t, claimerEnv, address)
	if !lines.Scan() || lines.Text() != "claimed" {
		t.Fatalf("the claimer said %q", lines.Text())
	}
	if !storetest.Claimed(t, store, "r") {
		t.Error("the claim of another process is not seen")
	}
	if _, err := store.Claim("r"); !errors.Is(err, runstore.ErrClaimed) {
		t.Errorf("a second claim: %v", err)
	}
	err := store.Append(t.Context(), runstore.Batch{RunID: "r", After: 1, Epoch: 1, Records: storetest.Records(2, 1)})
	if !errors.Is(err, runstore.ErrConflict) {
		t.Errorf("appending to a run that another process has claimed: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually.Holds(t, "the server has noticed the end", func() bool { return !storetest.Claimed(t, store, "r") })
	storetest.MustUnder(t, store, "r", storetest.MustClaim(t, store, "r"), 1, 1)
}

// later makes the sessions and the renewals of all stores an hour old. Those that live renew theirs
// within a second.
func later(t *testing.T, s *postgrestest.Server, name string) {
	t.Helper()
	s.Do(t, name, "UPDATE agentd_nodes SET since = since - interval '1 hour', renewed = renewed - interval '1 hour'")
}

// takenFrom makes a store lose its session, and returns when the other one has got its claim of r.
func takenFrom(t *testing.T, s *postgrestest.Server, name string, winner *postgres.Store) (epoch uint64) {
	t.Helper()
	eventually.Shows(t, "the claim ends", func() (bool, any) {
		// A store that notices connects again at once, so it may take several attempts.
		s.Do(t, name, "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN agentd_runs ON claimer = (classid::bigint << 32) | objid::bigint WHERE locktype = 'advisory'")
		later(t, s, name)
		var err error
		epoch, err = winner.Claim("r")
		return err == nil, err
	})
	return epoch
}

// A store that lost its claim to another one writes nothing under it: not before the other one has
// written, not when nobody has the claim any more, and not when it has a later claim itself.
func TestFencing(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	loser, winner := open(t, s.URL(name)), open(t, s.URL(name))
	storetest.Must(t, loser, "r", 0, 1)
	lost := storetest.MustClaim(t, loser, "r")
	if err := loser.Confirm("r", lost); err != nil {
		t.Error(err)
	}
	refused := func(when, why string) {
		t.Helper()
		if err := loser.Confirm("r", lost); !errors.Is(err, runstore.ErrClaimed) {
			t.Errorf("%s, the claim is confirmed: %v", when, err)
		}
		err := loser.Append(t.Context(), runstore.Batch{RunID: "r", After: 1, Epoch: lost, Records: storetest.Records(2, 1)})
		if !errors.Is(err, runstore.ErrConflict) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", when, err)
		}
		err = loser.Append(t.Context(), runstore.Batch{RunID: "child of " + when, Records: storetest.Records(1, 1), Head: runstore.Head{Parent: "r"}})
		if own := strings.HasPrefix(why, "the claim under"); !own && !errors.Is(err, runstore.ErrConflict) {
			t.Errorf("%s, a sub-run: %v", when, err)
		}
	}
	won := takenFrom(t, s, name, winner)
	if won <= lost {
		t.Errorf("epoch %d follows epoch %d", won, lost)
	}
	refused("the other one has the claim", "another process has claimed the run")
	eventually.Shows(t, "the loser keeps claims again", func() (bool, any) {
		_, err := loser.Claim("r")
		return errors.Is(err, runstore.ErrClaimed), err
	})
	loser.Release("r", lost) // changes nothing
	loser.Release("r", won)
	refused("after its release", "another process has claimed the run")
	winner.Release("r", won)
	refused("nobody has the claim", "the claim under which this process writes has ended")
	again := storetest.MustClaim(t, loser, "r")
	if again <= won {
		t.Errorf("epoch %d follows epoch %d", again, won)
	}
	refused("it has another claim", "the claim under which this process writes has ended")
	storetest.MustUnder(t, loser, "r", again, 1, 1)
	loser.Release("r", again)
	err := loser.Append(t.Context(), runstore.Batch{RunID: "r", After: 2, Epoch: again, Records: storetest.Records(3, 1)})
	if !errors.Is(err, runstore.ErrConflict) {
		t.Errorf("after its own release: %v", err)
	}
}

// A restart of PostgreSQL frees every lock. It frees no run, not even that of a process that is
// stopped and does not connect again, before its renewals are missed. When the process goes on
// after the run was taken, it writes nothing.
func TestAStoppedProcessAndARestart(t *testing.T) {
	s := postgrestest.Start(t)
	store := open(t, s.URL("postgres"))
	storetest.Must(t, store, "r", 0, 1)
	store.Release("r", 0)
	cmd, lines, stdin := child(t, claimerEnv, s.URL("postgres"))
	if !lines.Scan() || lines.Text() != "claimed" {
		t.Fatalf("the claimer said %q", lines.Text())
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	later(t, s, "postgres")
	if _, err := store.Claim("r"); !errors.Is(err, runstore.ErrClaimed) {
		t.Errorf("the stopped process has its session, and its run is claimed: %v", err)
	}
	s.Restart(t)
	eventually.Shows(t, "the store is back", func() (bool, any) {
		_, err := store.Claim("r")
		age := s.Do(t, "postgres", "SELECT CASE WHEN max(since) < clock_timestamp() - interval '30 minutes' THEN 'none' WHEN max(since) > clock_timestamp() - interval '5 seconds' THEN 'new' ELSE 'old' END FROM agentd_nodes")[0][0]
		if err == nil && age != "old" {
			t.Fatalf("a restart frees a run: the session of the store that takes it is %q", age)
		}
		return err == nil || errors.Is(err, runstore.ErrClaimed) && age != "none", err
	})
	later(t, s, "postgres")
	epoch := storetest.MustClaim(t, store, "r")
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(stdin, "append"); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || !strings.Contains(lines.Text(), "another process has claimed the run") {
		t.Errorf("the process that goes on: %q", lines.Text())
	}
	storetest.MustUnder(t, store, "r", epoch, 1, 1)
}

// A store takes runs that nobody has, and those of a store that is gone, each with its sub-runs,
// and no run of a store that lives.
func TestTakeOver(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	owner, taker := open(t, s.URL(name)), open(t, s.URL(name))
	for _, run := range []struct {
		id, parent string
		finished   bool
	}{{"r", "", false}, {"r-child", "r", false}, {"r-grandchild", "r-child", false}, {"r-ended", "r", true}, {"second", "", false}, {"orphan", "ended", false}, {"ended", "", true}} {
		batch := runstore.Batch{RunID: run.id, Records: storetest.Records(1, 1), Head: runstore.Head{Unfinished: !run.finished, Ended: run.finished, Parent: run.parent}}
		if err := owner.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	took := func(want []string, taken []runstore.Taken, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, k := range taken {
			ids = append(ids, k.ID)
			storetest.MustUnder(t, taker, k.ID, k.Epoch, k.LastSeq, 1)
		}
		if slices.Sort(ids); !slices.Equal(ids, want) {
			t.Errorf("took %q, want %q", ids, want)
		}
	}
	take := func(want ...string) {
		t.Helper()
		taken, err := taker.TakeOver(t.Context(), 1)
		took(want, taken, err)
	}
	takeOfGone := func(claimed string, want ...string) {
		t.Helper()
		var taken []runstore.Taken
		eventually.Shows(t, "the claims of the owner end", func() (bool, any) {
			s.Do(t, name, "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN agentd_runs ON claimer = (classid::bigint << 32) | objid::bigint WHERE locktype = 'advisory' AND id = '"+claimed+"'")
			later(t, s, name)
			var err error
			taken, err = taker.TakeOver(t.Context(), 1)
			return len(taken) > 0, err
		})
		took(want, taken, nil)
	}
	take()
	owner.Release("second", 0)
	owner.Release("r-child", 0) // its parent is at work
	take("second")
	take()
	takeOfGone("r", "r", "r-child", "r-grandchild")
	takeOfGone("orphan", "orphan")
	take()
}

// A claim whose answer is lost is given up, so that somebody works on the run.
func TestAClaimWithoutAnAnswer(t *testing.T) {
	s := postgrestest.Shared(t)
	c := &postgrestest.Cutter{Mark: []byte("stray-run")}
	folder, name := c.Listen(t, s.Folder()), s.Create(t)
	store, other := open(t, "postgres://postgres@/"+name+"?host="+url.QueryEscape(folder)), open(t, s.URL(name))
	storetest.Must(t, store, "kept", 0, 1)
	storetest.Must(t, other, "stray-run", 0, 1)
	other.Release("stray-run", 0)
	c.Cuts.Store(1)
	if _, err := store.Claim("stray-run"); !errors.Is(err, runstore.ErrUnavailable) {
		t.Fatalf("the claim: %v", err)
	}
	if !storetest.Claimed(t, other, "stray-run") {
		t.Fatal("the server has not executed the claim")
	}
	eventually.Holds(t, "the claim is given up", func() bool { return !storetest.Claimed(t, other, "stray-run") })
	storetest.Must(t, store, "kept", 1, 1)
}

// Servers share a database, but not with one of before, which wants it alone.
func TestServe(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	conn, err := pgx.Connect(t.Context(), s.URL(name))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	older := func(function string) string {
		t.Helper()
		var answer string
		if err := conn.QueryRow(t.Context(), "SELECT "+function+"($1)::text", int64(0x746c68_73657276)).Scan(&answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	older("pg_advisory_lock")
	first, second := open(t, s.URL(name)), open(t, s.URL(name))
	if err := first.Serve(t.Context()); err == nil || !strings.Contains(err.Error(), "an older agentd serves the runs") {
		t.Errorf("beside an older server: %v", err)
	}
	older("pg_advisory_unlock")
	for _, store := range []*postgres.Store{first, second} {
		if err := store.Serve(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if older("pg_try_advisory_lock") != "false" {
		t.Error("an older server begins beside others")
	}
	for _, store := range []*postgres.Store{first, second} {
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	eventually.Holds(t, "an older server can begin", func() bool { return older("pg_try_advisory_lock") == "true" })
}

// The list has the stores that have claimed runs. One whose process is gone is silent, and has its
// runs until another one takes them.
func TestNodes(t *testing.T) {
	address := postgrestest.Database(t)
	store := open(t, address)
	storetest.Must(t, store, "r", 0, 1)
	storetest.Must(t, store, "s", 0, 1)
	idle := open(t, address)
	nodes := func() []postgres.Node {
		t.Helper()
		list, err := idle.Nodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if list := nodes(); len(list) != 1 || list[0].Name != host || list[0].Version != version.Number || list[0].Runs != 2 || list[0].Silent || len(list[0].ID) != 16 || list[0].Since.IsZero() {
		t.Errorf("the list is %+v", list)
	}
	store.Release("s", 0)
	store.Release("r", 0)
	cmd, lines, _ := child(t, claimerEnv, address)
	if !lines.Scan() || lines.Text() != "claimed" {
		t.Fatalf("the claimer said %q", lines.Text())
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually.Shows(t, "the stopped one is silent", func() (bool, any) {
		list := nodes()
		return len(list) == 2 && !list[0].Silent && list[0].Runs == 0 && list[1].Silent && list[1].Silence > 5*time.Second && list[1].Runs == 1, list
	})
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	if list := nodes(); len(list) != 1 || !list[0].Silent {
		t.Errorf("after the end of the other one: %+v", list)
	}
}

// longAgo makes all claims older than what a store that is gone took to read runs.
func longAgo(t *testing.T, s *postgrestest.Server, name string) {
	t.Helper()
	s.Do(t, name, "UPDATE agentd_runs SET wake_at = '2019-12-01' WHERE claimer IS NOT NULL")
}

// A run that three stores had that are gone, without progress between, is left alone until
// somebody claims it, and then again unless it makes progress. It is taken once for each entry.
// Neither a run that only waits for a person nor one that was given up counts.
func TestParking(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	store := open(t, s.URL(name))
	head := runstore.Head{Unfinished: true}
	write := func(id string, after, epoch uint64, head runstore.Head) {
		t.Helper()
		if err := store.Append(t.Context(), runstore.Batch{RunID: id, After: after, Epoch: epoch, Records: storetest.Records(int(after)+1, 1), Head: head}); err != nil {
			t.Fatal(err)
		}
	}
	write("r", 0, 0, head)
	take := func(claimer string) (taken map[string]runstore.Taken) {
		t.Helper()
		later(t, s, name)
		s.Do(t, name, "UPDATE agentd_runs SET claimer = "+claimer)
		longAgo(t, s, name)
		list, err := store.TakeOver(t.Context(), runstore.MaxPage)
		if err != nil {
			t.Fatal(err)
		}
		taken = make(map[string]runstore.Taken)
		for _, k := range list {
			taken[k.ID] = k
		}
		return taken
	}
	s.Do(t, name, "INSERT INTO agentd_nodes (node, since, renewed) VALUES (1, '2020-01-01', '2020-01-01')")
	wantTaken := func(claimer string, times int) (epoch uint64) {
		t.Helper()
		k, ok := take(claimer)["r"]
		if !ok || k.Stalled != times {
			t.Fatalf("taken: %v, %d times, want %d", ok, k.Stalled, times)
		}
		return k.Epoch
	}
	wantTaken("1", 1)
	epoch := wantTaken("1", 2)
	resumed := runstore.Batch{RunID: "r", After: 1, Epoch: epoch, Records: storetest.Records(2, 1), Head: head, Resumed: true}
	if err := store.Append(t.Context(), resumed); err != nil { // no progress
		t.Fatal(err)
	}
	if r, err := store.Get(t.Context(), "r"); err != nil || r.Stalled != 2 {
		t.Errorf("after it was noted that work goes on: %+v, %v", r, err)
	}
	write("r", 2, epoch, head)
	for i := range runstore.MaxStalled - 1 {
		wantTaken("NULL", i) // an agentd that ends gives its runs up
		wantTaken("1", i+1)
	}
	for _, claimer := range []string{"1", "NULL"} {
		if taken := take(claimer); len(taken) > 0 {
			t.Errorf("a parked run is taken: %v", taken)
		}
	}
	counts := func(want int) {
		t.Helper()
		r, err := store.Get(t.Context(), "r")
		if err != nil || r.Stalled != want {
			t.Errorf("the run was taken %d times, want %d: %v", r.Stalled, want, err)
		}
		if due := s.Do(t, name, "SELECT wake_at IS NOT NULL FROM agentd_runs")[0][0]; due[:1] == "t" != (want < runstore.MaxStalled) {
			t.Errorf("taken %d times, it is due: %s", want, due)
		}
	}
	counts(runstore.MaxStalled)
	if err := store.Post(t.Context(), runstore.Entry{EntryRef: runstore.EntryRef{RunID: "r", ID: "e"}, Data: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	wantTaken("NULL", runstore.MaxStalled+1)
	if taken := take("1"); len(taken) > 0 {
		t.Errorf("a parked run that was tried with its entry is taken: %v", taken)
	}
	counts(runstore.MaxStalled + 2)
	post := func(id string) {
		t.Helper()
		if err := store.Post(t.Context(), runstore.Entry{EntryRef: runstore.EntryRef{RunID: "r", ID: id}, Data: []byte("1")}); err != nil {
			t.Fatal(err)
		}
	}
	settle := func(id string, epoch uint64) {
		t.Helper()
		if err := store.Settle(t.Context(), runstore.EntryRef{RunID: "r", ID: id}, epoch, runstore.Outcome{Seq: 4}); err != nil {
			t.Fatal(err)
		}
	}
	untaken := func(claimer string) {
		t.Helper()
		if taken := take(claimer); len(taken) > 0 {
			t.Errorf("a run that was parked again is taken: %v", taken)
		}
	}
	post("e") // a repeated request
	untaken("NULL")
	post("f")
	if epoch, err := store.Claim("r"); err != nil || epoch == 0 { // the try of this entry
		t.Fatal(err)
	}
	untaken("1")
	post("g")
	wantTaken("NULL", runstore.MaxStalled+1)
	post("h")
	epoch = wantTaken("1", runstore.MaxStalled+1) // it came during that try
	store.Release("r", epoch)
	epoch = wantTaken("NULL", runstore.MaxStalled+1) // nothing was ended
	for _, id := range []string{"f", "g", "h"} {
		settle(id, epoch)
	}
	untaken("1")
	var err error
	if epoch, err = store.Claim("r"); err != nil {
		t.Fatal(err)
	}
	write("r", 3, epoch, runstore.Head{Unfinished: true, OnlyWaits: true, Decisions: []byte("[1]")})
	wantTaken("1", 1) // the entry is work
	settle("e", wantTaken("1", 2))
	for range 2 * runstore.MaxStalled {
		epoch = wantTaken("1", 2)
	}
	for _, rests := range []bool{false, true} { // that it rests is progress, and that it is given up is none
		stalled := 2
		if rests {
			epoch, stalled = wantTaken("NULL", 2), 0
		}
		if !store.Leave([]runstore.Leaving{{RunID: "r", Epoch: epoch, Wait: time.Microsecond, Rests: rests}}) {
			t.Fatal("the run is not left")
		}
		if r, err := store.Get(t.Context(), "r"); err != nil || r.Stalled != stalled {
			t.Errorf("left, and rests %t: %+v, %v", rests, r, err)
		}
	}
}

// takeAll takes what a store has that is gone and claimed it just before that, or long before, and
// compares how often runs have been taken, in the order of their ids.
func takeAll(t *testing.T, s *postgrestest.Server, name string, store *postgres.Store, long bool, want ...int) []runstore.Taken {
	t.Helper()
	later(t, s, name)
	s.Do(t, name, "UPDATE agentd_runs SET claimer = 1")
	if long {
		longAgo(t, s, name)
	}
	taken, err := store.TakeOver(t.Context(), runstore.MaxPage)
	slices.SortFunc(taken, func(a, b runstore.Taken) int { return strings.Compare(a.ID, b.ID) })
	var times []int
	for _, k := range taken {
		times = append(times, k.Stalled)
	}
	if err != nil || !slices.Equal(times, want) {
		t.Errorf("took %v, %v, want %v", taken, err, want)
	}
	return taken
}

// A run that only waits is parked with the sub-run that it waits for, because it would go on with
// it, and never if that makes progress, or if there is none and it waits for a person.
func TestParkingWithASubRun(t *testing.T) {
	for name, decisions := range map[string][]byte{"for a person, too": []byte("[1]"), "for the sub-run alone": nil} {
		t.Run(name, func(t *testing.T) {
			s := postgrestest.Shared(t)
			name := s.Create(t)
			store := open(t, s.URL(name))
			write := func(id string, after, epoch uint64, head runstore.Head) {
				t.Helper()
				head.Unfinished = true
				if err := store.Append(t.Context(), runstore.Batch{RunID: id, After: after, Epoch: epoch, Records: storetest.Records(int(after)+1, 1), Head: head}); err != nil {
					t.Fatal(err)
				}
			}
			write("r", 0, 0, runstore.Head{OnlyWaits: true, Decisions: decisions})
			write("sub", 0, 0, runstore.Head{Parent: "r"})
			s.Do(t, name, "INSERT INTO agentd_nodes (node, since, renewed) VALUES (1, '2020-01-01', '2020-01-01')")
			take := func(want ...int) []runstore.Taken { t.Helper(); return takeAll(t, s, name, store, true, want...) }
			for n := range uint64(2 * runstore.MaxStalled) {
				if taken := take(0, 1); len(taken) == 2 {
					write("sub", n+1, taken[1].Epoch, runstore.Head{Parent: "r"}) // progress
				}
			}
			take(0, 1)
			take(2, 2)
			take()
			take()
			s.Do(t, name, "DELETE FROM agentd_runs WHERE id = 'sub'")
			s.Do(t, name, "UPDATE agentd_runs SET stalled = 0")
			if decisions == nil { // there is something to do at the next owner
				take(1)
				take(2)
				take()
				return
			}
			for range runstore.MaxStalled {
				take(0)
			}
		})
	}
}

// However many runs wait above a sub-run that ends agentds, no more of them are ended.
func TestParkingOfManyLevels(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	store := open(t, s.URL(name))
	for _, run := range [][2]string{{"a", ""}, {"b", "a"}, {"c", "b"}, {"d", "c"}, {"e", "d"}} {
		head := runstore.Head{Unfinished: true, OnlyWaits: run[0] != "e", Parent: run[1]}
		if err := store.Append(t.Context(), runstore.Batch{RunID: run[0], Records: storetest.Records(1, 1), Head: head}); err != nil {
			t.Fatal(err)
		}
	}
	s.Do(t, name, "INSERT INTO agentd_nodes (node, since, renewed) VALUES (1, '2020-01-01', '2020-01-01')")
	takeAll(t, s, name, store, false, 0, 0, 0, 0, 1)
	takeAll(t, s, name, store, true, 2, 2, 2, 2, 2)
	takeAll(t, s, name, store, true)
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		if r, err := store.Get(t.Context(), id); err != nil || r.Stalled != runstore.MaxStalled {
			t.Errorf("%s is counted %d times: %v", id, r.Stalled, err)
		}
	}
}

// A family that only waits is parked as well if three stores in a row are gone soon after they have
// claimed it: to read it may end them. If its sub-run makes progress, it is not.
func TestParkingOfAFamilyThatWaits(t *testing.T) {
	for name, decisions := range map[string][]byte{"for a person, too": []byte("[1]"), "for the sub-run alone": nil} {
		t.Run(name, func(t *testing.T) {
			s := postgrestest.Shared(t)
			name := s.Create(t)
			store := open(t, s.URL(name))
			write := func(id string, after, epoch uint64, head runstore.Head) {
				t.Helper()
				head.Unfinished, head.OnlyWaits = true, true
				if err := store.Append(t.Context(), runstore.Batch{RunID: id, After: after, Epoch: epoch, Records: storetest.Records(int(after)+1, 1), Head: head}); err != nil {
					t.Fatal(err)
				}
			}
			sub := runstore.Head{Parent: "r", Decisions: []byte("[1]")}
			write("r", 0, 0, runstore.Head{Decisions: decisions})
			write("sub", 0, 0, sub)
			s.Do(t, name, "INSERT INTO agentd_nodes (node, since, renewed) VALUES (1, '2020-01-01', '2020-01-01')")
			for range 2 * runstore.MaxStalled { // a family beside a call of toolhost that asks
				takeAll(t, s, name, store, true, 0, 0)
			}
			for n := range uint64(2 * runstore.MaxStalled) {
				if taken := takeAll(t, s, name, store, false, 0, 1); len(taken) == 2 {
					write("sub", n+1, taken[1].Epoch, sub) // progress
				}
			}
			takeAll(t, s, name, store, false, 0, 1)
			takeAll(t, s, name, store, false, 2, 2)
			takeAll(t, s, name, store, false)
			takeAll(t, s, name, store, false)
		})
	}
}

// A run that has something to do beside what it waits for counts, such as one with a call that ends
// agentds, and one whose store was gone soon after the claim, which reads it. The column of what a
// program without it has appended counts for nothing.
func TestParkingBesideADecision(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	store := open(t, s.URL(name))
	for id, head := range map[string]runstore.Head{
		"works": {Decisions: []byte("[1]")}, "waits": {OnlyWaits: true, Decisions: []byte("[1]")}, "is read": {OnlyWaits: true, Decisions: []byte("[1]")}, "waits before": {OnlyWaits: true}, "works before": {Decisions: []byte("[1]")},
	} {
		head.Unfinished = true
		if err := store.Append(t.Context(), runstore.Batch{RunID: id, Records: storetest.Records(1, 1), Head: head}); err != nil {
			t.Fatal(err)
		}
	}
	s.Do(t, name, "UPDATE agentd_runs SET last_seq = 2 WHERE id LIKE '% before'")
	s.Do(t, name, "INSERT INTO agentd_nodes (node, since, renewed) VALUES (1, '2020-01-01', '2020-01-01')")
	for n := 1; n <= runstore.MaxStalled; n++ {
		later(t, s, name)
		s.Do(t, name, "UPDATE agentd_runs SET claimer = 1")
		s.Do(t, name, "UPDATE agentd_runs SET wake_at = '2019-12-01' WHERE id <> 'is read'")
		if _, err := store.TakeOver(t.Context(), runstore.MaxPage); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]int{"works": n, "waits": 0, "is read": n, "waits before": n, "works before": 0} {
			if r, err := store.Get(t.Context(), id); err != nil || r.Stalled != want {
				t.Errorf("%s is counted %d times, want %d: %v", id, r.Stalled, want, err)
			}
		}
	}
}

// A parked run is tried once for each entry of a run below it, like for its own ones, also if its
// store is gone before it has claimed the run with the entry. A request that is repeated with its
// id has no further try.
func TestRequestsBelowAParkedRun(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	store := open(t, s.URL(name))
	for _, run := range [][2]string{{"r", ""}, {"child", "r"}, {"grandchild", "child"}} {
		head := runstore.Head{Unfinished: true, OnlyWaits: true, Parent: run[1], Decisions: []byte("[1]")}
		if err := store.Append(t.Context(), runstore.Batch{RunID: run[0], Records: storetest.Records(1, 1), Head: head}); err != nil {
			t.Fatal(err)
		}
	}
	s.Do(t, name, "INSERT INTO agentd_nodes (node, since, renewed) VALUES (1, '2020-01-01', '2020-01-01')")
	s.Do(t, name, "UPDATE agentd_runs SET claimer = NULL, wake_at = NULL")
	s.Do(t, name, "UPDATE agentd_runs SET stalled = 3 WHERE id = 'r'")
	counted := func(when string, want int) {
		t.Helper()
		if r, err := store.Get(t.Context(), "r"); err != nil || r.Stalled != want {
			t.Errorf("%s, the run is counted %d times, want %d: %v", when, r.Stalled, want, err)
		}
	}
	post := func(id string, want int) {
		t.Helper()
		if err := store.Post(t.Context(), runstore.Entry{EntryRef: runstore.EntryRef{RunID: "grandchild", ID: id}, Data: []byte("1")}); err != nil {
			t.Fatal(err)
		}
		counted("with the entry "+id, want)
	}
	vanish := func() {
		t.Helper()
		later(t, s, name)
		s.Do(t, name, "UPDATE agentd_runs SET claimer = 1 WHERE id = 'r'")
		if taken, err := store.TakeOver(t.Context(), 10); err != nil || len(taken) > 0 {
			t.Errorf("took %v, %v", taken, err)
		}
	}
	post("e", runstore.MaxStalled)
	storetest.MustClaim(t, store, "r")
	counted("claimed", runstore.MaxStalled+1)
	vanish()
	counted("after its try", runstore.MaxStalled+2)
	post("e", runstore.MaxStalled+2)
	post("f", runstore.MaxStalled)
	storetest.MustClaim(t, store, "r")
	post("g", runstore.MaxStalled-1) // during that try
	vanish()
	counted("after the next try", runstore.MaxStalled)
	epoch := storetest.MustClaim(t, store, "r")
	if !store.Leave([]runstore.Leaving{{RunID: "r", Epoch: epoch}}) {
		t.Fatal("the run is not left")
	}
	counted("left, which ends nothing", runstore.MaxStalled)
}

// A claim counts the store that is gone, like a look, and does not take a run that is parked with
// that: somebody has to want it again, and to know that.
func TestAClaimCounts(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	store := open(t, s.URL(name))
	if err := store.Append(t.Context(), runstore.Batch{RunID: "r", Records: storetest.Records(1, 1), Head: runstore.Head{Unfinished: true}}); err != nil {
		t.Fatal(err)
	}
	s.Do(t, name, "INSERT INTO agentd_nodes (node, since, renewed) VALUES (1, '2020-01-01', '2020-01-01')")
	claim := func(claimer string, wanted error, times int) {
		t.Helper()
		later(t, s, name)
		s.Do(t, name, "UPDATE agentd_runs SET claimer = "+claimer)
		_, err := store.Claim("r")
		if r, unread := store.Get(t.Context(), "r"); !errors.Is(err, wanted) || unread != nil || r.Stalled != times {
			t.Fatalf("claimed: %v; counted %d times, want %d", errors.Join(err, unread), r.Stalled, times)
		}
	}
	claim("1", nil, 1)
	claim("1", nil, 2)
	claim("NULL", nil, 2)
	claim("1", runstore.ErrClaimed, runstore.MaxStalled)
	claim("NULL", nil, runstore.MaxStalled-1)
	s.Do(t, name, "UPDATE agentd_runs SET stalled = 4") // as with an entry
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := open(t, s.URL(name)).Get(t.Context(), "r"); err != nil || r.Stalled != runstore.MaxStalled {
		t.Errorf("a store that ended by itself is counted: %d, %v", r.Stalled, err)
	}
}

// What is below a parked run, or a run at work, is not due, and takes no place of a run that is.
func TestRunsBelowAParkedRun(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	store := open(t, s.URL(name))
	for _, run := range [][2]string{{"parked", ""}, {"child", "parked"}, {"grandchild", "child"}, {"due", ""}} {
		batch := runstore.Batch{RunID: run[0], Records: storetest.Records(1, 1), Head: runstore.Head{Unfinished: true, Parent: run[1]}}
		if err := store.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	took := func(limit int, want ...string) {
		t.Helper()
		taken, err := store.TakeOver(t.Context(), limit)
		var ids []string
		for _, k := range taken {
			ids = append(ids, k.ID)
		}
		if slices.Sort(ids); err != nil || !slices.Equal(ids, want) {
			t.Errorf("took %q, %v, want %q", ids, err, want)
		}
	}
	s.Do(t, name, "UPDATE agentd_runs SET claimer = NULL, wake_at = now() - interval '1 hour' WHERE id LIKE '%child'")
	took(10) // the root is at work here
	s.Do(t, name, "UPDATE agentd_runs SET claimer = NULL, stalled = 3 WHERE id = 'parked'")
	s.Do(t, name, "UPDATE agentd_runs SET claimer = NULL WHERE id = 'due'")
	took(1, "due")
	if err := store.Post(t.Context(), runstore.Entry{EntryRef: runstore.EntryRef{RunID: "grandchild", ID: "e"}, Data: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	took(10)
	s.Do(t, name, `INSERT INTO agentd_runs (id, created, updated, last_seq, last_append, unfinished, ended, owner, tenant, parent, posted)
		SELECT 'sub' || n, 0, 0, 1, '', true, false, '', '', 'parked', 1 FROM generate_series(1, 500) AS n`)
	storetest.Must(t, store, "entry", 0, 1)
	store.Release("entry", 0)
	if err := store.Post(t.Context(), runstore.Entry{EntryRef: runstore.EntryRef{RunID: "entry", ID: "e"}, Data: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	took(0, "entry")
	s.Do(t, name, "DELETE FROM agentd_runs WHERE id LIKE 'sub%'")
	s.Do(t, name, "UPDATE agentd_runs SET stalled = 2 WHERE id = 'parked'")
	took(1, "child", "grandchild", "parked")
}

// A tenant with ten thousand runs that are due keeps no other one from its turn, neither in one
// look, nor if each look finds one free place. Runs with entries need none.
func TestTakeOverIsFairByTenant(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	store := open(t, s.URL(name))
	add := func(tenant string, runs int) {
		s.Do(t, name, fmt.Sprintf(`INSERT INTO agentd_runs (id, created, updated, last_seq, last_append, unfinished, ended, owner, tenant, parent)
			SELECT '%s/' || n, 0, 0, 1, '', true, false, '%[1]s/ada', '%[1]s', '' FROM generate_series(1, %d) AS n`, tenant, runs))
	}
	took := make(map[string]int)
	look := func(limit int) {
		t.Helper()
		taken, err := store.TakeOver(t.Context(), limit)
		if err != nil || len(taken) != limit {
			t.Fatalf("took %d runs, want %d: %v", len(taken), limit, err)
		}
		for _, k := range taken {
			took[k.Head.Tenant]++
		}
	}
	want := func(small, tiny int) {
		t.Helper()
		if took["small"] != small || took["tiny"] != tiny {
			t.Errorf("took %v, want %d of small and %d of tiny", took, small, tiny)
		}
	}
	add("big", 10_000)
	add("small", 10)
	look(8)
	want(4, 0)
	add("tiny", 2)
	for range 10 {
		look(1)
	}
	want(8, 2)
	look(8)
	want(10, 2)
	look(100)
	if took["big"] != 126-12 {
		t.Errorf("took %v, and places stay free", took)
	}
	if err := store.Post(t.Context(), runstore.Entry{EntryRef: runstore.EntryRef{RunID: "big/9999", ID: "e"}, Data: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	if taken, err := store.TakeOver(t.Context(), 0); err != nil || len(taken) != 1 || taken[0].ID != "big/9999" {
		t.Errorf("without a free place: %v, %v", taken, err)
	}
}

// A claim of a store without a row ends like any other one: once its lock was free during the
// session of the store that looks, for as long as several renewals take.
func TestAClaimWithoutANode(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	store := open(t, s.URL(name))
	storetest.Must(t, store, "r", 0, 1)
	waits := runstore.Head{Unfinished: true, OnlyWaits: true, Decisions: []byte("[1]")}
	if err := store.Append(t.Context(), runstore.Batch{RunID: "waits", Records: storetest.Records(1, 1), Head: waits}); err != nil {
		t.Fatal(err)
	}
	s.Do(t, name, "UPDATE agentd_runs SET claimer = 12345")
	if taken, err := store.TakeOver(t.Context(), 1); err != nil || len(taken) != 0 {
		t.Errorf("at once, took %v, %v", taken, err)
	}
	if _, err := store.Claim("r"); !errors.Is(err, runstore.ErrClaimed) {
		t.Errorf("a claim at once: %v", err)
	}
	later(t, s, name)
	taken, err := store.TakeOver(t.Context(), 2)
	slices.SortFunc(taken, func(a, b runstore.Taken) int { return strings.Compare(a.ID, b.ID) })
	if err != nil || len(taken) != 2 || taken[0].Stalled != 1 || taken[1].Stalled != 0 {
		t.Errorf("took %+v, %v", taken, err)
	}
}

// A store that ends keeps its row as long as it has claims.
func TestAStoreThatEndsWithAClaim(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	store, other := open(t, s.URL(name)), open(t, s.URL(name))
	storetest.Must(t, store, "r", 0, 1)
	s.Do(t, name, "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$") // like a claim that is taken in this moment
	s.Do(t, name, "CREATE TRIGGER keep BEFORE UPDATE ON agentd_runs FOR EACH ROW EXECUTE FUNCTION keep()")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if list, err := other.Nodes(t.Context()); err != nil || len(list) != 1 || list[0].Runs != 1 {
		t.Errorf("the list is %+v, %v", list, err)
	}
}

// during returns what a statement of a store returns that waits for the row of a run, which another
// session changes meanwhile.
func during[T any](t *testing.T, s *postgrestest.Server, name, change string, act func() T) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL(name))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	done := make(chan T, 1)
	go func() { done <- act() }() // ends at the latest with the bound of the statement
	for range time.Tick(10 * time.Millisecond) {
		select {
		case early := <-done:
			return early
		default:
		}
		if s.Do(t, name, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")[0][0] != "0" {
			break
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return <-done
}

// A claim is confirmed by a write, which waits for another store that is taking the run.
func TestConfirmWaits(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	store := open(t, s.URL(name))
	storetest.Must(t, store, "r", 0, 1)
	epoch := storetest.MustClaim(t, store, "r")
	err := during(t, s, name, "UPDATE agentd_runs SET claimer = 12345, epoch = epoch + 1", func() error { return store.Confirm("r", epoch) })
	if !errors.Is(err, runstore.ErrClaimed) {
		t.Errorf("a claim that another store takes: %v", err)
	}
}

// A look takes no sub-run that another store has claimed meanwhile.
func TestASubRunThatIsClaimedMeanwhile(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	store := open(t, s.URL(name))
	for _, run := range [][2]string{{"r", ""}, {"child", "r"}} {
		batch := runstore.Batch{RunID: run[0], Records: storetest.Records(1, 1), Head: runstore.Head{Unfinished: true, Parent: run[1]}}
		if err := store.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	s.Do(t, name, "UPDATE agentd_runs SET claimer = NULL")
	taken := during(t, s, name, "UPDATE agentd_runs SET claimer = 12345, epoch = epoch + 1 WHERE id = 'child'", func() []runstore.Taken {
		taken, err := store.TakeOver(t.Context(), 1)
		if err != nil {
			t.Error(err)
		}
		return taken
	})
	if len(taken) != 1 || taken[0].ID != "r" {
		t.Errorf("took %+v", taken)
	}
}
