package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// BeforeEnded are first appends of programs that did not write Head.Ended, and whether the run has
// ended as far as a migration can tell.
var BeforeEnded = []struct {
	runstore.Batch
	Ended bool
}{
	{before("ended", false, `{"prompt":"p","stop_reason":"completed"}`), true},
	{before("works", true, `{"prompt":"p"}`), false},
	{before("foreground", false, `{"prompt":"the \"stop_reason\":\"completed\" of a run","foreground":true}`), false},
	{before("broken", false, ""), false},
	{before("waits", true, `{"prompt":"p","waiting":true}`), false},
}

func before(id string, unfinished bool, summary string) runstore.Batch {
	return runstore.Batch{RunID: id, Records: Records(1, 1), Head: runstore.Head{Unfinished: unfinished, Summary: []byte(summary)}}
}

// WantEnded checks which runs of BeforeEnded have ended in a store that was migrated.
func WantEnded(t *testing.T, store runstore.Store) {
	t.Helper()
	for _, old := range BeforeEnded {
		if run, err := store.Get(t.Context(), old.RunID); err != nil || run.Head.Ended != old.Ended {
			t.Errorf("run %s has ended: %t, %v", old.RunID, run.Head.Ended, err)
		}
	}
	waiting, _, err := store.Waiting(t.Context(), runstore.WaitingQuery{})
	if err != nil || len(waiting) != 1 || waiting[0].ID != "waits" || string(waiting[0].Head.Decisions) != "null" {
		t.Errorf("the runs that wait: %+v, %v", waiting, err)
	}
	if diff := cmp.Diff([]string{"waits", "broken", "foreground", "works"}, idsOf(t, store, runstore.Query{OpenOnly: true})); diff != "" {
		t.Errorf("the open runs (-want +got):\n%s", diff)
	}
}
