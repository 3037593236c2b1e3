package flow_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/rpc/flow"
)

// TestLifetimeIsAContext: who waits for its end, before or after, learns it and why; what is derived from it ends with it.
func TestLifetimeIsAContext(t *testing.T) {
	for name, tc := range map[string]struct{ cause, want error }{
		"a cause":  {io.EOF, io.EOF},
		"no cause": {nil, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &flow.Lifetime{}
				derived, cancel := context.WithTimeout(l, time.Hour)
				defer cancel()
				early, heard, stopped, after := l.Done(), 0, false, make(chan struct{})
				l.OnEnd(func() { t.Error("who does not wait any more was told") })
				l.OnEnd(func() { heard++ })
				context.AfterFunc(l, func() { close(after) })
				if stop := context.AfterFunc(l, func() { stopped = true }); !stop() || stop() {
					t.Error("what is to come cannot be stopped just once")
				}
				if l.Err() != nil || context.Cause(l) != nil {
					t.Fatalf("it ended before it did: %v", l.Err())
				}
				l.End(tc.cause)
				l.End(errors.New("too late"))
				<-early
				<-l.Done()
				<-derived.Done()
				<-after
				l.OnEnd(func() { heard++ })
				if stop := context.AfterFunc(l, func() {}); stop() {
					t.Error("what has come was stopped")
				}
				synctest.Wait()
				if heard != 2 || stopped {
					t.Errorf("%d of 2 were told; what was stopped came: %v", heard, stopped)
				}
				for _, ctx := range []context.Context{l, derived} {
					if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(ctx), tc.want) {
						t.Errorf("it ended with %v because of %v, want %v", ctx.Err(), context.Cause(ctx), tc.want)
					}
				}
			})
		})
	}
}
