package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/tool"
)

// In any 60 seconds, a session starts exactly as many calls as the limit, and the error says when
// the next one may start. A check without take counts nothing.
func TestRatesAreExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, call := throttle.NewRates(), &tool.Call{Tool: "fetch", Principal: "p", Session: "s"}
		for i := range 3 {
			if err := r.Check(call, throttle.Limits{Session: 3}, false); err != nil {
				t.Fatalf("check %d: %v", i, err)
			}
			if err := r.Check(call, throttle.Limits{Session: 3}, true); err != nil {
				t.Fatalf("start %d: %v", i, err)
			}
			time.Sleep(10 * time.Second)
		}
		err := r.Check(call, throttle.Limits{Session: 3}, true)
		if tool.KindOf(err) != tool.KindRateLimited || err.RetryAfter != 30*time.Second {
			t.Fatalf("the fourth start: %v, retry after %v", err, err.RetryAfter)
		}
		if err := r.Check(call, throttle.Limits{Session: 1}, true); err == nil || err.RetryAfter != 50*time.Second {
			t.Errorf("a start under a lower limit: %v", err)
		}
		if err := r.Check(&tool.Call{Tool: "fetch", Principal: "p", Session: "other"}, throttle.Limits{Session: 3}, true); err != nil {
			t.Errorf("another session: %v", err)
		}
		time.Sleep(err.RetryAfter)
		if err := r.Check(call, throttle.Limits{Session: 3}, true); err != nil {
			t.Errorf("after the wait: %v", err)
		}
		if err := r.Check(call, throttle.Limits{Session: 3}, true); err == nil || err.RetryAfter != 10*time.Second {
			t.Errorf("the next one, after the minute of the first: %v", err)
		}
		if err := r.Check(call, throttle.Limits{Session: 0}, true); err != nil {
			t.Errorf("without a limit: %v", err)
		}
	})
}

// A changed limit applies to the next call. An upgrade of the plugin may change the limit of a tool
// at any time.
func TestRatesFollowAnotherLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, call := throttle.NewRates(), &tool.Call{Tool: "fetch", Principal: "p", Session: "s"}
		starts := func(limit int) (n int) {
			for ; r.Check(call, throttle.Limits{Session: limit}, true) == nil; n++ {
			}
			return n
		}
		if n := starts(2); n != 2 {
			t.Errorf("%d starts with the limit 2", n)
		}
		if n := starts(5); n != 3 {
			t.Errorf("%d more starts with the limit 5", n)
		}
		if n := starts(1); n != 0 {
			t.Errorf("%d more starts with the limit 1", n)
		}
		if n := starts(5); n != 0 {
			t.Errorf("%d more starts with the limit 5 again, and 5 calls have started", n)
		}
		time.Sleep(time.Minute)
		if n := starts(4); n != 4 {
			t.Errorf("%d starts a minute later", n)
		}
	})
}

// An agent has its own limit in all sessions of a principal, besides that of each session. What one
// limit refuses does not count for the other.
func TestRatesOfAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, limits := throttle.NewRates(), throttle.Limits{Session: 3, Agent: 2}
		for i, step := range []struct {
			principal, session, agent string
			limits                    throttle.Limits
			refused                   string
		}{
			{"p", "a", "reviewer", limits, ""},
			{"p", "b", "reviewer", limits, ""},
			{"p", "c", "reviewer", limits, "of the agent reviewer"},
			{"p", "a", "writer", limits, ""},
			{"q", "a", "reviewer", limits, ""},
			{"p", "a", "", throttle.Limits{Session: 3}, ""},
			{"p", "a", "writer", limits, "of a session"},
			{"p", "d", "writer", limits, ""}, // the refused call did not count
			{"p", "e", "writer", throttle.Limits{Agent: 2}, "of the agent writer"},
		} {
			err := r.Check(&tool.Call{Tool: "fetch", Principal: step.principal, Session: step.session, Agent: step.agent}, step.limits, true)
			if (err == nil) != (step.refused == "") || err != nil && !strings.Contains(err.Error(), step.refused) {
				t.Errorf("step %d: %v, want %q", i, err, step.refused)
			}
		}
	})
}

// A call waits until another one leaves, and its wait ends with its context.
func TestConcurrencyAdmitsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := throttle.NewConcurrency(func(name string) (int, bool) { return map[string]int{"one": 1}[name], true })
		leave, err := c.Enter(t.Context(), "one", "red")
		if err != nil {
			t.Fatal(err)
		}
		entered := make(chan int, 2)
		for i := range 2 {
			go func() { // ends when the call before it leaves
				leave, err := c.Enter(t.Context(), "one", "red")
				if err != nil {
					t.Error(err)
					return
				}
				entered <- i
				leave()
				leave()
			}()
			synctest.Wait()
		}
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(enough)
		if _, err := c.Enter(ctx, "one", "red"); !errors.Is(err, enough) {
			t.Errorf("a call that is cancelled while it waits: %v", err)
		}
		if free, err := c.Enter(t.Context(), "other", "red"); err != nil {
			t.Errorf("a tool without a limit: %v", err)
		} else {
			free()
		}
		leave()
		if first, second := <-entered, <-entered; first != 0 || second != 1 {
			t.Errorf("the calls entered in the order %d, %d", first, second)
		}
	})
}

// A call that says twice that it has left makes room once.
func TestLeavingTwiceMakesRoomOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := throttle.NewConcurrency(func(string) (int, bool) { return 2, true })
		var leave func()
		for range 2 {
			var err error
			if leave, err = c.Enter(t.Context(), "tool", "red"); err != nil {
				t.Fatal(err)
			}
		}
		leave()
		leave()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, want := range []bool{true, false} {
			if _, err := c.Enter(ctx, "tool", "red"); (err == nil) != want {
				t.Errorf("the next call entered: %v, want %v", err == nil, want)
			}
		}
	})
}

// A call that gives up its wait makes no room for one that waits longer.
func TestACancelledWaitMakesNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := throttle.NewConcurrency(func(string) (int, bool) { return 1, true })
		leave, err := c.Enter(t.Context(), "tool", "red")
		if err != nil {
			t.Fatal(err)
		}
		var entered atomic.Bool
		go func() { // ends when the first call leaves
			if leave, err := c.Enter(t.Context(), "tool", "blue"); err == nil {
				entered.Store(true)
				leave()
			}
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := c.Enter(ctx, "tool", "green"); err == nil {
			t.Error("a second call entered")
		}
		synctest.Wait()
		if entered.Load() {
			t.Error("a call entered beside the first one")
		}
		leave()
		synctest.Wait()
		if !entered.Load() {
			t.Error("the call that waits does not enter")
		}
	})
}

// A changed limit applies to calls that wait, and ends no call that runs. A tool that is gone keeps
// its limit.
func TestConcurrencyFollowsAnotherLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit, known := 1, true
		c := throttle.NewConcurrency(func(string) (int, bool) { return limit, known })
		var entered atomic.Int32
		leaves := make(chan func(), 6)
		for range 6 {
			go func() { // ends when the limit allows its call
				leave, err := c.Enter(t.Context(), "tool", "red")
				if err != nil {
					t.Error(err)
					return
				}
				entered.Add(1)
				leaves <- leave
			}()
		}
		check := func(when string, want int32) {
			t.Helper()
			synctest.Wait()
			if got := entered.Load(); got != want {
				t.Errorf("%s, %d calls have entered; want %d", when, got, want)
			}
		}
		check("with the limit 1", 1)
		limit = 4
		c.Refresh()
		check("with the limit 4", 4)
		limit = 2
		c.Refresh()
		(<-leaves)()
		(<-leaves)()
		check("with the limit 2 and two calls that run", 4)
		(<-leaves)()
		check("after one more call has left", 5)
		limit, known = 0, false
		c.Refresh()
		check("when the tool is gone", 5)
		limit, known = 0, true
		c.Refresh()
		check("without a limit", 6)
	})
}

// A tenant with many waiting calls does not delay another tenant by more than one call.
func TestTenantsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := throttle.NewConcurrency(func(string) (int, bool) { return 1, true })
		leave, err := c.Enter(t.Context(), "tool", "red")
		if err != nil {
			t.Fatal(err)
		}
		entered := make(chan string, 10)
		enter := func(ctx context.Context, tenant, name string) {
			leave, err := c.Enter(ctx, "tool", tenant)
			if err != nil {
				return
			}
			entered <- name
			leave()
		}
		gone, cancel := context.WithCancel(t.Context())
		go enter(gone, "gone", "gone") // ends with the cancel
		synctest.Wait()
		for _, call := range [][2]string{{"red", "red1"}, {"red", "red2"}, {"red", "red3"}, {"blue", "blue1"}, {"blue", "blue2"}, {"green", "green1"}} {
			go enter(t.Context(), call[0], call[1]) // ends when its turn comes
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		leave()
		synctest.Wait()
		close(entered)
		var got []string
		for name := range entered {
			got = append(got, name)
		}
		if want := []string{"red1", "blue1", "green1", "red2", "blue2", "red3"}; !slices.Equal(got, want) {
			t.Errorf("the calls entered in the order %v, want %v", got, want)
		}
	})
}

// A full quota refuses calls of its tenant or principal only, and says when the next one may start.
func TestQuotas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := throttle.NewUsage(nil)
		q := &throttle.Quotas{
			Tenant: throttle.Quota{ConcurrentCalls: 3, StartsPerMinute: 5, LaunchesPerMinute: 1}, Principal: throttle.Quota{ConcurrentCalls: 2},
			Tenants: map[string]throttle.Quota{"default": {}}, Principals: map[string]throttle.Quota{"red/big": {}},
		}
		begin := func(key string, want time.Duration, names string) {
			t.Helper()
			err := u.Begin(t.Context(), q, key)
			switch {
			case want == 0 && err != nil:
				t.Errorf("%s: %v", key, err)
			case want > 0 && (tool.KindOf(err) != tool.KindRateLimited || err.RetryAfter != want || !strings.Contains(err.Message, names)):
				t.Errorf("%s: %v, want the quota %s and %v", key, err, names, want)
			}
		}
		begin("red/ada", 0, "")
		begin("red/ada", 0, "")
		begin("red/ada", time.Second, "principal red/ada has 2 calls in progress, which is its quota concurrent_calls")
		begin("red/bob", 0, "")
		begin("red/big", time.Second, "tenant red has 3 calls in progress")
		for i := range 3 {
			begin(fmt.Sprint("blue/", i), 0, "")
		}
		begin("blue/x", time.Second, "tenant blue has 3 calls in progress")
		for i := range 10 {
			begin(fmt.Sprint("x", i), 0, "")
		}
		time.Sleep(10 * time.Second)
		for range 2 { // a refused call does not count
			u.End("red/ada")
			begin("red/big", 0, "")
		}
		u.End("red/bob")
		begin("red/big", 50*time.Second, "tenant red has started 5 calls in the last 60 seconds, which is its quota starts_per_minute")
		time.Sleep(50 * time.Second)
		begin("red/big", 0, "")
		begin("blue/x", time.Second, "tenant blue has 3 calls in progress") // also after their starts are forgotten
		if err := u.Launch(q, "red"); err != nil {
			t.Error(err)
		}
		if err := u.Launch(q, "red"); tool.KindOf(err) != tool.KindRateLimited || err.RetryAfter != time.Minute {
			t.Errorf("a second launch: %v", err)
		}
		for range 100 {
			if err := u.Launch(q, "default"); err != nil {
				t.Fatal(err)
			}
		}
		begin("green/ada", 0, "")
		begin("green/ada", 0, "")
		u.End("green/ada")
		begin("green/ada", 0, "")
		begin("green/ada", time.Second, "principal green/ada has 2 calls in progress")
		time.Sleep(50 * time.Second)
		if err := u.Launch(q, "white"); err != nil {
			t.Error(err)
		}
		time.Sleep(10 * time.Second)
		begin("green/bob", 0, "") // what is older than a minute is forgotten now
		if err := u.Launch(q, "white"); err == nil || err.RetryAfter != 50*time.Second {
			t.Errorf("a second launch within a minute: %v", err)
		}
	})
}

// A cancel that meets the admission of its call gives the place back.
func TestACancelThatMeetsTheAdmissionLeaksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := throttle.NewConcurrency(func(string) (int, bool) { return 1, true })
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		refused := 0
		for range 64 { // the call has its place, and its context has ended: either may count
			leave, err := c.Enter(ended, "a", "blue")
			if err != nil {
				refused++
				continue
			}
			leave()
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		leave, err := c.Enter(ctx, "a", "blue")
		if err != nil || refused == 0 {
			t.Fatalf("after %d calls that were cancelled: %v", refused, err)
		}
		leave()
	})
}
