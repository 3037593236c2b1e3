//go:build more

package fleet_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// waitingScript is the script of a model whose runs ask for one approval.
const waitingScript = "turns:\n  - calls: [{tool: pay_dangerous, arguments: {what: a}}]\n  - text: all is paid\n"

// persons is how many persons start and answer runs at the same time.
const persons = 32

// cost is what an agentd takes that starts while a number of runs wait.
type cost struct {
	waiting, memory, rows int // memory in KiB, without what others share; rows that it read in the database
	ready                 time.Duration
}

// Runs wait for a person while everything is restarted. The persons answer at any agentd, and each
// run ends, and pays once. What an agentd reads to start does not grow with the runs that wait.
func TestWaiting(t *testing.T) {
	w := newWorld(t, waitingScript)
	l := newLoad(w, *waiting)
	l.alone = true
	var costs []cost
	for _, n := range []int{0, *waiting / 10, *waiting} {
		began := time.Now()
		l.startUntil(n)
		l.wipeTemporal()
		t.Logf("%d runs wait after %v", n, time.Since(began).Round(time.Millisecond))
		costs = append(costs, l.restart(n))
	}
	for _, c := range costs {
		t.Logf("%+v", c)
	}
	first, last := costs[0], costs[2]
	t.Logf("an agentd has %d bytes for each run that waits", (last.memory-first.memory)*1024 / *waiting)
	if grown := last.rows - first.rows; *waiting >= 1000 && grown > *waiting/2 {
		t.Errorf("an agentd reads %d more rows to start while %d runs wait", grown, *waiting)
	}

	began := time.Now()
	var next atomic.Int64
	together(func() {
		for i := int(next.Add(1)) - 1; i < *waiting; i = int(next.Add(1)) - 1 {
			l.decide(t.Context(), l.runs[i].id+"/d1")
		}
	})
	eventually.Shows(t, "all runs have ended", func() (bool, any) {
		left := w.count(w.journal, "SELECT count(*) FROM agentd_runs WHERE unfinished OR claimer IS NOT NULL")
		return left == "0", left
	})
	t.Logf("all have ended after %v", time.Since(began).Round(time.Millisecond))
	for _, kind := range []string{"decision_made", "run_finished"} {
		query := "SELECT count(DISTINCT run), count(*) FROM agentd_records WHERE type = '" + kind + "'"
		if got := w.database.Do(t, w.journal, query)[0]; got[0] != strconv.Itoa(*waiting) || got[1] != got[0] {
			t.Errorf("%s runs have %s events %s", got[0], got[1], kind)
		}
	}
	for _, r := range l.runs {
		if receipts := w.bank.receipts(r.id + ".t1.c0"); len(receipts) != 1 {
			t.Errorf("%s has paid %d times", r.id, len(receipts))
		}
	}
	l.endsWithoutWorkflows(t)
	for _, why := range l.odd {
		t.Error(why)
	}
}

// together calls do in a number of goroutines, and returns when all have returned.
func together(do func()) {
	var group sync.WaitGroup
	for range persons {
		group.Go(do)
	}
	group.Wait()
}

// startUntil starts runs until n wait for a person.
func (l *load) startUntil(n int) {
	l.t.Helper()
	l.least = n
	together(func() {
		for r := l.next(); r != nil; r = l.next() {
			r.manner = approves
			err := l.insist(l.t.Context(), false, func(ctx context.Context, c *client.AgentClient) error {
				_, err := c.StartRun(ctx, client.Task{Prompt: "pay", RunID: r.id, People: &client.People{Attended: true, Expiry: 24 * time.Hour}})
				return err
			})
			if err != nil {
				l.strange("starting %s: %v", r.id, err)
			}
		}
	})
	eventually.Shows(l.t, fmt.Sprint(n, " runs wait"), func() (bool, any) {
		waits := l.count(l.journal, "SELECT count(*) FROM agentd_runs WHERE unfinished AND claimer IS NULL AND wake_at > now()")
		return waits == strconv.Itoa(n), waits
	})
}

// restart restarts everything, and returns what the first agentd took.
func (l *load) restart(n int) cost {
	l.t.Helper()
	for _, servers := range [][]*server{l.agentds, l.toolhosts} {
		each(servers, func(s *server) {
			if code := s.stop(); code != 0 {
				l.t.Errorf("%s ended with the exit code %d", s.name, code)
			}
		})
	}
	l.database.Restart(l.t)
	each(l.toolhosts, l.begin)
	before, c := l.read(), cost{waiting: n}
	began := time.Now()
	l.begin(l.agentds[0])
	c.ready, c.memory = time.Since(began), l.memory(l.agentds[0])
	if code := l.agentds[0].stop(); code != 0 {
		l.t.Errorf("the agentd ended with the exit code %d", code)
	}
	c.rows = l.read() - before
	each(l.agentds, l.begin)
	return c
}

func (l *load) begin(s *server) {
	if err := s.start(l.t.Context()); err != nil {
		l.t.Error(err)
	}
}

// read returns how many rows the database has read in its journal, when no agentd is connected.
func (l *load) read() int {
	l.t.Helper()
	eventually.Holds(l.t, "no agentd is connected", func() bool {
		return l.count("postgres", "SELECT count(*) FROM pg_stat_activity WHERE datname = '"+l.journal+"'") == "0"
	})
	rows, err := strconv.Atoi(l.count(l.journal, "SELECT COALESCE(sum(seq_tup_read + COALESCE(idx_tup_fetch, 0)), 0) FROM pg_stat_user_tables"))
	if err != nil {
		l.t.Fatal(err)
	}
	return rows
}

var anonymous = regexp.MustCompile(`RssAnon:\s+([0-9]+) kB`)

// memory returns the memory of a server in KiB, without files.
func (l *load) memory(s *server) int {
	l.t.Helper()
	process, _ := s.process()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process.Pid))
	found := anonymous.FindSubmatch(text)
	if err != nil || found == nil {
		l.t.Fatalf("the memory of %s: %v", s.name, err)
	}
	kilobytes, _ := strconv.Atoi(string(found[1])) // digits
	return kilobytes
}
