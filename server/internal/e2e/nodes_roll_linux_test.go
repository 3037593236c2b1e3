//go:build more

package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// sessionLoad is callers that make calls with side effects, each in a session of its own, until it
// ends.
type sessionLoad struct {
	list    string // the addresses of all nodes
	nodes   []*ledgerNode
	over    atomic.Bool
	made    [15]atomic.Int64 // calls of each session that have ended
	callers sync.WaitGroup
}

// startSessionLoad makes calls at nodes, which take at most timeout. failed receives each call that
// fails, and when it began.
func startSessionLoad(t *testing.T, nodes []*ledgerNode, timeout time.Duration, failed func(w *writing, begun time.Time, err error)) *sessionLoad {
	t.Helper()
	l := &sessionLoad{nodes: nodes}
	var addresses []string
	for _, n := range nodes {
		addresses = append(addresses, n.addr)
	}
	l.list = strings.Join(addresses, ",")
	c, err := client.Dial(l.list)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	for session := range l.made {
		l.callers.Go(func() { // ends with over
			for n := 0; !l.over.Load(); n++ {
				w := &writing{id: fmt.Sprintf("session-%d.%d", session, n)}
				call := w.call()
				call.Session, call.Timeout = fmt.Sprint("session-", session), timeout
				begun := time.Now()
				out, err := c.Call(t.Context(), call)
				if err == nil && out.Result.IsError {
					err = fmt.Errorf("a tool error: %q", out.Result.Text())
				}
				if err != nil {
					failed(w, begun, err)
				}
				l.made[session].Add(1)
			}
		})
	}
	return l
}

// goesOn waits until each session has made two more calls.
func (l *sessionLoad) goesOn(t *testing.T) {
	t.Helper()
	for i := range l.made {
		before := l.made[i].Load()
		eventually.Holds(t, "the calls of each session go on", func() bool { return t.Failed() || l.made[i].Load() > before+1 })
	}
}

// calls returns how many calls have ended.
func (l *sessionLoad) calls() (all int64) {
	for i := range l.made {
		all += l.made[i].Load()
	}
	return all
}

// end ends the callers, and returns how often the side effect of each call happened. Each toolhost
// must have executed some.
func (l *sessionLoad) end(t *testing.T) map[string]int {
	t.Helper()
	l.over.Store(true)
	l.callers.Wait()
	happened := map[string]int{}
	for i, n := range l.nodes {
		lines := n.linesWritten(t)
		if len(lines) == 0 {
			t.Errorf("the toolhost %d has executed nothing", i)
		}
		for text, count := range lines {
			happened[text] += count
		}
	}
	return happened
}

// endsWithout ends the callers. Each side effect must have happened once.
func (l *sessionLoad) endsWithout(t *testing.T) {
	t.Helper()
	happened := l.end(t)
	for i := range l.made {
		for n := range l.made[i].Load() {
			if id := fmt.Sprintf("session-%d.%d", i, n); happened[id] != 1 {
				t.Errorf("the side effect of %s happened %d times", id, happened[id])
			}
		}
	}
}

// roll replaces toolhosts with a program, one after the other, while calls are under way.
func (l *sessionLoad) roll(t *testing.T, program string, nodes ...*ledgerNode) {
	t.Helper()
	for _, n := range nodes {
		l.goesOn(t)
		n.stop(t)
		l.goesOn(t)
		n.do(t, "call", "versionplugin_read", "{}", "--addr", l.list).exits(t, 0)
		n.program = program
		n.start(t)
	}
	l.goesOn(t)
}

func noFailure(t *testing.T) func(*writing, time.Time, error) {
	return func(w *writing, _ time.Time, err error) { t.Errorf("%s: %v", w.id, err) }
}

// Each of three toolhosts is stopped and started again in turn, while callers make calls, some of
// which are under way when their toolhost stops. No call fails, and no side effect happens twice.
func TestARollingRestartFailsNoCall(t *testing.T) {
	server := postgrestest.Start(t)
	nodes := startLedgerNodes(t, server.URL(server.Create(t)), 3)
	l := startSessionLoad(t, nodes, patience, noFailure(t))
	l.roll(t, "", nodes...)
	l.endsWithout(t)
}

// Three toolhosts without the last migration of the ledger are replaced with those of today in
// turn, and one of these with an older one again, while callers make calls. No call fails, and no
// side effect happens twice.
func TestARollingUpgradeFailsNoCall(t *testing.T) {
	if err := programs.BuildOlder(t.Context(), filepath.Join(bin, "older"), "./cmd/toolhost"); err != nil {
		t.Fatal(err)
	}
	older := filepath.Join("older", "toolhost")
	server := postgrestest.Start(t)
	database := server.Create(t)
	version := func() string {
		return server.Do(t, database, "SELECT version FROM toolhost_layouts WHERE name = 'toolhost calls'")[0][0]
	}
	nodes := startLedgerNodesOf(t, older, server.URL(database), 3)
	before := version()
	l := startSessionLoad(t, nodes, patience, noFailure(t))
	l.roll(t, "", nodes...)
	if after := version(); after == before {
		t.Errorf("the tables have version %s before and after the upgrade", after)
	}
	l.roll(t, older, nodes[0])
	l.endsWithout(t)
}

// A toolhost of three is killed while callers make calls, and does not come back. Of each session
// at most the call that was under way fails, and no side effect happens twice. It logs how many
// fail.
func TestTheLossOfAToolhost(t *testing.T) {
	server := postgrestest.Start(t)
	nodes := startLedgerNodes(t, server.URL(server.Create(t)), 3)
	var mu sync.Mutex
	failures, begins := map[string]error{}, []time.Time{}
	// A call that is under way at a toolhost that is not known to be gone waits as long as it may.
	l := startSessionLoad(t, nodes, 20*time.Second, func(w *writing, begun time.Time, err error) {
		mu.Lock()
		defer mu.Unlock()
		failures[w.id], begins = err, append(begins, begun)
		if !mayGoOn(err) {
			t.Errorf("%s: %v", w.id, err)
		}
	})
	l.goesOn(t)
	before := l.calls()
	killed := time.Now()
	nodes[1].cmd.Process.Kill()
	<-nodes[1].exited
	for range 5 {
		l.goesOn(t)
	}
	happened := l.end(t)
	for i := range l.made {
		failed := 0
		for n := range l.made[i].Load() {
			id := fmt.Sprintf("session-%d.%d", i, n)
			if failures[id] != nil {
				failed++
			}
			if count := happened[id]; count > 1 || count == 0 && failures[id] == nil {
				t.Errorf("the side effect of %s happened %d times; %v", id, count, failures[id])
			}
		}
		if failed > 1 {
			t.Errorf("session %d: %d calls failed, and one was under way", i, failed)
		}
	}
	late := 0
	for _, begun := range begins {
		if begun.After(killed) {
			late++
		}
	}
	t.Logf("%d calls failed, %d of them began after the toolhost was killed; since then %d calls ended in %s", len(failures), late, l.calls()-before, time.Since(killed))
}
