package storetest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// testVerdicts checks that what a principal has decided is written with its batch or not at all, is
// listed with the newest first, and goes with its run.
func testVerdicts(t *testing.T, store runstore.Store) {
	add := func(run string, after uint64, verdicts ...string) error {
		batch := runstore.Batch{RunID: run, After: after, Records: Records(int(after)+1, 1), Head: runstore.Head{Owner: "owner of " + run}}
		for _, by := range verdicts {
			batch.Verdicts = append(batch.Verdicts, runstore.Verdict{Principal: by, Data: fmt.Appendf(nil, `"%s after %d"`, run, after)})
		}
		return store.Append(t.Context(), batch)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	list := func(q runstore.VerdictQuery) (texts []string, last int64) {
		t.Helper()
		page, err := store.Verdicts(t.Context(), q)
		must(err)
		for _, v := range page {
			texts, last = append(texts, fmt.Sprintf("%s %s, %s", v.Data, v.Principal, v.Owner)), v.Number
		}
		return texts, last
	}
	must(add("a", 0))
	must(add("b", 0, "ada"))
	must(add("a", 1, "ada", "bob"))
	must(add("a", 2, "ada"))
	wantError(t, add("a", 2, "ada"), runstore.ErrConflict)
	if err := add("a", 3, ""); err == nil {
		t.Error("a verdict of nobody is written")
	}
	all := []string{`"a after 2" ada, owner of a`, `"a after 1" ada, owner of a`, `"b after 0" ada, owner of b`}
	first, last := list(runstore.VerdictQuery{Principal: "ada", Limit: 2})
	second, _ := list(runstore.VerdictQuery{Principal: "ada", Limit: 2, Before: last})
	if diff := cmp.Diff(all, append(first, second...)); diff != "" {
		t.Errorf("two pages (-want +got):\n%s", diff)
	}
	for _, nobody := range []string{"eve", "ADA", ""} {
		if got, _ := list(runstore.VerdictQuery{Principal: nobody}); got != nil {
			t.Errorf("%q has decided %q", nobody, got)
		}
	}
	must(store.Delete(t.Context(), deletion(map[string]uint64{"a": 3})))
	if got, _ := list(runstore.VerdictQuery{Principal: "ada"}); !cmp.Equal(got, all[2:]) {
		t.Errorf("after the deletion of a run: %q", got)
	}
}
