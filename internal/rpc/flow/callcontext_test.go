package flow_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/rpc/flow"
)

type valueKey struct{}

// The context, and a context derived from it, end at the right time, with the right error and
// cause.
func TestCallContextIsAContext(t *testing.T) {
	stopped, late := errors.New("stopped"), errors.New("late")
	for name, tc := range map[string]struct {
		timeout time.Duration
		end     func(c *flow.CallContext, stream context.CancelCauseFunc)
		after   time.Duration
		err     error
		cause   error
	}{
		"cancelled":         {end: func(c *flow.CallContext, _ context.CancelCauseFunc) { c.End(stopped) }, err: context.Canceled, cause: stopped},
		"over":              {end: func(c *flow.CallContext, _ context.CancelCauseFunc) { c.End(nil) }, err: context.Canceled, cause: context.Canceled},
		"over in time":      {timeout: time.Hour, end: func(c *flow.CallContext, _ context.CancelCauseFunc) { c.End(nil) }, err: context.Canceled, cause: context.Canceled},
		"at its deadline":   {timeout: time.Hour, after: time.Hour, err: context.DeadlineExceeded, cause: late},
		"with its stream":   {timeout: time.Hour, end: func(_ *flow.CallContext, stream context.CancelCauseFunc) { stream(stopped) }, err: context.Canceled, cause: stopped},
		"over and too late": {timeout: time.Hour, end: func(c *flow.CallContext, _ context.CancelCauseFunc) { c.End(stopped); time.Sleep(2 * time.Hour) }, err: context.Canceled, cause: stopped},
	} {
		for _, waiting := range []bool{true, false} { // whether a derived context exists before the end
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					stream, end := context.WithCancelCause(context.WithValue(t.Context(), valueKey{}, "v"))
					defer end(nil)
					var c flow.CallContext
					c.Init(stream, tc.timeout, func() error { return late })
					began := time.Now()
					seen := []context.Context{&c}
					if waiting {
						derived, cancel := context.WithCancel(context.WithValue(&c, valueKey{}, "w"))
						defer cancel()
						seen = append(seen, derived)
					}
					if c.Err() != nil || context.Cause(&c) != nil || c.Value(valueKey{}) != "v" {
						t.Errorf("the context ended too early: %v", c.Err())
					}
					if deadline, ok := c.Deadline(); ok != (tc.timeout > 0) || ok && !deadline.Equal(began.Add(tc.timeout)) {
						t.Errorf("the deadline is %v, %t", deadline, ok)
					}
					if tc.end != nil {
						tc.end(&c, end)
					}
					time.Sleep(tc.after)
					synctest.Wait()
					if waiting && seen[1].Err() == nil {
						t.Fatal("the derived context has not ended")
					}
					for _, ctx := range seen {
						if ctx.Err() != tc.err || !errors.Is(context.Cause(ctx), tc.cause) {
							t.Errorf("the context ended with %v because of %v, want %v because of %v", ctx.Err(), context.Cause(ctx), tc.err, tc.cause)
						}
						<-ctx.Done()
					}
					if c.Value(valueKey{}) != "v" {
						t.Error("the values are lost after the end")
					}
				})
			})
		}
	}
}

// A context that no goroutine waits for has no timer and no channel.
func TestCallContextCreatesNothingUnused(t *testing.T) {
	var c *flow.CallContext
	if n := testing.AllocsPerRun(100, func() {
		c = &flow.CallContext{}
		c.Init(t.Context(), time.Hour, nil)
		if _, ok := c.Deadline(); !ok || c.Err() != nil || c.Value(valueKey{}) != nil {
			t.Error("the context has ended, or has no deadline")
		}
		c.End(nil)
	}); n > 1 {
		t.Errorf("the context makes %v allocations, want 1", n)
	}
}

// Deriving from the context costs as much as deriving from a standard context, also with a value
// between them. For a foreign context type, package context would start a goroutine.
func TestCallContextStartsNoGoroutine(t *testing.T) {
	var c flow.CallContext
	c.Init(t.Context(), time.Hour, func() error { return context.DeadlineExceeded })
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
		t.Errorf("deriving from it takes %v allocations, deriving from a standard context %v", seen, want)
	}
}
