package host_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/memory"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// sharedCalls is a store that another toolhost uses, too.
type sharedCalls struct {
	*memory.Store
	// before is what another toolhost does just before this one begins a call, once.
	before func(callstore.Entry)
	// after is what others are told about a call just before this toolhost ends it, once.
	after func()
}

func (*sharedCalls) Shared() bool { return true }

func (s *sharedCalls) BeginWithin(ctx context.Context, e callstore.Entry, q callstore.Quota) error {
	if f := s.before; f != nil {
		s.before = nil
		f(e)
	}
	return s.Store.BeginWithin(ctx, e, q)
}

func (s *sharedCalls) End(ctx context.Context, key callstore.Key, out tool.Outcome) error {
	if f := s.after; f != nil {
		s.after = nil
		f()
	}
	return s.Store.End(ctx, key, out)
}

// Find says that another toolhost has each call that has begun.
func (s *sharedCalls) Find(ctx context.Context, key callstore.Key) (callstore.Entry, bool, error) {
	e, found, err := s.Store.Find(ctx, key)
	if found && e.State == callstore.StateBegun {
		e.Elsewhere = "tools-2"
	}
	return e, found, err
}

// Another toolhost begins a call after this one has seen that its id is free. The caller gets what
// became of the call there, and never that nothing was executed.
func TestAnotherToolhostBeginsMeanwhile(t *testing.T) {
	key := ledger.Key{Principal: "uid:7", Session: "s", ID: "once"}
	same := counted("once")
	text := func(s string) tool.Outcome {
		return tool.Outcome{Result: tool.Result{Content: []tool.Content{tool.Text(s)}}}
	}
	for name, test := range map[string]struct {
		other bool // the call there has other arguments
		there func(ctx context.Context, s *memory.Store) error
		kind  tool.Kind
		want  string
	}{
		"and ends it": {there: func(ctx context.Context, s *memory.Store) error { return s.End(ctx, key, text("there")) }, want: "there"},
		"and ends it later": {there: func(ctx context.Context, s *memory.Store) error {
			go func() { // ends by itself
				time.Sleep(3 * time.Second)
				_ = s.End(context.WithoutCancel(ctx), key, text("later"))
			}()
			return nil
		}, want: "later"},
		"and takes it back":    {there: func(ctx context.Context, s *memory.Store) error { return s.Forget(ctx, key) }, want: "1"},
		"and goes on":          {there: func(context.Context, *memory.Store) error { return nil }, kind: tool.KindOutcomeUnknown, want: "under way at the toolhost tools-2"},
		"with other arguments": {other: true, there: func(ctx context.Context, s *memory.Store) error { return s.End(ctx, key, text("there")) }, kind: tool.KindConflict},
		"and cannot say how it ended": {there: func(ctx context.Context, s *memory.Store) error {
			return s.End(ctx, key, tool.Outcome{Err: tool.Errorf(tool.KindOutcomeUnknown, "lost")})
		}, kind: tool.KindOutcomeUnknown, want: "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, err := memory.New(memory.Config{})
				if err != nil {
					t.Fatal(err)
				}
				shared := &sharedCalls{Store: store}
				shared.before = func(e callstore.Entry) {
					if test.other {
						e.Sum[0]++
					}
					if err := store.BeginWithin(t.Context(), e, callstore.Quota{}); err != nil {
						t.Error(err)
					}
					if err := test.there(t.Context(), store); err != nil {
						t.Error(err)
					}
				}
				r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.Calls = shared })
				defer r.Close()
				got := outcome(t, r, same)
				says, kind := got.Result.Text(), tool.Kind("")
				if got.Err != nil {
					says, kind = got.Err.Error(), got.Err.Kind
				}
				if kind != test.kind || !strings.Contains(says, test.want) {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}

// A toolhost was declared gone, and others were told how its call ended. Its own caller gets the
// same.
func TestAnEndThatComesTooLate(t *testing.T) {
	store, err := memory.New(memory.Config{})
	if err != nil {
		t.Fatal(err)
	}
	shared := &sharedCalls{Store: store}
	key := ledger.Key{Principal: "uid:7", Session: "s", ID: "once"}
	shared.after = func() {
		if err := store.End(t.Context(), key, tool.Outcome{Err: tool.Errorf(tool.KindOutcomeUnknown, "said elsewhere")}); err != nil {
			t.Error(err)
		}
	}
	r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.Calls = shared })
	for range 2 {
		if got := outcome(t, r, counted("once")); got.Err == nil || !strings.Contains(got.Err.Error(), "said elsewhere") {
			t.Errorf("got %+v", got)
		}
	}
}
