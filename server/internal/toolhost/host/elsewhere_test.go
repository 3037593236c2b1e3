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
	asked  func() // nil: nothing is done when the store is asked for a call
	// after is what others are told about a call just before this toolhost ends it, once.
	after func()
	// seals says that the tools of the other toolhost seal, and beats that it is not silent.
	seals, beats bool
	beat         int64
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

// Settle takes what a check that seals says about a call of the other toolhost.
func (s *sharedCalls) Settle(ctx context.Context, key callstore.Key, number int64, said tool.Settlement, out tool.Outcome) error {
	if s.seals {
		_ = s.Store.End(ctx, key, tool.Outcome{Err: tool.Errorf(tool.KindOutcomeUnknown, "not ended")}) // fails if it was not under way
	}
	return s.Store.Settle(ctx, key, number, said, out)
}

// Find says that another toolhost has each call that has begun.
func (s *sharedCalls) Find(ctx context.Context, key callstore.Key) (callstore.Entry, bool, error) {
	if s.asked != nil {
		s.asked()
	}
	e, found, err := s.Store.Find(ctx, key)
	if found && e.State == callstore.StateBegun {
		e.Elsewhere = "tools-2"
		e.SealOnly = s.seals
		if s.beats {
			s.beat++
		}
		e.Beat = s.beat
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
				most := 0
				shared.asked = func() { most = max(most, r.Measure().Elsewhere) }
				got := outcome(t, r, same)
				waits := name != "and takes it back"
				if now := r.Measure().Elsewhere; most == 1 != waits || now != 0 {
					t.Errorf("%d calls have waited for another toolhost at the same time, and %d do now", most, now)
				}
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

// A check is asked about a call of a toolhost that is silent only if it seals, and only when the
// wait for the call is over. What it says counts.
func TestACallOfASilentToolhost(t *testing.T) {
	const underWay = "under way at the toolhost tools-2"
	for name, test := range map[string]struct {
		recorded, declared, beats bool
		said                      tool.Verdict
		asked                     int32
		kind                      tool.Kind
		want                      string
		then                      string // what a repeat gets
	}{
		"it did not happen":          {recorded: true, declared: true, said: tool.VerdictDidNotHappen, asked: 1, kind: tool.KindUnavailable, want: "did not happen", then: "paid now"},
		"it happened":                {recorded: true, declared: true, said: tool.VerdictHappened, asked: 1, want: "[settled]", then: "[settled]"},
		"the tool does not know":     {recorded: true, declared: true, said: tool.VerdictUnknown, asked: 1, kind: tool.KindOutcomeUnknown, want: underWay},
		"the toolhost lives":         {recorded: true, declared: true, beats: true, said: tool.VerdictDidNotHappen, kind: tool.KindOutcomeUnknown, want: underWay},
		"the check seals no more":    {recorded: true, said: tool.VerdictDidNotHappen, kind: tool.KindOutcomeUnknown, want: underWay},
		"the check did not seal":     {declared: true, said: tool.VerdictDidNotHappen, kind: tool.KindOutcomeUnknown, want: underWay},
		"the check has never sealed": {said: tool.VerdictDidNotHappen, kind: tool.KindOutcomeUnknown, want: underWay},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, shared := newPayments(), &sharedCalls{Store: openMemory(t), seals: test.recorded, beats: test.beats}
				p.spec.Seals = test.declared
				p.finish.Store(true)
				p.saysAlways(tool.Settlement{Verdict: test.said})
				shared.before = func(e callstore.Entry) {
					if err := shared.Store.BeginWithin(t.Context(), e, callstore.Quota{}); err != nil {
						t.Error(err)
					}
				}
				r := newRig(t, p.tools(), func(c *host.Config) { c.Calls = shared })
				defer r.Close()
				_ = outcome(t, r, payment()) // it begins there first, and the wait here is over
				p.want(t, 0, 0)
				begun := time.Now()
				got := outcome(t, r, payment())
				says, kind := got.Result.Text(), tool.Kind("")
				if got.Err != nil {
					says, kind = got.Err.Error(), got.Err.Kind
				}
				if kind != test.kind || !strings.Contains(says, test.want) {
					t.Errorf("got %+v", got)
				}
				if waited := time.Since(begun); waited < p.spec.Timeout {
					t.Errorf("it was answered after %v", waited)
				}
				p.want(t, 0, test.asked)
				if test.then != "" {
					if again := outcome(t, r, payment()); again.Err != nil || !strings.Contains(again.Result.Text(), test.then) {
						t.Errorf("repeated: %+v", again)
					}
				}
			})
		})
	}
}
