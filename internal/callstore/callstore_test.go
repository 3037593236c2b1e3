package callstore_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/tool"
)

func TestBeginEndFind(t *testing.T) {
	clock := newClock()
	cfg := config(t)
	cfg.Now = clock.Now
	store := open(t, cfg)
	ctx := t.Context()

	wantState(t, store, "a", "")
	must(t, store.Begin(ctx, entry("a")))
	begun := entry("a")
	begun.Number, begun.State, begun.How, begun.Begun = 1, callstore.StateBegun, tool.CallRunning, clock.Now()
	if diff := cmp.Diff(begun, wantState(t, store, "a", callstore.StateBegun)); diff != "" {
		t.Errorf("begun (-want +got):\n%s", diff)
	}

	clock.advance(time.Second)
	out := answer("sent")
	must(t, store.End(ctx, key("a"), out))
	ended := begun
	out.CallID = "a"
	ended.State, ended.How, ended.Ended, ended.Instance, ended.Outcome = callstore.StateEnded, tool.CallSucceeded, clock.Now(), "mail-1", &out
	for _, when := range []string{"at once", "after opening again"} {
		if diff := cmp.Diff(ended, wantState(t, store, "a", callstore.StateEnded)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
		shut(t, store)
		store = open(t, cfg)
	}
	must(t, store.Begin(ctx, entry("b")))
	if e := wantState(t, store, "b", callstore.StateBegun); e.Number != 2 {
		t.Errorf("the second call has number %d", e.Number)
	}
}

func TestKeysAreApart(t *testing.T) {
	store := open(t, config(t))
	keys := []callstore.Key{{ID: "abc"}, {Principal: "a", ID: "bc"}, {Principal: "ab", ID: "c"}, {Session: "a", ID: "bc"}, {Principal: "a", Session: "b", ID: "c"}}
	for i, k := range keys {
		must(t, store.Begin(t.Context(), callstore.Entry{Key: k, Tool: fmt.Sprint(i)}))
	}
	for i, k := range keys {
		if e, found, err := store.Find(t.Context(), k); err != nil || !found || e.Tool != fmt.Sprint(i) || e.Key != k {
			t.Errorf("%+v: found %v %+v, %v", k, found, e, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	store := open(t, config(t))
	ctx := t.Context()
	want := func(what string, err, target error) {
		t.Helper()
		if !errors.Is(err, target) {
			t.Errorf("%s: %v, want %v", what, err, target)
		}
	}
	want("ending what never began", store.End(ctx, key("a"), answer("")), callstore.ErrNotBegun)
	want("forgetting what never began", store.Forget(ctx, key("a")), nil)
	must(t, store.Begin(ctx, entry("a")))
	want("beginning twice", store.Begin(ctx, entry("a")), callstore.ErrTaken)
	must(t, store.Forget(ctx, key("a")))
	wantState(t, store, "a", "")
	must(t, store.Begin(ctx, entry("a")), store.End(ctx, key("a"), answer("one")))
	want("ending twice", store.End(ctx, key("a"), answer("two")), callstore.ErrNotBegun)
	want("beginning what has ended", store.Begin(ctx, entry("a")), callstore.ErrTaken)
	want("forgetting what has ended", store.Forget(ctx, key("a")), callstore.ErrNotBegun)
	if e := wantState(t, store, "a", callstore.StateEnded); e.Outcome == nil || e.Outcome.Result.Text() != "one" {
		t.Errorf("the outcome became %+v", e.Outcome)
	}
}

func TestWhatHadNotEndedIsUnknown(t *testing.T) {
	clock := newClock()
	cfg := config(t)
	cfg.Now = clock.Now
	store := open(t, cfg)
	must(t, store.Begin(t.Context(), entry("a")))
	shut(t, store)
	clock.advance(time.Hour)
	store = open(t, cfg)
	e := wantState(t, store, "a", callstore.StateUnknown)
	if e.How != tool.CallFailed || tool.KindOf(e.Err) != tool.KindOutcomeUnknown || !e.Ended.Equal(clock.Now()) || e.Outcome != nil {
		t.Errorf("got %+v", e)
	}
	if err := store.Begin(t.Context(), entry("a")); !errors.Is(err, callstore.ErrTaken) {
		t.Errorf("beginning it again: %v", err)
	}
	if err := store.End(t.Context(), key("a"), answer("late")); !errors.Is(err, callstore.ErrNotBegun) {
		t.Errorf("ending it after all: %v", err)
	}
	if err := store.Forget(t.Context(), key("a")); !errors.Is(err, callstore.ErrNotBegun) {
		t.Errorf("forgetting it: %v", err)
	}
}

// Of many concurrent Begins of one id, exactly one succeeds.
func TestOneBeginWins(t *testing.T) {
	store := open(t, config(t))
	var group sync.WaitGroup
	var won atomic.Int32
	for range 64 {
		group.Go(func() {
			switch err := store.Begin(t.Context(), entry("a")); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, callstore.ErrTaken):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Errorf("%d have begun", won.Load())
	}
}

func TestClosed(t *testing.T) {
	store := open(t, config(t))
	must(t, store.Begin(t.Context(), entry("a")))
	shut(t, store)
	_, _, find := store.Find(t.Context(), key("a"))
	_, list := store.List(t.Context(), callstore.Query{})
	for what, err := range map[string]error{
		"beginning":  store.Begin(t.Context(), entry("b")),
		"ending":     store.End(t.Context(), key("a"), answer("")),
		"forgetting": store.Forget(t.Context(), key("a")),
		"finding":    find,
		"listing":    list,
	} {
		if !errors.Is(err, callstore.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
}

// An operation that returned nil before or during Close is in the file.
func TestCloseBeside(t *testing.T) {
	cfg := config(t)
	store := open(t, cfg)
	var group sync.WaitGroup
	var mu sync.Mutex
	said := map[string]callstore.State{}
	ready := make(chan struct{}, 16)
	for i := range 16 {
		group.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprint(i, "-", n)
				if err := store.Begin(context.Background(), entry(id)); err != nil {
					return
				}
				state := callstore.StateUnknown
				if err := store.End(context.Background(), key(id), answer(id)); err == nil {
					state = callstore.StateEnded
				}
				mu.Lock()
				said[id] = state
				mu.Unlock()
				if n == 0 {
					ready <- struct{}{}
				}
			}
		})
	}
	for range 16 {
		<-ready
	}
	shut(t, store)
	group.Wait()
	store = open(t, cfg)
	for id, state := range said {
		wantState(t, store, id, state)
	}
}

func TestList(t *testing.T) {
	clock := newClock()
	cfg := config(t)
	cfg.Now = clock.Now
	store := open(t, cfg)
	ctx := t.Context()
	for i := range 20 {
		e := entry(fmt.Sprintf("c%02d", i))
		if i%2 == 1 {
			e.Tool, e.Plugin, e.Session = "pay", "bank", "s2"
		}
		must(t, store.Begin(ctx, e))
		switch i % 5 {
		case 0:
			must(t, store.End(ctx, e.Key, answer("yes")))
		case 1:
			must(t, store.End(ctx, e.Key, tool.Outcome{Plugin: e.Plugin, Instance: "i", Result: tool.ErrorResult("no")}))
		case 2:
			must(t, store.End(ctx, e.Key, tool.Outcome{Plugin: e.Plugin, Instance: "i", Err: tool.Errorf(tool.KindTimeout, "late")}))
		case 3:
			must(t, store.Forget(ctx, e.Key))
		}
	}
	for name, tt := range map[string]struct {
		query callstore.Query
		want  string
	}{
		"newest":  {callstore.Query{Limit: 3}, "c19 c17 c16"},
		"all":     {callstore.Query{}, "c19 c17 c16 c15 c14 c12 c11 c10 c09 c07 c06 c05 c04 c02 c01 c00"},
		"plugin":  {callstore.Query{Plugin: "bank", Limit: 2}, "c19 c17"},
		"tool":    {callstore.Query{Tool: "send_mail", State: tool.CallSucceeded}, "c10 c00"},
		"session": {callstore.Query{Session: "s2", State: tool.CallToolError}, "c11 c01"},
		"running": {callstore.Query{State: tool.CallRunning}, "c19 c14 c09 c04"},
		"failed":  {callstore.Query{State: tool.CallFailed}, "c17 c12 c07 c02"},
		"id":      {callstore.Query{ID: "c05"}, "c05"},
		"none":    {callstore.Query{ID: "c05", State: tool.CallFailed}, ""},
		"no such": {callstore.Query{State: "odd"}, ""},
		"before":  {callstore.Query{Before: 5}, "c02 c01 c00"},
	} {
		entries, err := store.List(ctx, tt.query)
		if got := ids(entries); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tt.want)
		}
	}
	var paged []callstore.Entry
	for q := (callstore.Query{Limit: 3}); ; q.Before = paged[len(paged)-1].Number {
		page, err := store.List(ctx, q)
		must(t, err)
		if paged = append(paged, page...); len(page) < q.Limit {
			break
		}
	}
	all, err := store.List(ctx, callstore.Query{})
	must(t, err)
	if diff := cmp.Diff(all, paged); diff != "" {
		t.Errorf("in pages (-all +paged):\n%s", diff)
	}
	failed, err := store.List(ctx, callstore.Query{ID: "c12"})
	must(t, err)
	want := tool.CallRecord{
		CallID: "c12", Principal: "alice", Session: "s1", Tool: "send_mail", Plugin: "mail", Instance: "i",
		State: tool.CallFailed, Err: &tool.Error{Kind: tool.KindTimeout, Message: "late"}, StartTime: clock.Now(), EndTime: clock.Now(),
	}
	if diff := cmp.Diff(want, failed[0].Record()); diff != "" || failed[0].Outcome != nil {
		t.Errorf("the record (-want +got):\n%s", diff)
	}
}

// List finds calls that are far behind the newest ones.
func TestListFarBack(t *testing.T) {
	cfg := config(t)
	store := open(t, cfg)
	e := entry("first")
	e.Tool = "pay"
	must(t, store.Begin(t.Context(), entry("before")), store.Begin(t.Context(), e))
	shut(t, store)
	fill(t, cfg.Path, 8_500) // more than one statement reads
	store = open(t, cfg)
	got, err := store.List(t.Context(), callstore.Query{Tool: "pay"})
	if err != nil || ids(got) != "first" {
		t.Errorf("got %q, %v", ids(got), err)
	}
	if got, err = store.List(t.Context(), callstore.Query{Limit: 20_000}); err != nil || len(got) != callstore.MaxPage || got[0].Number != 8_500 {
		t.Errorf("got %d, %v", len(got), err)
	}
	leaving, leave := context.WithCancel(t.Context())
	leave()
	if _, err := store.List(leaving, callstore.Query{Tool: "pay"}); !errors.Is(err, context.Canceled) {
		t.Errorf("listing for nobody: %v", err)
	}
}

func ids(entries []callstore.Entry) string {
	text := ""
	for i := range entries {
		text += " " + entries[i].ID
	}
	return text[min(1, len(text)):]
}

func TestOpenTwice(t *testing.T) {
	cfg := config(t)
	store := open(t, cfg)
	if _, err := callstore.Open(t.Context(), cfg); err == nil || !contains(err, "in use by another toolhost") {
		t.Errorf("opening what is open: %v", err)
	}
	shut(t, store)
	open(t, cfg)
}

func TestBadConfig(t *testing.T) {
	for name, cfg := range map[string]callstore.Config{
		"no path":  {},
		"negative": {Path: filepath.Join(t.TempDir(), "x"), MaxIDs: -1},
	} {
		if _, err := callstore.Open(t.Context(), cfg); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}
