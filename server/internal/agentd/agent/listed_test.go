package agent_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
)

// listingStore counts the runs that List returns.
type listingStore struct {
	runstore.Store
	listed int
}

func (s *listingStore) List(ctx context.Context, query runstore.Query) ([]runstore.Run, error) {
	page, err := s.Store.List(ctx, query)
	s.listed += len(page)
	return page, err
}

// A list of waiting runs, or of sub-runs, reads no others, however many have ended.
func TestListsReadWhatTheySelect(t *testing.T) {
	store := &listingStore{Store: memory.New()}
	a, err := agent.New(agent.Config{Store: store, Model: &fakeModel{}, Tools: newTools(echo)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	add := func(id string, head runstore.Head, summary string) {
		t.Helper()
		head.Summary = []byte(summary)
		if err := store.Append(t.Context(), runstore.Batch{RunID: id, Records: []runstore.Record{{Type: "run_started", Version: 1, Data: []byte("{}")}}, Head: head}); err != nil {
			t.Fatal(err)
		}
	}
	add("waits", runstore.Head{}, `{"foreground":true,"waiting":true}`)
	add("below", runstore.Head{Ended: true, Parent: "top"}, `{"stop_reason":"completed","parent":{"run_id":"top"}}`)
	for i := range 1_500 {
		add(fmt.Sprint("ended-", i), runstore.Head{Ended: true}, `{"stop_reason":"completed"}`)
	}
	for want, query := range map[string]agent.RunQuery{"waits": {States: []agent.RunState{agent.RunWaiting}}, "below": {Parent: "top"}} {
		store.listed = 0
		runs, next, err := a.ListRuns(t.Context(), query)
		if err != nil || len(runs) != 1 || runs[0].ID != want || next != "" || store.listed != 1 {
			t.Errorf("%+v: %d runs, next %q, %d read, %v", query, len(runs), next, store.listed, err)
		}
	}
}
