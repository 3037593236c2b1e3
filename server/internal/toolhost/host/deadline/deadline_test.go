package deadline_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/deadline"
)

// TestEachTimerEndsAtItsDeadline sets deadlines out of order, moves some of them, and stops one
// timer.
func TestEachTimerEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		timers := map[int]*deadline.Timer{}
		for _, s := range []int{30, 10, 20, 40, 5, 25} {
			timers[s] = &deadline.Timer{}
			timers[s].Init(t.Context())
			timers[s].SetExtendable(time.Duration(s)*time.Second, 33*time.Second)
		}
		timers[20].Stop()
		timers[20].Stop()
		timers[20].Set(time.Second)
		timers[40].Set(7 * time.Second)
		timers[10].Extend(time.Hour)
		timers[10].Extend(time.Second)
		if got := timers[10].Limit(); got != 33*time.Second {
			t.Errorf("the extended timer has %v, want 33 s", got)
		}
		for _, want := range []struct{ timer, at int }{{5, 5}, {40, 7}, {25, 25}, {30, 30}, {10, 33}} {
			ctx := timers[want.timer].Context()
			<-ctx.Done()
			if at := time.Duration(want.at) * time.Second; time.Since(began) != at || !errors.Is(context.Cause(ctx), deadline.ErrPassed) {
				t.Errorf("the timer of %d s ended after %v with %v, want %v", want.timer, time.Since(began), context.Cause(ctx), at)
			}
		}
		timers[5].Extend(time.Hour)
		if got := timers[5].Limit(); got != 5*time.Second {
			t.Errorf("a timer whose deadline has passed was extended to %v", got)
		}
		if err := context.Cause(timers[20].Context()); errors.Is(err, deadline.ErrPassed) {
			t.Errorf("a stopped timer ended with %v", err)
		}
	})
}

// A limit is shown as the caller wrote it, although a transport or an extension changes it a
// little.
func TestLimitsAreForPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		timer := &deadline.Timer{}
		timer.Init(t.Context())
		timer.SetExtendable(time.Second, time.Minute)
		time.Sleep(3337 * time.Nanosecond)
		timer.Extend(time.Second)
		if got := timer.Limit(); got != time.Second {
			t.Errorf("got %v", got)
		}
		timer.Set(1500 * time.Microsecond)
		if got := timer.Limit(); got != 1500*time.Microsecond {
			t.Errorf("got %v", got)
		}
		timer.Stop()
	})
}

// A call does not sleep past its deadline, and a cancel ends the sleep.
func TestSleepEndsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		timer := &deadline.Timer{}
		timer.Init(t.Context())
		timer.Set(time.Minute)
		began := time.Now()
		if timer.Sleep(2*time.Minute) || time.Since(began) > 0 {
			t.Error("a sleep past the deadline did not return at once")
		}
		if !timer.Sleep(30*time.Second) || time.Since(began) != 30*time.Second {
			t.Error("a sleep before the deadline did not take its time")
		}
		time.AfterFunc(time.Second, func() { timer.Cancel(errors.New("enough")) })
		if timer.Sleep(20*time.Second) || time.Since(began) != 31*time.Second {
			t.Error("a sleep did not end with the context")
		}
		timer.Stop()
	})
}

// A call ends with the parent of its context, whether it has a deadline or not, and gets none
// later.
func TestTimersEndWithTheirParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopping := errors.New("stopping")
		parent, stop := context.WithCancelCause(t.Context())
		with, without := &deadline.Timer{}, &deadline.Timer{}
		with.Init(parent)
		without.Init(parent)
		with.SetExtendable(time.Hour, 2*time.Hour)
		stop(stopping)
		without.Set(time.Hour)
		with.Extend(2 * time.Hour)
		time.Sleep(3 * time.Hour)
		for _, timer := range []*deadline.Timer{with, without} {
			if !errors.Is(context.Cause(timer.Context()), stopping) {
				t.Errorf("the context ended with %v", context.Cause(timer.Context()))
			}
			timer.Stop()
		}
	})
}
