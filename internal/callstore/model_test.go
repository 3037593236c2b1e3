package callstore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/tool"
)

// model is the simplest possible store.
type model struct {
	calls   []callstore.Entry // in the order in which they began
	results []string          // the calls with a stored result, in the order in which they ended
	number  int64
	maxIDs  int
}

func (m *model) find(id string) *callstore.Entry {
	i := slices.IndexFunc(m.calls, func(e callstore.Entry) bool { return e.ID == id })
	if i < 0 {
		return nil
	}
	return &m.calls[i]
}

// evict removes what the store has removed after a write.
func (m *model) evict(now time.Time) {
	for len(m.results) > 0 {
		e := m.find(m.results[0])
		if e != nil && e.Ended.Add(24*time.Hour).After(now) {
			break
		}
		if e != nil {
			e.Outcome = nil
		}
		m.results = m.results[1:]
	}
	for len(m.calls) > 0 && !m.calls[0].Begun.Add(7*24*time.Hour).After(now) {
		id := m.calls[0].ID
		m.results = slices.DeleteFunc(m.results, func(r string) bool { return r == id })
		m.calls = m.calls[1:]
	}
}

func (m *model) begin(e callstore.Entry, now time.Time) error {
	m.evict(now)
	if m.find(e.ID) != nil {
		return callstore.ErrTaken
	}
	if len(m.calls) >= m.maxIDs {
		return &callstore.FullError{IDs: len(m.calls), Room: m.calls[0].Begun.Add(7 * 24 * time.Hour)}
	}
	m.number++
	e.Number, e.Begun, e.State, e.How = m.number, now, callstore.StateBegun, tool.CallRunning
	m.calls = append(m.calls, e)
	return nil
}

func (m *model) end(id string, out tool.Outcome, now time.Time) error {
	m.evict(now)
	e := m.find(id)
	if e == nil || e.State != callstore.StateBegun {
		return callstore.ErrNotBegun
	}
	out.CallID = id
	e.State, e.How, e.Ended, e.Instance, e.Outcome, e.Err = callstore.StateEnded, tool.CallSucceeded, now, out.Instance, &out, out.Err
	if out.Err != nil {
		e.How = tool.CallFailed
	}
	m.results = append(m.results, id)
	return nil
}

func (m *model) forget(id string, now time.Time) error {
	m.evict(now)
	if e := m.find(id); e != nil && e.State != callstore.StateBegun {
		return callstore.ErrNotBegun
	}
	m.calls = slices.DeleteFunc(m.calls, func(e callstore.Entry) bool { return e.ID == id })
	return nil
}

func (m *model) reopen(now time.Time) {
	m.evict(now)
	for i := range m.calls {
		e := &m.calls[i]
		if e.State == callstore.StateBegun {
			e.State, e.How, e.Ended = callstore.StateUnknown, tool.CallFailed, now
			e.Err = &tool.Error{Kind: tool.KindOutcomeUnknown, CallID: e.ID, Plugin: e.Plugin, Message: "toolhost ended while the call was under way; whether it had its effects is not known"}
		}
	}
}

// TestModel passes the same random operations to a store and to its model.
func TestModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	clock := newClock()
	cfg := config(t)
	cfg.Now, cfg.MaxIDs = clock.Now, 12
	store := open(t, cfg)
	m := &model{maxIDs: cfg.MaxIDs}
	ctx := t.Context()
	for step := range 600 {
		id := fmt.Sprint("c", random.IntN(20))
		var got, want error
		var did string
		switch n := random.IntN(100); {
		case n < 35:
			did, got, want = "begin", store.Begin(ctx, entry(id)), m.begin(entry(id), clock.Now())
		case n < 65:
			out := answer(fmt.Sprint("result ", step))
			if n < 40 {
				out = tool.Outcome{Plugin: "mail", Instance: "mail-2", Err: tool.Errorf(tool.KindTimeout, "step %d", step)}
			}
			did, got, want = "end", store.End(ctx, key(id), out), m.end(id, out, clock.Now())
		case n < 75:
			did, got, want = "forget", store.Forget(ctx, key(id)), m.forget(id, clock.Now())
		case n < 98:
			clock.advance(time.Duration(random.Int64N(int64(9 * time.Hour))))
			nudge(t, store) // the store may remove at any time; from here on it has
			m.evict(clock.Now())
		default:
			shut(t, store)
			store = open(t, cfg)
			m.reopen(clock.Now())
		}
		full, _ := errors.AsType[*callstore.FullError](got)
		if wantFull, ok := errors.AsType[*callstore.FullError](want); ok != (full != nil) || ok && (full.IDs != wantFull.IDs || !full.Room.Equal(wantFull.Room)) ||
			!ok && !errors.Is(got, want) {
			t.Fatalf("step %d: to %s %s: %v, want %v", step, did, id, got, want)
		}
		if step%8 == 0 {
			compare(t, step, store, m)
		}
	}
}

func compare(t *testing.T, step int, store *callstore.Store, m *model) {
	t.Helper()
	var list []callstore.Entry
	for _, e := range slices.Backward(m.calls) {
		got, found, err := store.Find(t.Context(), e.Key)
		if diff := cmp.Diff(e, got); diff != "" || !found || err != nil {
			t.Fatalf("step %d: finding %s: %v, %v (-want +got):\n%s", step, e.ID, found, err, diff)
		}
		e.Outcome = nil
		list = append(list, e)
	}
	got, err := store.List(t.Context(), callstore.Query{})
	if diff := cmp.Diff(list, got); diff != "" || err != nil {
		t.Fatalf("step %d: listing: %v (-want +got):\n%s", step, err, diff)
	}
	for i := range 20 {
		if id := fmt.Sprint("c", i); m.find(id) == nil {
			wantState(t, store, id, "")
		}
	}
}
