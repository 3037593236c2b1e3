package agenttelemetry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// Runs that no process has are counted with those of this one, by one question in ten seconds, and
// as they were last known if the store fails.
func TestRunsThatNoProcessHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &Observer{waiting: map[string]time.Time{"mine": time.Now().Add(-time.Minute)}}
		if runs, longest, parked := o.waits(t.Context()); runs != 1 || longest != time.Minute || parked >= 0 {
			t.Errorf("without a store: %d runs, %s, %d parked", runs, longest, parked)
		}
		var asked int
		stored, since, failure := 2, time.Now().Add(-time.Hour), error(nil)
		o.shared = &shared{count: func(ctx context.Context) (runstore.Census, error) {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("the question has no bound")
			}
			asked++
			return runstore.Census{Waiting: stored, Since: since, Parked: 10 + stored}, failure
		}}
		for _, step := range []struct {
			does    string
			later   time.Duration
			stored  int
			failure error
			asked   int
			runs    int
			longest time.Duration
		}{
			{does: "the first question", stored: 2, asked: 1, runs: 3, longest: time.Hour},
			{does: "soon after", later: 9 * time.Second, stored: 5, asked: 1, runs: 3, longest: time.Hour + 9*time.Second},
			{does: "the next question", later: time.Second, stored: 5, asked: 2, runs: 6, longest: time.Hour + 10*time.Second},
			{does: "a failure", later: 10 * time.Second, failure: errors.New("gone"), asked: 3, runs: 6, longest: time.Hour + 20*time.Second},
			{does: "soon after a failure", later: time.Second, asked: 3, runs: 6, longest: time.Hour + 21*time.Second},
			{does: "none is left", later: 10 * time.Second, asked: 4, runs: 1, longest: time.Minute + 31*time.Second},
		} {
			time.Sleep(step.later)
			stored, failure = step.stored, step.failure
			runs, longest, parked := o.waits(t.Context())
			if runs != step.runs || parked != 9+runs || longest != step.longest || asked != step.asked {
				t.Errorf("%s: %d runs, %d parked, %s after %d questions; want %d, %s after %d", step.does, runs, parked, longest, asked, step.runs, step.longest, step.asked)
			}
		}
	})
}
