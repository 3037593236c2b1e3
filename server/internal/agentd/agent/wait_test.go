package agent_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// waits is an observer that knows which runs wait for a person.
type waits struct {
	mu    sync.Mutex
	since map[string]time.Time
}

func (w *waits) RunWaits(run string, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if since.IsZero() {
		delete(w.since, run)
	} else {
		w.since[run] = since
	}
}

func (w *waits) Sampled() bool                 { return false }
func (w *waits) WorkBegan()                    {}
func (w *waits) WorkEnded(*agent.WorkEnd)      {}
func (w *waits) ModelAnswered(*agent.ModelEnd) {}
func (w *waits) CallEnded(*agent.CallEnd)      {}
func (w *waits) Asked(string)                  {}
func (w *waits) Appended(time.Duration, error) {}
func (w *waits) only(t *testing.T, run string) time.Time {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if run == "" && len(w.since) > 0 || run != "" && (len(w.since) != 1 || w.since[run].IsZero()) {
		t.Fatalf("the runs that wait are %v, want %q", w.since, run)
	}
	return w.since[run]
}

// The observer knows since when a run waits for a person. An agent that resumes the run reports the
// same time, so that an alert about a long wait is not postponed by a restart.
func TestRunWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &waits{since: map[string]time.Time{}}
		observed := func(c *agent.Config) {
			withPeople(c)
			c.Observer = w
		}
		m := turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("ok")))
		f := newFixture(t, m, newTools(careful), observed)
		w.only(t, "")
		f.start(loop.Task{})
		synctest.Wait()
		since := w.only(t, "r")
		time.Sleep(20 * time.Minute)
		f.Close()
		w.only(t, "")
		f.open(observed)
		defer f.Close()
		if n, err := f.Resume(t.Context()); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		synctest.Wait()
		if again := w.only(t, "r"); !again.Equal(since) {
			t.Errorf("after the restart the run waits since %s, want %s", again, since)
		}
		if _, err := f.Respond(t.Context(), "r", loop.DecisionMade{ID: "d1", Verdict: loop.VerdictApprove}); err != nil {
			t.Fatal(err)
		}
		f.end()
		synctest.Wait()
		w.only(t, "")
	})
}
