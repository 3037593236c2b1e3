package agent_test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
	"github.com/toolhost/toolhost/tool"
)

// waitingRun returns a run with a call that waits for an hour.
func waitingRun(t *testing.T) (*fixture, agent.Decision) {
	t.Helper()
	m := turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("ok")))
	f := newFixture(t, m, newTools(careful), withPeople)
	f.start(loop.Task{Principal: "ada"})
	synctest.Wait()
	d, err := f.Decision(t.Context(), "r", "d1")
	if err != nil {
		t.Fatal(err)
	}
	return f, d
}

func until(at time.Time) loop.DecisionExtended {
	return loop.DecisionExtended{ID: "d1", Expires: at, Principal: "bob"}
}

// An end moves as far as it may, and never back. What a person saw before counts afterwards, also
// at another agent, and so does the new end.
func TestExtend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, asked := waitingRun(t)
		defer func() { f.Close() }()
		at := runstore.Now
		since(t, f, "", &at)
		for name, test := range map[string]struct {
			extend loop.DecisionExtended
			want   tool.Kind
			says   string
		}{
			"the past":            {until(asked.Requested.Add(-time.Hour)), tool.KindInvalidArgument, "not in the future"},
			"now":                 {until(asked.Requested), tool.KindInvalidArgument, "not in the future"},
			"more than 7 days":    {until(asked.Requested.Add(loop.MaxExtended + 1)), tool.KindInvalidArgument, "at most until 2000-01-08T00:00:00Z, 7 days after it was requested"},
			"an unknown decision": {loop.DecisionExtended{ID: "d9", Expires: asked.Expires.Add(1)}, tool.KindNotFound, "no decision"},
			"an earlier end":      {until(asked.Requested.Add(time.Minute)), "", ""},
			"the same end":        {until(asked.Expires), "", ""},
		} {
			d, err := f.Extend(t.Context(), "r", test.extend)
			if tool.KindOf(err) != test.want || err != nil && !strings.Contains(err.Error(), test.says) || err == nil && !d.Expires.Equal(asked.Expires) {
				t.Errorf("%s: %s, %v", name, d.Expires, err)
			}
		}
		if sets := since(t, f, "", &at); sets != nil {
			t.Errorf("without an extension, changed are %q", sets)
		}
		later := asked.Requested.Add(loop.MaxExtended)
		for range 2 { // the second changes nothing
			d, err := f.Extend(t.Context(), "r", until(later))
			if err != nil || !d.Waits || !d.Expires.Equal(later) || d.Etag() != asked.Etag() {
				t.Fatalf("%+v, %v", d, err)
			}
		}
		if sets := since(t, f, "", &at); len(sets) != 1 || sets[0] != "r: d1" {
			t.Errorf("changed are %q", sets)
		}
		f.Close()
		time.Sleep(2 * time.Hour) // virtual: after the first end
		f.open(withPeople)
		if n, err := f.Resume(t.Context()); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		synctest.Wait()
		list, _, err := f.ListDecisions(t.Context(), agent.DecisionQuery{})
		if err != nil || len(list) != 1 || !list[0].Expires.Equal(later) {
			t.Fatalf("after a restart: %+v, %v", list, err)
		}
		d, err := f.Decide(t.Context(), "r", asked.Etag(), loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove, Principal: "bob"})
		if err != nil || d.Made == nil || !d.Expires.Equal(later) {
			t.Errorf("the verdict of who looked before: %+v, %v", d, err)
		}
		if _, err := f.Extend(t.Context(), "r", until(later)); tool.KindOf(err) != tool.KindConflict || !strings.Contains(err.Error(), "bob gave the verdict approve at 2000-01-01T02:00:00Z") {
			t.Errorf("after the verdict: %v", err)
		}
		f.end()
		if _, err := f.Extend(t.Context(), "r", until(later)); tool.KindOf(err) != tool.KindConflict {
			t.Errorf("after the run: %v", err)
		}
	})
}

// A decision without an end has none to move.
func TestExtendWithoutAnEnd(t *testing.T) {
	p := loop.Pending{DecisionRequested: loop.DecisionRequested{ID: "d1"}, Requested: time.Unix(1, 0)}
	if moves, err := p.Extends(new(until(time.Unix(9, 0))), time.Unix(2, 0)); moves || tool.KindOf(err) != tool.KindConflict || !strings.Contains(err.Error(), "without an end") {
		t.Errorf("%t, %v", moves, err)
	}
}

// Around the end, exactly one of an extension and the end takes effect, however many extend, and
// whoever is late learns what happened.
func TestExtendAtTheEnd(t *testing.T) {
	for name, after := range map[string]time.Duration{"before": -1, "at the end": 0, "behind": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, asked := waitingRun(t)
				defer f.Close()
				errs := make([]error, 20)
				var all sync.WaitGroup
				for i := range errs {
					all.Go(func() {
						time.Sleep(time.Until(asked.Expires.Add(after)))
						_, errs[i] = f.Extend(t.Context(), "r", until(asked.Expires.Add(time.Hour)))
					})
				}
				all.Wait()
				for _, err := range errs {
					if (err == nil) != (after < 0) || err != nil && (tool.KindOf(err) != tool.KindConflict || !strings.Contains(err.Error(), "nobody decided until 2000-01-01T01:00:00Z, which counts as a No")) {
						t.Errorf("got %v", err)
					}
				}
				time.Sleep(time.Minute) // virtual
				synctest.Wait()
				if d, err := f.Decision(t.Context(), "r", "d1"); err != nil || d.Waits != (after < 0) {
					t.Errorf("a minute behind the first end: %+v, %v", d, err)
				}
				f.end()
				d, err := f.Decision(t.Context(), "r", "d1")
				if ended := d.MadeAt.Sub(asked.Expires); err != nil || d.Made == nil || d.Made.Verdict != loop.VerdictExpired || (ended == time.Hour) != (after < 0) {
					t.Errorf("it ended %s behind the first end: %+v, %v", ended, d.Made, err)
				}
				messages := f.model.seen()[1].Messages
				read := messages[len(messages)-1].Blocks[0].ToolResult.Content[0].Text
				if want := map[bool]string{true: "within 2h0m0s,", false: "within 1h0m0s,"}[after < 0]; !strings.Contains(read, want) {
					t.Errorf("the model reads %q, want %q", read, want)
				}
			})
		})
	}
}

// The question of a tool waits no longer than its call.
func TestExtendTheQuestionOfATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, _ := askFixture(t, askingModel(tool.QuestionPerson, nil), true, nil)
		f.start(loop.Task{})
		synctest.Wait()
		d, err := f.Decision(t.Context(), "r", "d1")
		if err != nil || d.Question == nil || !d.Question.Expires.Equal(d.Expires) {
			t.Fatalf("%+v, %v", d, err)
		}
		if _, err := f.Extend(t.Context(), "r", until(d.Expires.Add(1))); tool.KindOf(err) != tool.KindInvalidArgument || !strings.Contains(err.Error(), "when its tool gives up") {
			t.Errorf("%v", err)
		}
	})
}

// A store in files keeps the end, and lists by it.
func TestExtendInFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	open := func() (*sqlite.Store, *fixture) {
		store, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{t: t, store: store, model: turns(response(model.StopToolUse, call("a", "serial"))), tools: newTools(careful)}
		f.open(withPeople)
		return store, f
	}
	store, f := open()
	f.start(loop.Task{})
	for e, err := range f.WatchRun(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Payload.Type() == loop.TypeDecisionRequested {
			break
		}
	}
	end := time.Now().Add(50 * time.Hour).UTC()
	if _, err := f.Extend(t.Context(), "r", until(end)); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store, f = open()
	list, _, err := f.ListDecisions(t.Context(), agent.DecisionQuery{})
	if err != nil || len(list) != 1 || !list[0].Expires.Equal(end) || list[0].Run.ID != "r" {
		t.Errorf("%+v, %v", list, err)
	}
	page, place, err := store.Waiting(t.Context(), runstore.WaitingQuery{Limit: 1})
	if err != nil || len(page) != 1 || place.DecideBy != end.UnixNano() {
		t.Errorf("the place of the run is %+v, %v, want %d", place, err, end.UnixNano())
	}
	f.Close()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}
