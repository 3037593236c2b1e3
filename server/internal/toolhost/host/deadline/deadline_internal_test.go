package deadline

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestADeadlineOfAProcessThatStoodStill sets deadlines that passed while the process did not run.
func TestADeadlineOfAProcessThatStoodStill(t *testing.T) {
	for _, c := range []struct {
		name string
		late time.Duration
		then func(*Timer)
		want time.Duration // from the moment at which the process went on to the end of the context
	}{
		{"long", time.Hour, func(*Timer) {}, stoodStill},
		{"a little", stoodStill - 1, func(*Timer) {}, 0},
		{"long, and progress was made meanwhile", time.Hour, func(timer *Timer) { timer.Extend(time.Minute) }, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var timer Timer
				timer.Init(t.Context())
				timer.SetExtendable(24*time.Hour, 48*time.Hour)
				defer timer.Stop()
				timer.end = time.Now().Add(-c.late)
				timer.pass()
				c.then(&timer)
				went := time.Now()
				<-timer.Context().Done()
				if got := time.Since(went); got != c.want || !errors.Is(context.Cause(timer.Context()), ErrPassed) {
					t.Errorf("the context ended after %v with %v, want %v", got, context.Cause(timer.Context()), c.want)
				}
			})
		})
	}
}
