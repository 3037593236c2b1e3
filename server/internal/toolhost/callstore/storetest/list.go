package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

func testList(t *testing.T, h Harness) {
	clock := newClock()
	store := h.New(t, Config{Now: clock.Now})
	ctx := t.Context()
	addTwenty(t, store)
	seventh := WantState(t, store, "c06", callstore.StateEnded).Number
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
		"before":  {callstore.Query{Before: seventh}, "c05 c04 c02 c01 c00"},
	} {
		entries, err := store.List(ctx, tt.query)
		if got := ids(entries); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tt.want)
		}
	}
	var paged []callstore.Entry
	for q := (callstore.Query{Limit: 3}); ; q.Before = paged[len(paged)-1].Number {
		page, err := store.List(ctx, q)
		Must(t, err)
		if paged = append(paged, page...); len(page) < q.Limit {
			break
		}
	}
	all, err := store.List(ctx, callstore.Query{})
	Must(t, err)
	if diff := cmp.Diff(all, paged); diff != "" {
		t.Errorf("in pages (-all +paged):\n%s", diff)
	}
	failed, err := store.List(ctx, callstore.Query{ID: "c12"})
	Must(t, err)
	if len(failed) != 1 {
		t.Fatalf("got %+v", failed)
	}
	want := tool.CallRecord{
		CallID: "c12", Principal: "alice", Session: "s1", Tool: "send_mail", Plugin: "mail", Instance: "i",
		State: tool.CallFailed, Err: &tool.Error{Kind: tool.KindTimeout, Message: "late"}, StartTime: clock.Now(), EndTime: clock.Now(),
	}
	if diff := cmp.Diff(want, failed[0].Record()); diff != "" || failed[0].Outcome != nil {
		t.Errorf("the record (-want +got):\n%s", diff)
	}
}

// addTwenty adds calls in each state: of every five, one succeeds, one ends with a tool error, one
// fails, one is forgotten and one runs.
func addTwenty(t *testing.T, store Store) {
	t.Helper()
	ctx := t.Context()
	for i := range 20 {
		e := Entry(fmt.Sprintf("c%02d", i))
		if i%2 == 1 {
			e.Tool, e.Plugin, e.Session = "pay", "bank", "s2"
		}
		Must(t, begin(t, store, e))
		switch i % 5 {
		case 0:
			Must(t, store.End(ctx, e.Key, Answer("yes")))
		case 1:
			Must(t, store.End(ctx, e.Key, tool.Outcome{Plugin: e.Plugin, Instance: "i", Result: tool.ErrorResult("no")}))
		case 2:
			Must(t, store.End(ctx, e.Key, tool.Outcome{Plugin: e.Plugin, Instance: "i", Err: tool.Errorf(tool.KindTimeout, "late")}))
		case 3:
			Must(t, store.Forget(ctx, e.Key))
		}
	}
}

func ids(entries []callstore.Entry) string {
	text := ""
	for i := range entries {
		text += " " + entries[i].ID
	}
	return text[min(1, len(text)):]
}

// testListOfTenants checks that List returns the calls of the principals of the given tenants only,
// and that no name of a tenant is a pattern.
func testListOfTenants(t *testing.T, h Harness) {
	store := h.New(t, Config{})
	for _, principal := range []string{"ada", "default/x/y", "red/ada", "redder/ada", "blue/red/ada"} {
		Must(t, begin(t, store, callstore.Entry{Key: callstore.Key{Principal: principal, ID: "a"}, Tool: "t"}))
	}
	for _, test := range []struct {
		tenants tool.Tenants
		want    []string
	}{
		{nil, []string{"blue/red/ada", "redder/ada", "red/ada", "default/x/y", "ada"}},
		{tool.Tenants{}, nil},
		{tool.Tenants{"default"}, []string{"default/x/y", "ada"}},
		{tool.Tenants{"red", "blue"}, []string{"blue/red/ada", "red/ada"}},
		{tool.Tenants{"re%", "_ed", "green"}, nil},
	} {
		entries, err := store.List(t.Context(), callstore.Query{Tenants: test.tenants})
		Must(t, err)
		var got []string
		for _, e := range entries {
			got = append(got, e.Principal)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("calls of %v (-want +got):\n%s", test.tenants, diff)
		}
	}
}

func testListCancelled(t *testing.T, h Harness) {
	store := h.New(t, Config{})
	Must(t, begin(t, store, Entry("a")))
	leaving, leave := context.WithCancel(t.Context())
	leave()
	if _, err := store.List(leaving, callstore.Query{Tool: "pay"}); !errors.Is(err, context.Canceled) {
		t.Errorf("listing for a caller that has left: %v", err)
	}
}
