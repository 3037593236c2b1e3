//go:build more

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
	"github.com/toolhost/toolhost/tool"
)

func begin(t testing.TB, store *postgres.Store, id string) error {
	t.Helper()
	e := storetest.Entry(id)
	e.Arguments = []byte("{}")
	return store.BeginWithin(t.Context(), e, callstore.Quota{})
}

func find(t testing.TB, store *postgres.Store, id string) callstore.Entry {
	t.Helper()
	e, _, err := store.Find(t.Context(), storetest.Key(id))
	storetest.Must(t, err)
	return e
}

// execute executes SQL beside the stores.
func execute(t testing.TB, address, sql string, arguments ...any) int64 {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	storetest.Must(t, err)
	defer conn.Close(context.Background())
	tag, err := conn.Exec(t.Context(), sql, arguments...)
	storetest.Must(t, err)
	return tag.RowsAffected()
}

func declareGone(t testing.TB, address, folder string) {
	t.Helper()
	if n := execute(t, address, "UPDATE toolhost_nodes SET gone = 1700000000000000000, why = 'said so' WHERE folder = $1 AND gone IS NULL", folder); n != 1 {
		t.Fatalf("%d nodes have the folder %s", n, folder)
	}
}

func want(t testing.TB, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) || target == nil && err != nil {
		t.Errorf("%s: %v, want %v", what, err, target)
	}
}

// What one node has begun, no other node begins, ends, forgets or settles.
func TestACallOfAnotherNode(t *testing.T) {
	address := postgrestest.Database(t)
	a, b := open(t, config(address, "a")), open(t, config(address, "b"))
	if a.ID() != b.ID() {
		t.Fatalf("the nodes have the ledgers %s and %s", a.ID(), b.ID())
	}
	storetest.Must(t, begin(t, a, "x"))
	want(t, "beginning at the other node", begin(t, b, "x"), callstore.ErrTaken)
	want(t, "ending there", b.End(t.Context(), storetest.Key("x"), storetest.Answer("no")), callstore.ErrNotBegun)
	want(t, "forgetting there", b.Forget(t.Context(), storetest.Key("x")), callstore.ErrNotBegun)
	e := find(t, b, "x")
	if e.State != callstore.StateBegun || e.Elsewhere != "machine-a" || find(t, a, "x").Elsewhere != "" {
		t.Errorf("at the other node: %+v", e)
	}
	want(t, "settling there", b.Settle(t.Context(), e.Key, e.Number, tool.Settlement{Verdict: tool.VerdictDidNotHappen}, tool.Outcome{}), callstore.ErrNotUnknown)
	storetest.Must(t, a.End(t.Context(), e.Key, storetest.Answer("yes")))
	for _, store := range []*postgres.Store{a, b} {
		if e := find(t, store, "x"); e.State != callstore.StateEnded || e.Outcome == nil || e.Outcome.Result.Text() != "yes" {
			t.Errorf("after its end: %+v", e)
		}
	}
}

// A call is unknown once its node is gone, and not before. The node begins no more. What it knows
// about its calls still counts, if nothing else is known.
func TestANodeThatIsGone(t *testing.T) {
	address := postgrestest.Database(t)
	a, b := open(t, config(address, "a")), open(t, config(address, "b"))
	for _, id := range []string{"late", "never", "freed", "begun again"} {
		storetest.Must(t, begin(t, a, id))
	}
	declareGone(t, address, "a")
	if e := find(t, b, "late"); e.State != callstore.StateUnknown || e.Ended.Unix() != 1700000000 || e.Elsewhere != "" || e.Arguments != nil {
		t.Errorf("after the loss: %+v", e)
	}
	want(t, "beginning at a node that is gone", begin(t, a, "new"), postgres.ErrGone)
	eventually.Holds(t, "the node knows that it is gone", func() bool {
		select {
		case <-a.Gone():
			return true
		default:
			return false
		}
	})
	want(t, "beginning an unknown call", begin(t, b, "late"), callstore.ErrTaken)
	storetest.Must(t, a.End(t.Context(), storetest.Key("late"), storetest.Answer("yes")))
	if e := find(t, b, "late"); e.State != callstore.StateEnded || e.Outcome.Result.Text() != "yes" {
		t.Errorf("after the late end: %+v", e)
	}
	for _, id := range []string{"freed", "begun again"} {
		e := find(t, b, id)
		storetest.Must(t, b.Settle(t.Context(), e.Key, e.Number, tool.Settlement{Verdict: tool.VerdictDidNotHappen}, tool.Outcome{}))
	}
	storetest.Must(t, begin(t, b, "begun again"))
	for _, id := range []string{"freed", "begun again"} {
		want(t, "ending what is free, "+id, a.End(t.Context(), storetest.Key(id), storetest.Answer("no")), callstore.ErrNotBegun)
		want(t, "forgetting what is free, "+id, a.Forget(t.Context(), storetest.Key(id)), callstore.ErrNotBegun)
	}
	if e := find(t, b, "begun again"); e.State != callstore.StateBegun || e.Elsewhere != "" {
		t.Errorf("begun again: %+v", e)
	}
	if e := find(t, b, "never"); e.State != callstore.StateUnknown {
		t.Errorf("nobody knows of it: %+v", e)
	}
}

// A begin waits for whoever declares its node gone, and then fails: nobody is told that a call is
// unknown which begins afterwards.
func TestABeginWhileItsNodeIsDeclaredGone(t *testing.T) {
	address := postgrestest.Database(t)
	store := open(t, config(address, "a"))
	storetest.Must(t, begin(t, store, "before"))
	conn, err := pgx.Connect(t.Context(), address)
	storetest.Must(t, err)
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	storetest.Must(t, err)
	_, err = tx.Exec(t.Context(), "UPDATE toolhost_nodes SET gone = 1")
	storetest.Must(t, err)
	begun := make(chan error, 1)
	go func() { begun <- begin(t, store, "x") }()
	eventually.Holds(t, "the begin waits", func() bool {
		var waiting int
		storetest.Must(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waiting))
		return waiting > 0 || len(begun) > 0
	})
	storetest.Must(t, tx.Commit(t.Context()))
	want(t, "beginning", <-begun, postgres.ErrGone)
	if _, found, err := store.Find(t.Context(), storetest.Key("x")); err != nil || found {
		t.Errorf("the call is recorded: %v, %v", found, err)
	}
}

// A node whose begun calls are lost, such as by a failover, begins no more.
func TestTheDatabaseHasLostCommits(t *testing.T) {
	address := postgrestest.Database(t)
	store := open(t, config(address, "a"))
	storetest.Must(t, begin(t, store, "x"))
	execute(t, address, "UPDATE toolhost_beats SET newest = newest - 1")
	execute(t, address, "DELETE FROM toolhost_calls")
	breakSessions(t, address)
	<-store.Gone()
	want(t, "why it ends", store.Why(), postgres.ErrLost)
	want(t, "repeating the call", begin(t, store, "x"), postgres.ErrLost)
}

// A node with a shorter time forgets no id that another one promises to keep. What was forgotten
// before the time became longer stays so.
func TestTheLongestTimeCounts(t *testing.T) {
	address := postgrestest.Database(t)
	var now atomic.Int64
	now.Store(1_700_000_000)
	with := func(folder string, keep time.Duration) *postgres.Store {
		cfg := config(address, folder)
		cfg.KeepIDs, cfg.Now = keep, func() time.Time { return time.Unix(now.Load(), 0).UTC() }
		return open(t, cfg)
	}
	short := with("short", time.Hour)
	storetest.Must(t, begin(t, short, "gone"))
	now.Add(2 * 3600)
	storetest.Must(t, begin(t, short, "kept"))
	long := with("long", 24*time.Hour)
	if !long.Forgets(time.Unix(1_700_000_000, 0)) || long.Forgets(time.Unix(1_700_000_001, 0)) {
		t.Error("the node with the longer time does not know what was forgotten before")
	}
	now.Add(3 * 3600)
	storetest.Must(t, begin(t, short, "other"))
	if _, found, err := long.Find(t.Context(), storetest.Key("kept")); err != nil || !found {
		t.Errorf("the node with the shorter time has removed the call: %v", err)
	}
}

// A successor with the same state folder that has ended what a node has left proves that the node
// is gone. One at the same start of the machine may settle its calls.
func TestASuccessor(t *testing.T) {
	const there = "machine-a"
	for name, test := range map[string]struct {
		folder, boot, elsewhere string
		ended                   []int64
		settles                 bool
	}{
		"that has ended it":        {folder: "a", boot: "boot", ended: []int64{7}, settles: true},
		"that has not ended it":    {folder: "a", boot: "boot", elsewhere: there, settles: true},
		"that has ended others":    {folder: "a", boot: "boot", ended: []int64{8}, elsewhere: there, settles: true},
		"after another start":      {folder: "a", boot: "another boot", elsewhere: there},
		"with another folder":      {folder: "b", boot: "boot", elsewhere: there},
		"that ended none of these": {folder: "b", boot: "boot", ended: []int64{7}, elsewhere: there},
	} {
		t.Run(name, func(t *testing.T) {
			address := postgrestest.Database(t)
			cfg := config(address, "a")
			cfg.Node.Number, cfg.Node.Left = 7, func() error { return errors.New("processes are left") }
			first := open(t, cfg)
			storetest.Must(t, begin(t, first, "x"), first.Close())
			cfg = config(address, test.folder)
			cfg.Node.Boot, cfg.Node.Ended = test.boot, test.ended
			e := find(t, open(t, cfg), "x")
			if e.Elsewhere != test.elsewhere || (e.State == callstore.StateUnknown) != (test.elsewhere == "") || (e.Arguments != nil) != test.settles {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// Two toolhosts with one state folder would take each other for gone.
func TestACopyOfTheFolder(t *testing.T) {
	address := postgrestest.Database(t)
	open(t, config(address, "a"))
	cfg := config(address, "a")
	cfg.Database.LockTimeout = time.Millisecond
	if store, err := postgres.Open(t.Context(), cfg); err == nil {
		store.Close()
		t.Error("a second toolhost with the folder was let in")
	}
}

// A node that stops cleanly leaves no call in doubt.
func TestACleanStop(t *testing.T) {
	address := postgrestest.Database(t)
	a, b := open(t, config(address, "a")), open(t, config(address, "b"))
	storetest.Must(t, begin(t, a, "x"), a.Close())
	if e := find(t, b, "x"); e.State != callstore.StateUnknown {
		t.Errorf("got %+v", e)
	}
}

// Of many Begins of a key, at all nodes, one succeeds, also if groups have their keys in another
// order.
func TestOneBeginOfAllNodesWins(t *testing.T) {
	address := postgrestest.Database(t)
	const nodes, keys, times = 3, 40, 3
	var group sync.WaitGroup
	var won [keys]atomic.Int32
	for i := range nodes {
		store := open(t, config(address, fmt.Sprint(i)))
		for range times {
			for _, key := range rand.Perm(keys) {
				group.Go(func() {
					if err := begin(t, store, fmt.Sprint(key)); err == nil {
						won[key].Add(1)
					} else {
						want(t, "beginning", err, callstore.ErrTaken)
					}
				})
			}
		}
	}
	group.Wait()
	for key := range won {
		if n := won[key].Load(); n != 1 {
			t.Errorf("%d have begun call %d", n, key)
		}
	}
}

// An end that the database has lost in a crash is written again: it was committed without waiting.
func TestTheDatabaseCrashes(t *testing.T) {
	server := postgrestest.Start(t, "wal_writer_delay=10s", "synchronous_commit=off")
	store := open(t, config(server.URL(server.Create(t)), "a"))
	const calls = 20
	for i := range calls {
		storetest.Must(t, begin(t, store, fmt.Sprint(i)))
	}
	server.Kill() // at once: each begin is on the disk
	server.Resume(t)
	for i := range calls {
		storetest.Must(t, store.End(t.Context(), storetest.Key(fmt.Sprint(i)), storetest.Answer("yes")))
	}
	server.Kill()
	server.Resume(t)
	eventually.Holds(t, "all ends are known", func() bool {
		for i := range calls {
			e, found, err := store.Find(t.Context(), storetest.Key(fmt.Sprint(i)))
			if err != nil || !found || e.State != callstore.StateEnded {
				return false
			}
		}
		return true
	})
}

// A Begin or an end whose answer is lost is made once, and its caller knows that it is made.
func TestLostAnswers(t *testing.T) {
	server := postgrestest.Shared(t)
	for name, test := range map[string]struct {
		before []string
		do     func(store *postgres.Store) error
		want   callstore.State
	}{
		"begin": {nil, func(s *postgres.Store) error { return begin(t, s, "mark-77") }, callstore.StateBegun},
		"end": {[]string{"mark-77"}, func(s *postgres.Store) error {
			return s.End(t.Context(), storetest.Key("mark-77"), storetest.Answer("says mark-77"))
		}, callstore.StateEnded},
	} {
		t.Run(name, func(t *testing.T) {
			c := &postgrestest.Cutter{Mark: []byte("mark-77")}
			folder := c.Listen(t, server.Folder())
			cfg := config("postgres://postgres@/"+server.Create(t)+"?host="+url.QueryEscape(folder), "a")
			store := open(t, cfg)
			for _, id := range append(test.before, "warm") {
				storetest.Must(t, begin(t, store, id)) // the statements are prepared when the mark arrives
			}
			storetest.Must(t, store.End(t.Context(), storetest.Key("warm"), storetest.Answer("")))
			c.Cuts.Store(1)
			storetest.Must(t, test.do(store))
			if c.Made.Load() != 1 {
				t.Errorf("%d answers were lost, want 1", c.Made.Load())
			}
			if e := find(t, store, "mark-77"); e.State != test.want || e.Elsewhere != "" {
				t.Errorf("got %+v", e)
			}
			if ids, _ := store.IDs(); ids != 2 {
				t.Errorf("the store counts %d ids, want 2", ids)
			}
		})
	}
}

// A Settle whose answer is lost has settled the call. It fails if another node has begun the call
// before the next attempt. A Begin whose answer is lost gives the call another number at the next
// attempt, and a Settle with the first number does nothing.
func TestSettlingWhileAnswersAreLost(t *testing.T) {
	server := postgrestest.Shared(t)
	name := server.Create(t)
	c := &postgrestest.Cutter{Mark: []byte("mark-77")}
	cfg := config("postgres://postgres@/"+name+"?host="+url.QueryEscape(c.Listen(t, server.Folder())), "a")
	var meanwhile atomic.Pointer[func()] // once, in the writer of a, between the lost answer and the next attempt
	cfg.Took = func(string, time.Duration) {
		if do := meanwhile.Load(); do != nil && c.Cuts.Load() <= 0 && meanwhile.CompareAndSwap(do, nil) {
			(*do)()
		}
	}
	a, b := open(t, cfg), open(t, config(server.URL(name), "b"))
	lose := func(do func()) { c.Cuts.Store(1); meanwhile.Store(&do) }
	key, said := storetest.Key, tool.Settlement{Verdict: tool.VerdictDidNotHappen}
	unknown := tool.Outcome{Err: tool.Errorf(tool.KindOutcomeUnknown, "lost")}
	for _, id := range []string{"warm", "x"} { // the statements are prepared when the mark arrives
		storetest.Must(t, begin(t, a, id))
		storetest.Must(t, a.End(t.Context(), key(id), unknown))
	}
	storetest.Must(t, a.Settle(t.Context(), key("warm"), find(t, a, "warm").Number, said, tool.Outcome{}))

	said.Reason = "mark-77"
	lose(func() { want(t, "beginning meanwhile", begin(t, b, "x"), nil) })
	want(t, "settling", a.Settle(t.Context(), key("x"), find(t, a, "x").Number, said, tool.Outcome{}), callstore.ErrNotUnknown)
	if e := find(t, b, "x"); e.State != callstore.StateBegun || e.Elsewhere != "" {
		t.Errorf("the call that has begun meanwhile: %+v", e)
	}

	var first int64
	lose(func() {
		e, found, err := b.Find(t.Context(), key("mark-77"))
		if first = e.Number; err != nil || !found || e.State != callstore.StateBegun {
			t.Errorf("found meanwhile: %+v, %v", e, err)
		}
	})
	storetest.Must(t, begin(t, a, "mark-77"))
	storetest.Must(t, a.End(t.Context(), key("mark-77"), unknown))
	want(t, "settling by the first number", b.Settle(t.Context(), key("mark-77"), first, said, tool.Outcome{}), callstore.ErrNotUnknown)
	want(t, "settling by the second one", b.Settle(t.Context(), key("mark-77"), find(t, b, "mark-77").Number, said, tool.Outcome{}), nil)
	if c.Made.Load() != 2 {
		t.Errorf("%d answers were lost, want 2", c.Made.Load())
	}
}

// A begin waits for a database that restarts, and fails if the database stays away. Nothing is
// begun afterwards.
func TestABeginWaitsForTheDatabase(t *testing.T) {
	server := postgrestest.Start(t)
	address := server.URL(server.Create(t))
	cfg := config(address, "patient")
	cfg.Patience = time.Hour
	store := open(t, cfg)
	storetest.Must(t, begin(t, store, "warm"))
	server.Stop()
	begun := make(chan error, 1)
	go func() { begun <- begin(t, store, "restart") }()
	server.Resume(t)
	want(t, "during a restart", <-begun, nil)
	store = open(t, config(address, "a"))
	server.Stop()
	want(t, "while the database stays away", begin(t, store, "away"), database.ErrUnavailable)
	server.Resume(t)
	want(t, "when it is back", begin(t, store, "away"), nil)
}

// A node finds the others: by a call that they execute, and by their state folder.
func TestPeers(t *testing.T) {
	address := postgrestest.Database(t)
	reached := config(address, "A234-folder")
	reached.Node.Address = "tools-1.example:7444"
	a, b := open(t, reached), open(t, config(address, "b"))
	storetest.Must(t, begin(t, a, "x"))
	storetest.Must(t, begin(t, a, "ended"))
	storetest.Must(t, a.End(t.Context(), storetest.Key("ended"), storetest.Answer("yes")))
	if e := find(t, b, "ended"); e.Outcome == nil { // so the end is written
		t.Fatalf("the call has not ended: %+v", e)
	}
	ofCall := func(s *postgres.Store, id string) postgres.Peer {
		t.Helper()
		p, _, err := s.PeerOfCall(t.Context(), storetest.Key(id))
		storetest.Must(t, err)
		return p
	}
	ofFolder := func(s *postgres.Store, begin string) postgres.Peer {
		t.Helper()
		p, _, err := s.PeerOfFolder(t.Context(), begin)
		storetest.Must(t, err)
		return p
	}
	want := ofCall(b, "x")
	if want.Address != "tools-1.example:7444" || want.Name != "machine-A234-folder" || want.ID == "" || want.Gone {
		t.Errorf("the node of the call is %+v", want)
	}
	for what, p := range map[string]postgres.Peer{
		"its own call": ofCall(a, "x"), "an ended call": ofCall(b, "ended"), "no call": ofCall(b, "none"),
		"its own folder": ofFolder(a, "a234"), "no folder": ofFolder(b, "a235"), "a pattern": ofFolder(b, "____"),
	} {
		if p != (postgres.Peer{}) {
			t.Errorf("%s is at %+v", what, p)
		}
	}
	if p := ofFolder(b, "a234"); p != want {
		t.Errorf("the folder is at %+v, want %+v", p, want)
	}
	declareGone(t, address, "A234-folder")
	want.Gone = true
	if p := ofFolder(b, "a234"); p != want {
		t.Errorf("the folder of a node that is gone: %+v", p)
	}
	if p := ofCall(b, "x"); p != (postgres.Peer{}) {
		t.Errorf("the call of a node that is gone is at %+v", p)
	}
}

// A check that seals may be asked at any node, also about a call of a node that is not gone. What
// that node knows of the call afterwards is refused. Any other check is not.
func TestACheckThatSeals(t *testing.T) {
	for name, test := range map[string]struct {
		seals    bool
		said     tool.Verdict
		gone     bool
		askable  bool
		settling error
		then     callstore.State
	}{
		"did not happen":         {seals: true, said: tool.VerdictDidNotHappen, askable: true, then: callstore.StateFree},
		"happened":               {seals: true, said: tool.VerdictHappened, askable: true, then: callstore.StateEnded},
		"not known":              {seals: true, said: tool.VerdictUnknown, askable: true, settling: callstore.ErrNotUnknown, then: callstore.StateBegun},
		"of a node that is gone": {seals: true, said: tool.VerdictDidNotHappen, gone: true, askable: true, then: callstore.StateFree},
		"one that does not seal": {said: tool.VerdictDidNotHappen, settling: callstore.ErrNotUnknown, then: callstore.StateBegun},
	} {
		t.Run(name, func(t *testing.T) {
			address := postgrestest.Database(t)
			a, b := open(t, config(address, "a")), open(t, config(address, "b"))
			e := storetest.Entry("x")
			e.Arguments, e.EffectKey, e.Seals = []byte("{}"), "first", test.seals
			storetest.Must(t, a.BeginWithin(t.Context(), e, callstore.Quota{}))
			if test.gone {
				declareGone(t, address, "a")
			}
			there := find(t, b, "x")
			if there.SealOnly != test.seals || (there.Arguments != nil) != test.askable || there.EffectKey != "first" || there.Sealable() != (test.seals && !test.gone) {
				t.Errorf("at the other node: %+v", there)
			}
			unsettled, err := b.List(t.Context(), callstore.Query{Unsettled: true})
			if err != nil || (len(unsettled) == 1) != test.gone {
				t.Errorf("the other node lists %+v, %v", unsettled, err)
			}
			want(t, "settling", b.Settle(t.Context(), there.Key, there.Number, tool.Settlement{Verdict: test.said}, storetest.Answer("yes")), test.settling)
			if now := find(t, b, "x"); now.State != test.then {
				t.Fatalf("settled: %+v", now)
			}
			if test.then == callstore.StateFree {
				e.EffectKey = "second"
				storetest.Must(t, b.BeginWithin(t.Context(), e, callstore.Quota{}))
				if now := find(t, b, "x"); now.EffectKey != "second" || now.Elsewhere != "" {
					t.Errorf("begun again: %+v", now)
				}
			}
			late := callstore.ErrNotBegun
			if test.then == callstore.StateBegun {
				late = nil
			}
			want(t, "the late end", a.End(t.Context(), there.Key, storetest.Answer("late")), late)
		})
	}
}

// A node of an older version that begins a free call again does not know what seals.
func TestAnOlderNodeBeginsASealedCall(t *testing.T) {
	address := postgrestest.Database(t)
	a, b := open(t, config(address, "a")), open(t, config(address, "b"))
	e := storetest.Entry("x")
	e.Arguments, e.EffectKey, e.Seals = []byte("{}"), "first", true
	storetest.Must(t, a.BeginWithin(t.Context(), e, callstore.Quota{}))
	storetest.Must(t, b.Settle(t.Context(), e.Key, find(t, b, "x").Number, tool.Settlement{Verdict: tool.VerdictDidNotHappen}, tool.Outcome{}))
	execute(t, address, "UPDATE toolhost_calls SET state = 0, token = 'older', ended = NULL") // as in its statement
	if now := find(t, b, "x"); now.EffectKey != "" || now.SealOnly {
		t.Errorf("begun again: %+v", now)
	}
}

// A node counts the others by state, and reports how long its statements take.
func TestCensus(t *testing.T) {
	address := postgrestest.Database(t)
	cfg := config(address, "a")
	var mu sync.Mutex
	took := map[string]int{}
	cfg.Took = func(kind string, _ time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		took[kind]++
	}
	a := open(t, cfg)
	if _, known := a.Census(); known || a.Beaten().IsZero() {
		t.Errorf("the nodes are known at the start: %v, or there is no beat", known)
	}
	open(t, config(address, "b"))
	storetest.Must(t, open(t, config(address, "c")).Close())
	execute(t, address, "INSERT INTO toolhost_nodes (node, name, folder, boot, started) VALUES (1, 'lost', 'd', 'boot', 0)")
	storetest.Must(t, begin(t, a, "x"), a.End(t.Context(), storetest.Key("x"), storetest.Answer("yes")))
	find(t, a, "x")
	eventually.Holds(t, "two nodes are up, one is silent and one gone", func() bool {
		c, known := a.Census()
		return known && c == postgres.Census{Up: 2, Silent: 1, Gone: 1}
	})
	mu.Lock()
	defer mu.Unlock()
	if took["begin"] != 1 || took["end"] != 1 || took["find"] != 1 || took["beat"] == 0 || len(took) != 4 {
		t.Errorf("statements: %v", took)
	}
}

// What a node says of itself is listed, also if the tables are those of an older version.
func TestListedDetails(t *testing.T) {
	address := postgrestest.Database(t)
	cfg := config(address, "a")
	cfg.Node.Version, cfg.Node.Address = "1.2.3", "tools-1.example:7444"
	storetest.Must(t, open(t, cfg).Close())
	listed := func() postgres.Listed {
		t.Helper()
		nodes, err := postgres.Nodes(t.Context(), database.Config{URL: address})
		if err != nil || len(nodes) != 1 {
			t.Fatalf("%+v, %v", nodes, err)
		}
		return nodes[0]
	}
	if n := listed(); n.Version != "1.2.3" || n.Address != "tools-1.example:7444" || n.State != postgres.Gone {
		t.Errorf("the node: %+v", n)
	}
	execute(t, address, "UPDATE toolhost_nodes SET version = repeat('v', 1000000), address = repeat('a', 1000000)")
	if n := listed(); len(n.Version) != 100 || len(n.Address) != 300 {
		t.Errorf("texts without a bound: %d and %d bytes", len(n.Version), len(n.Address))
	}
	execute(t, address, "ALTER TABLE toolhost_nodes DROP COLUMN version, DROP COLUMN summary, DROP COLUMN address")
	execute(t, address, "ALTER TABLE toolhost_beats DROP COLUMN audited")
	if n := listed(); n.Version != "" || n.Address != "" || n.Name != "machine-a" {
		t.Errorf("with older tables: %+v", n)
	}
}

// What a node describes is read by others, and is bounded.
func TestDescribe(t *testing.T) {
	address := postgrestest.Database(t)
	a := open(t, config(address, "a"))
	described := func() *postgres.Summary {
		t.Helper()
		nodes, err := postgres.Nodes(t.Context(), database.Config{URL: address})
		storetest.Must(t, err)
		return nodes[0].Summary
	}
	for _, version := range []string{"1", "2"} {
		summary := postgres.Summary{Version: version, Plugins: map[string]string{"p": "sha256:0123"}, Settings: map[string]string{"policy": "4567"}}
		a.Describe(summary)
		eventually.Holds(t, "the summary is in the database", func() bool {
			s := described()
			return s != nil && s.Version == version && s.Plugins["p"] == "sha256:0123" && s.Settings["policy"] == "4567"
		})
	}
	a.NoteAudit(func() string { return "7:abc" })
	audited := func() string {
		nodes, err := postgres.Nodes(t.Context(), database.Config{URL: address})
		storetest.Must(t, err)
		return nodes[0].Audited
	}
	eventually.Holds(t, "the end of the audit log is in the database", func() bool { return audited() == "7:abc" })
	execute(t, address, "UPDATE toolhost_nodes SET summary = '{\"version\":\"' || repeat('v', 70000) || '\"}'")
	if s := described(); s != nil {
		t.Errorf("a summary without a bound was read: %d bytes", len(s.Version))
	}
}

// The end of the audit log when a node stops is known afterwards.
func TestAuditAtTheEnd(t *testing.T) {
	address := postgrestest.Database(t)
	a := open(t, config(address, "a"))
	a.NoteAudit(func() string { return "9:def" })
	storetest.Must(t, a.Close())
	nodes, err := postgres.Nodes(t.Context(), database.Config{URL: address})
	if err != nil || nodes[0].Audited != "9:def" || nodes[0].State != postgres.Gone {
		t.Errorf("%+v, %v", nodes, err)
	}
}
