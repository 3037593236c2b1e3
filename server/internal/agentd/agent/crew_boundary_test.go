package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// mortal is a store whose process dies: after some appends of any run, all further ones fail, and
// died is closed.
type mortal struct {
	runstore.Store
	left  atomic.Int64 // appends before the death
	after bool         // the next append after them is stored, but reported as failed
	once  sync.Once
	died  chan struct{}
}

func newMortal(s runstore.Store, appends int, after bool) *mortal {
	m := &mortal{Store: s, after: after, died: make(chan struct{})}
	m.left.Store(int64(appends))
	return m
}

func (s *mortal) Append(ctx context.Context, b runstore.Batch) error {
	left := s.left.Add(-1)
	if left >= 0 {
		return s.Store.Append(ctx, b)
	}
	defer s.once.Do(func() { close(s.died) })
	if left == -1 && s.after {
		if err := s.Store.Append(ctx, b); err != nil {
			return err
		}
	}
	return errDead
}

// live starts or continues the run and works on it until it ends, or until the store dies. Then it
// closes the agent and waits for what it has started.
func (g *crew) live(m *mortal) (died bool) {
	g.Close()
	g.open(func(c *agent.Config) {
		g.configure(g.t)(c)
		c.Store = m
	})
	var group sync.WaitGroup
	ctx, stop := context.WithCancel(g.t.Context())
	defer func() {
		g.Close()
		stop()
		group.Wait()
	}()
	if _, err := g.Resume(ctx); err != nil {
		g.t.Error(err)
	}
	if err := g.begin(ctx); err != nil {
		return g.isDead(m, err)
	}
	group.Go(func() { g.person(ctx) })
	ended := make(chan error, 1)
	group.Go(func() {
		var last error
		for _, err := range g.WatchRun(ctx, "r", 0) {
			last = err
		}
		ended <- last
	})
	select {
	case <-m.died:
		return true
	case err := <-ended:
		return err != nil && g.isDead(m, err)
	}
}

// isDead reports whether the store has died. Otherwise nothing explains the error.
func (g *crew) isDead(m *mortal, err error) bool {
	select {
	case <-m.died:
		return true
	default:
		g.t.Errorf("the agent lives, but: %v", err)
		return false
	}
}

// reopen opens an agent whose store does not die.
func (g *crew) reopen() { g.open(g.configure(g.t)) }

// crewStory is what the tests compare between two runs of the crew that have ended.
type crewStory struct {
	ends    map[string]*loop.RunFinished
	said    map[string][]string // the responses of each run, with their models and costs
	results map[string]string   // of each call
	asked   map[string]string   // what each model was asked, by conversation and turn
	decided map[string]int      // the decisions that each run has asked for
	effects map[string]int      // executions, by call, tool and arguments
}

// crewRuns returns the ids of the three runs.
func crewRuns() []string {
	writer := loop.SubRunID("r", "r.t2.c0")
	return []string{"r", writer, loop.SubRunID(writer, writer+".t1.c1")}
}

// story reads the journals of the crew.
func (g *crew) story() crewStory {
	g.t.Helper()
	s := crewStory{
		ends: map[string]*loop.RunFinished{}, said: map[string][]string{}, results: map[string]string{}, asked: map[string]string{},
		decided: map[string]int{}, effects: g.effects,
	}
	for _, id := range crewRuns() {
		for e, err := range g.WatchRun(g.t.Context(), id, 0) {
			if err != nil {
				g.t.Fatalf("reading run %s: %v", id, err)
			}
			s.add(g.t, id, e.Payload)
		}
	}
	for key, requests := range g.log.asked {
		s.asked[key] = requests[0]
		for _, other := range requests[1:] {
			if other != requests[0] {
				g.t.Errorf("%s: the model was asked with other words:\n%s", key, cmp.Diff(requests[0], other))
			}
		}
	}
	return s
}

func (s *crewStory) add(t *testing.T, id string, p loop.Payload) {
	t.Helper()
	switch p := p.(type) {
	case *loop.RunFinished:
		s.ends[id] = p
	case *loop.AssistantMessage:
		data, err := json.Marshal(p.Message)
		if err != nil {
			t.Fatal(err)
		}
		s.said[id] = append(s.said[id], fmt.Sprintf("%s fallback %d, cost %.9f, wasted %d: %s", p.Model, p.Fallback, p.Cost, p.Wasted.Tokens(), data))
	case *loop.CallResult:
		if was, twice := s.results[p.CallID]; twice {
			t.Errorf("call %s has two results: %s, %s", p.CallID, was, p.Result.Text())
		}
		s.results[p.CallID] = p.Result.Text()
	case *loop.DecisionRequested:
		s.decided[id]++
	}
}

// many is more appends than the run has.
const many = 1000

// undisturbedCrew returns the story of a run whose process does not die, and the number of its
// appends.
func undisturbedCrew(t *testing.T) (s crewStory, appends int) {
	synctest.Test(t, func(t *testing.T) {
		g := newCrew(t)
		m := newMortal(g.store, many, false)
		g.live(m)
		g.reopen()
		s, appends = g.story(), many-int(m.left.Load())
		for key, requests := range g.log.asked {
			if overloaded := strings.HasPrefix(key, "big") && strings.HasSuffix(key, "turn 2"); len(requests) > 1 && !overloaded {
				t.Errorf("%s was asked %d times", key, len(requests))
			}
		}
	})
	return s, appends
}

// The undisturbed run has what the tests below disturb.
func checkCrew(t *testing.T, s crewStory, appends int) {
	t.Helper()
	runs := crewRuns()
	end := s.ends["r"]
	if end == nil || end.StopReason != loop.StopCompleted || string(end.Result) != `{"word":"done","n":6}` || end.Turns != 6 {
		t.Fatalf("the run ended with %+v", end)
	}
	if s.ends[runs[1]] == nil || s.ends[runs[2]] == nil || !strings.Contains(s.ends[runs[1]].Text, "it is") {
		t.Fatalf("the sub-runs ended with %+v", s.ends)
	}
	if below := s.ends[runs[2]]; below.StopReason != loop.StopCompleted || !strings.HasPrefix(string(below.Result), `{"good":true,"verdict":`) || below.Turns != 3 ||
		s.results[runs[1]+".t1.c1"] != string(below.Result) {
		t.Errorf("the checker ended with %+v, and the writer got %s", below, s.results[runs[1]+".t1.c1"])
	}
	for i, model := range []string{"fake:big fallback 0", "fake:small fallback 1", "fake:big fallback 0"} {
		if !strings.HasPrefix(s.said["r"][i], model) {
			t.Errorf("turn %d was answered by %s, want %s", i+1, s.said["r"][i], model)
		}
	}
	keys := make([]string, 0, len(s.effects))
	for key := range s.effects {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	want := []string{
		`r.t1.c0 write {"key":"one"}`, `r.t1.c1 ask {"kind":"person","message":"Which color?"}`, `r.t2.c1 write {"key":"beside"}`,
		`r.t3.c0.a2 drop {"key":"edited"}`, `r.t5.c1 write {"key":"last"}`, runs[1] + `.t1.c0 write {"key":"draft"}`,
		runs[2] + `.t1.c0 ask {"kind":"model","message":"Is it good?"}`, runs[2] + `.t1.c1.a2 drop {"key":"old"}`,
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("the executed calls (-want +got):\n%s", diff)
	}
	first := s.asked["big, hello, turn 1"]
	for _, want := range []string{"Lead blue first.", "the habits of first", "Of at least 20 past calls"} {
		if !strings.Contains(first, want) {
			t.Errorf("the first request does not have %q: %s", want, first)
		}
	}
	third, last := s.asked["big, hello, turn 4"], s.asked["big, hello, turn 6"]
	if !strings.Contains(third, lateNote) || !strings.Contains(third, "late.txt") || !strings.Contains(third, "photo.png") {
		t.Errorf("the fourth request does not have the message with its attachment: %s", third)
	}
	if !strings.Contains(last, "the work is done but for the answer") || !strings.Contains(last, "[invalid answer]") || strings.Contains(last, `"data"`) {
		t.Errorf("the last request has no summary, or no repair: %s", last)
	}
	if brief := s.asked["plain, "+writerPrompt+", turn 1"]; !strings.Contains(brief, "note.txt") || strings.Contains(brief, "photo.png") || !strings.Contains(brief, "Write for blue.") {
		t.Errorf("the writer was asked %s", brief)
	}
	if s.decided["r"] != 3 || s.decided[runs[2]] != 1 {
		t.Errorf("people were asked %v times", s.decided)
	}
	if appends < 30 {
		t.Errorf("the run has only %d appends", appends)
	}
}

// compareCrew checks that a run whose process died ended as if it had not. A model may be asked
// again for what the journal did not have, with the same words. Everything else happened once.
func compareCrew(t *testing.T, what string, whole, s crewStory) {
	t.Helper()
	if diff := cmp.Diff(whole, s, cmp.AllowUnexported(crewStory{}), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("%s: the run is another one (-undisturbed +this):\n%s", what, diff)
	}
	for call, n := range s.effects {
		if n != 1 {
			t.Errorf("%s: %s was executed %d times", what, call, n)
		}
	}
}

// TestCrewAtEveryBoundary kills the agent before and after each append of each run of the crew.
// Each time the runs end as if undisturbed: with the same answers, costs and requests, with each
// call executed once, and no person asked twice.
func TestCrewAtEveryBoundary(t *testing.T) {
	whole, appends := undisturbedCrew(t)
	checkCrew(t, whole, appends)
	for _, after := range []bool{false, true} {
		boundary := 0
		for died := true; died; boundary++ {
			synctest.Test(t, func(t *testing.T) {
				g := newCrew(t)
				if died = g.live(newMortal(g.store, boundary, after)); died {
					g.live(newMortal(g.store, many, false))
				}
				g.reopen()
				compareCrew(t, fmt.Sprintf("killed at %d (after: %v)", boundary+1, after), whole, g.story())
			})
		}
		if boundary < appends/2 {
			t.Errorf("only %d boundaries of %d", boundary, appends)
		}
	}
}

// A process that dies again and again, each time after a few appends, loses and doubles nothing.
func TestCrewDiesOften(t *testing.T) {
	whole, appends := undisturbedCrew(t)
	for appendsPerLife := 4; appendsPerLife < 12; appendsPerLife++ {
		synctest.Test(t, func(t *testing.T) {
			g := newCrew(t)
			lives := 1
			for g.live(newMortal(g.store, appendsPerLife, lives%2 == 0)) {
				if lives++; lives > 2*appends {
					t.Fatalf("after %d lives of %d appends the run has not ended", lives, appendsPerLife)
				}
			}
			g.reopen()
			compareCrew(t, fmt.Sprintf("with %d appends per life, %d lives", appendsPerLife, lives), whole, g.story())
		})
	}
}
