package pluginwire

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/tool"
)

type valueKey struct{}

// TestCallContextIsAContext: whoever waits for its end, or for that of what is derived from it, learns it, when and why.
func TestCallContextIsAContext(t *testing.T) {
	stopped := &tool.Error{Kind: tool.KindCancelled, Message: "stopped"}
	for name, tc := range map[string]struct {
		timeout time.Duration
		end     func(c *callContext, stream context.CancelCauseFunc)
		after   time.Duration
		err     error
		kind    tool.Kind
	}{
		"cancelled":         {end: func(c *callContext, _ context.CancelCauseFunc) { c.end(stopped) }, err: context.Canceled, kind: tool.KindCancelled},
		"over":              {end: func(c *callContext, _ context.CancelCauseFunc) { c.end(errCallOver) }, err: context.Canceled, kind: tool.KindCancelled},
		"over in time":      {timeout: time.Hour, end: func(c *callContext, _ context.CancelCauseFunc) { c.end(errCallOver) }, err: context.Canceled, kind: tool.KindCancelled},
		"at its deadline":   {timeout: time.Hour, after: time.Hour, err: context.DeadlineExceeded, kind: tool.KindTimeout},
		"with its stream":   {timeout: time.Hour, end: func(_ *callContext, stream context.CancelCauseFunc) { stream(stopped) }, err: context.Canceled, kind: tool.KindCancelled},
		"over and too late": {timeout: time.Hour, end: func(c *callContext, _ context.CancelCauseFunc) { c.end(stopped); time.Sleep(2 * time.Hour) }, err: context.Canceled, kind: tool.KindCancelled},
	} {
		for _, waiting := range []bool{true, false} { // for its end, before it comes
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					stream, end := context.WithCancelCause(context.WithValue(t.Context(), valueKey{}, "v"))
					defer end(nil)
					var c callContext
					c.init(stream, tc.timeout)
					began := time.Now()
					seen := []context.Context{&c}
					if waiting {
						derived, cancel := context.WithCancel(context.WithValue(&c, valueKey{}, "w"))
						defer cancel()
						seen = append(seen, derived)
					}
					if c.Err() != nil || context.Cause(&c) != nil || c.Value(valueKey{}) != "v" {
						t.Errorf("it ended before it did: %v", c.Err())
					}
					if deadline, ok := c.Deadline(); ok != (tc.timeout > 0) || ok && !deadline.Equal(began.Add(tc.timeout)) {
						t.Errorf("its deadline is %v, %t", deadline, ok)
					}
					if tc.end != nil {
						tc.end(&c, end)
					}
					time.Sleep(tc.after)
					synctest.Wait()
					if waiting && seen[1].Err() == nil {
						t.Fatal("what is derived from it has not ended")
					}
					for _, ctx := range seen {
						if ctx.Err() != tc.err || tool.KindOf(context.Cause(ctx)) != tc.kind || !errors.As(context.Cause(ctx), new(*tool.Error)) {
							t.Errorf("it ended with %v because of %v, want %v", ctx.Err(), context.Cause(ctx), tc.err)
						}
						<-ctx.Done()
					}
					if c.Value(valueKey{}) != "v" {
						t.Error("its end took the values")
					}
				})
			})
		}
	}
}

// TestCallContextTakesNothingUnasked: a call whose tool does not wait for its end has no timer and no channel.
func TestCallContextTakesNothingUnasked(t *testing.T) {
	var c *callContext
	if n := testing.AllocsPerRun(100, func() {
		c = &callContext{}
		c.init(t.Context(), time.Hour)
		if _, ok := c.Deadline(); !ok || c.Err() != nil || c.Value(valueKey{}) != nil {
			t.Error("it is no context")
		}
		c.end(errCallOver)
	}); n > 1 {
		t.Errorf("it makes %v allocations, want that of itself", n)
	}
	if context.Cause(c).Error() != "the call has ended" {
		t.Errorf("it ended because of %v", context.Cause(c))
	}
}

// TestCallContextStartsNoGoroutine: what is derived from it costs what it does of a context of the standard library, also with a
// value between them. A goroutine that waits for its end would cost more.
func TestCallContextStartsNoGoroutine(t *testing.T) {
	var c callContext
	c.init(t.Context(), time.Hour)
	seen := testing.AllocsPerRun(10, func() {
		derived, cancel := context.WithTimeout(context.WithValue(&c, valueKey{}, 1), time.Minute)
		cancel()
		<-derived.Done()
	})
	standard, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	_ = standard.Done()
	if want := testing.AllocsPerRun(10, func() {
		derived, cancel := context.WithTimeout(context.WithValue(standard, valueKey{}, 1), time.Minute)
		cancel()
		<-derived.Done()
	}); seen > want {
		t.Errorf("to derive from it takes %v allocations, from one of the standard library %v", seen, want)
	}
}
