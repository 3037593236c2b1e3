package host_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// ended reads an execution to its end.
func ended(t *testing.T, e tool.Execution) tool.Outcome {
	t.Helper()
	for {
		ev, err := e.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ev.Ended != nil {
			return *ev.Ended
		}
	}
}

// Each piece of the arguments has a deadline, and so have all pieces together.
func TestArgumentsHaveADeadline(t *testing.T) {
	for name, every := range map[string]time.Duration{"nothing comes": 0, "a byte now and then": 50 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, hosttest.Tools(), func(c *host.Config) {
					c.ArgumentsTimeout, c.MaxTimeout = time.Minute, 5*time.Minute
				})
				e, err := r.Open(t.Context(), call("echo", `{"text":"`), false)
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				began := time.Now()
				for every > 0 && time.Since(began) < 4*time.Minute {
					time.Sleep(every) // virtual
					if err := e.Send(t.Context(), []byte("x"), false); err != nil {
						t.Fatal(err)
					}
				}
				o := ended(t, e)
				want := time.Minute
				if every > 0 {
					want = 5 * time.Minute
				}
				if took := time.Since(began); took != want || o.Err == nil || o.Err.Kind != tool.KindTimeout {
					t.Errorf("after %v the call ended with %v, want a timeout after %v", took, o.Err, want)
				}
			})
		})
	}
}

// Whatever happens to a call, its reservation is released at the end. If there is no room for what
// a caller sends, the call is refused.
func TestMemoryIsGivenBack(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(64<<20, 0)
		account, err := b.Open("somebody")
		if err != nil {
			t.Fatal(err)
		}
		ctx := budget.NewContext(t.Context(), account)
		r := newRig(t, append(hosttest.Tools(), resting), nil)
		open := func(c tool.Call, complete bool) tool.Execution {
			t.Helper()
			e, err := r.Open(ctx, c, complete)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		whole := open(call("echo", `{"text":"`+large+`"}`), true)
		ended(t, whole)
		if b.Used() == 0 {
			t.Error("nothing is reserved for a result that its caller still has")
		}
		whole.Close()

		mine := withID("echo", `{"text":"`+large+`"}`)
		for range 3 { // the call and its repetitions
			e := open(mine, true)
			ended(t, e)
			e.Close()
		}
		open(call("echo", `{"text":"`+large), false).Close()
		abandoned := open(call("echo", `{"text":"`+large), false)
		abandoned.Cancel("enough")
		ended(t, abandoned)
		abandoned.Close()
		leaving := open(call("rest", `{}`), true)
		leaving.Close()
		invalid := open(call("echo", `{"text":[`+strings.Repeat("1,", 1<<19)+`1]}`), true)
		ended(t, invalid)
		invalid.Close()

		exceedBudget(ctx, t, r, large)
		synctest.Wait()
		if used := b.Used(); used != 0 {
			t.Errorf("%d bytes are still reserved", used)
		}
	})
}

// exceedBudget begins calls until the budget refuses one, and checks that one that ends makes room
// for one piece.
func exceedBudget(ctx context.Context, t *testing.T, r *rig, large string) {
	t.Helper()
	var held []tool.Execution
	var refused error
	for refused == nil && len(held) < 64 {
		e, err := r.Open(ctx, call("echo", fmt.Sprintf(`{"text":"%d%s`, len(held), large)), false)
		if refused = err; err == nil {
			held = append(held, e)
		}
	}
	if tool.KindOf(refused) != tool.KindRateLimited || !strings.Contains(refused.Error(), "nothing was executed") {
		t.Errorf("a call beyond the budget was refused with %v", refused)
	}
	for i, e := range held[:len(held)-1] {
		e.Close()
		if i == 0 { // there is room for exactly one more piece
			last := held[len(held)-1]
			_ = last.Send(ctx, []byte(large), false)
			_ = last.Send(ctx, []byte(large+large), false)
			if o := ended(t, last); o.Err == nil || o.Err.Kind != tool.KindRateLimited {
				t.Errorf("a call whose arguments grow beyond the budget ended with %v", o.Err)
			}
			last.Close()
		}
	}
}
