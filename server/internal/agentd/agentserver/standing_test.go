package agentserver_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/client"
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// A choice of later calls survives its way through a message, with every form of pattern and scope.
func TestStandingChoicesAreConverted(t *testing.T) {
	until := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	choices := []client.StandingChoice{
		{}, {Scope: tool.ScopeRun, AnyArguments: true}, {Scope: tool.ScopePrincipal, Expires: until},
		{Scope: tool.ScopeSession, Patterns: []tool.ArgumentPattern{{Argument: "a", PathPrefix: "docs"}, {Argument: "b", Origin: "https://example.com"}, {Argument: "c", Any: true}}},
	}
	fake := &fakeAgent{}
	c := dialClient(t, fake)
	for _, choice := range choices {
		if _, err := c.Respond(t.Context(), "r", "", client.Decision{ID: "d1", Verdict: client.Approve, Standing: &choice}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(new(loop.Standing(choice)), fake.made[0].Standing); diff != "" {
			t.Errorf("-sent +received:\n%s", diff)
		}
	}
	unknown := &agentdv1.StandingChoice{Scope: 99, Patterns: []*agentdv1.StandingPattern{{Argument: "a"}}}
	_, conn := dial(t, fake)
	approve := &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{Standing: unknown}}
	if _, err := agentdv1.NewAgentServiceClient(conn).Respond(t.Context(), &agentdv1.RespondRequest{RunId: "r", Decisions: []*agentdv1.Decision{{DecisionId: "d1", Verdict: approve}}}); err != nil {
		t.Fatal(err)
	}
	if got := fake.made[0].Standing; got.Scope != "" || got.Patterns[0] != (tool.ArgumentPattern{Argument: "a"}) {
		t.Errorf("an unknown scope became %+v", got)
	}
}
