package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// testWaiting checks that the runs that wait for decisions are listed by the first end of a
// decision, in pages that stay valid while runs come and go.
func testWaiting(t *testing.T, store runstore.Store) {
	noon := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	last := map[string]uint64{}
	put := func(id, decisions string, by time.Time) {
		t.Helper()
		head := runstore.Head{Unfinished: true, Decisions: []byte(decisions), DecideBy: by, Owner: "red/ada", Tenant: "red"}
		if id == "blue" {
			head.Owner, head.Tenant = "blue/bob", "blue"
		}
		if err := store.Append(t.Context(), runstore.Batch{RunID: id, After: last[id], Records: Records(int(last[id])+1, 1), Head: head}); err != nil {
			t.Fatal(err)
		}
		last[id]++
	}
	put("for ever", `["a"]`, time.Time{})
	put("late", `["b"]`, noon.Add(time.Hour))
	put("works", "", time.Time{})
	put("blue", `["c"]`, noon)
	put("same time", `["d"]`, noon)
	put("decided", `["e"]`, noon)
	put("decided", "", time.Time{})
	put("asks later", "", time.Time{})
	put("asks later", `["f"]`, noon.Add(time.Minute))
	list := func(q runstore.WaitingQuery) (ids []string, next runstore.Place) {
		t.Helper()
		runs, next, err := store.Waiting(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			ids = append(ids, fmt.Sprintf("%s %s", r.ID, r.Head.Decisions))
		}
		return ids, next
	}
	all := []string{`blue ["c"]`, `same time ["d"]`, `asks later ["f"]`, `late ["b"]`, `for ever ["a"]`}
	for _, test := range []struct {
		query runstore.WaitingQuery
		want  []string
	}{
		{runstore.WaitingQuery{}, all}, {runstore.WaitingQuery{Tenant: "red"}, all[1:]}, {runstore.WaitingQuery{Owner: "blue/bob"}, all[:1]},
		{runstore.WaitingQuery{Owner: "eve"}, nil}, {runstore.WaitingQuery{Owner: "blue/bob", Tenant: "red"}, nil},
	} {
		if got, _ := list(test.query); !cmp.Equal(got, test.want) {
			t.Errorf("%+v (-want +got):\n%s", test.query, cmp.Diff(test.want, got))
		}
	}
	first, next := list(runstore.WaitingQuery{Limit: 3})
	put("asks later", "", time.Time{}) // the last run of the page waits no more
	put("too late", `["g"]`, noon.Add(-time.Hour))
	second, end := list(runstore.WaitingQuery{Limit: 3, After: next})
	if diff := cmp.Diff(all, append(first, second...)); diff != "" {
		t.Errorf("two pages (-want +got):\n%s", diff)
	}
	if none, _ := list(runstore.WaitingQuery{Limit: 3, After: end}); none != nil {
		t.Errorf("behind the last page: %q", none)
	}
	run, err := store.Get(t.Context(), "late")
	if err != nil || !run.Head.DecideBy.Equal(noon.Add(time.Hour)) || string(run.Head.Decisions) != `["b"]` {
		t.Errorf("the run has the head %+v, %v", run.Head, err)
	}
}
