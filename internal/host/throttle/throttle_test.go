package throttle_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/host/throttle"
	"github.com/toolhost/toolhost/tool"
)

// TestRatesAreExact: in any 60 seconds, a session starts as many calls as the limit, and the error
// says when the next one may start. A check that does not take counts nothing.
func TestRatesAreExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, call := throttle.NewRates(), &tool.Call{Tool: "fetch", Principal: "p", Session: "s"}
		for i := range 3 {
			if err := r.Check(call, 3, false); err != nil {
				t.Fatalf("check %d: %v", i, err)
			}
			if err := r.Check(call, 3, true); err != nil {
				t.Fatalf("start %d: %v", i, err)
			}
			time.Sleep(10 * time.Second)
		}
		err := r.Check(call, 3, true)
		if tool.KindOf(err) != tool.KindRateLimited || err.RetryAfter != 30*time.Second {
			t.Fatalf("the fourth start: %v, retry after %v", err, err.RetryAfter)
		}
		if err := r.Check(&tool.Call{Tool: "fetch", Principal: "p", Session: "other"}, 3, true); err != nil {
			t.Errorf("another session: %v", err)
		}
		time.Sleep(err.RetryAfter)
		if err := r.Check(call, 3, true); err != nil {
			t.Errorf("after the wait: %v", err)
		}
		if err := r.Check(call, 0, true); err != nil {
			t.Errorf("without a limit: %v", err)
		}
	})
}

// TestRatesFollowAnotherLimit: an upgrade of the plugin may change the limit of a tool at any time.
func TestRatesFollowAnotherLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, call := throttle.NewRates(), &tool.Call{Tool: "fetch", Principal: "p", Session: "s"}
		starts := func(limit int) (n int) {
			for ; r.Check(call, limit, true) == nil; n++ {
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
		time.Sleep(time.Minute)
		if n := starts(4); n != 4 {
			t.Errorf("%d starts a minute later", n)
		}
	})
}

// TestConcurrencyAdmitsInOrder: a call waits until another one leaves, and its wait ends with its
// context.
func TestConcurrencyAdmitsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := throttle.NewConcurrency(func(name string) int { return map[string]int{"one": 1}[name] })
		leave, err := c.Enter(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		entered := make(chan int, 2)
		for i := range 2 {
			go func() { // ends when the call before it leaves
				leave, err := c.Enter(t.Context(), "one")
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
		if _, err := c.Enter(ctx, "one"); !errors.Is(err, enough) {
			t.Errorf("a call that is cancelled while it waits: %v", err)
		}
		if free, err := c.Enter(t.Context(), "other"); err != nil {
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
