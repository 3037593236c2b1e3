package agentserver_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// A choice of later calls survives its way through a message, with every form of pattern and scope.
func TestStandingChoicesAreConverted(t *testing.T) {
	until := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	choices := []loop.Standing{
		{}, {Scope: tool.ScopeRun, AnyArguments: true}, {Scope: tool.ScopePrincipal, Expires: until},
		{Scope: tool.ScopeSession, Patterns: []tool.ArgumentPattern{{Argument: "a", PathPrefix: "docs"}, {Argument: "b", Origin: "https://example.com"}, {Argument: "c", Any: true}}},
	}
	var messages []*agentdv1.StandingChoice
	for i := range choices {
		messages = append(messages, agentserver.FromStanding(&choices[i]))
	}
	if diff := cmp.Diff(choices, agentserver.ToOffers(messages)); diff != "" {
		t.Errorf("-sent +received:\n%s", diff)
	}
	if agentserver.FromStanding(nil) != nil {
		t.Error("no choice became one")
	}
	unknown := []*agentdv1.StandingChoice{{Scope: 99, Patterns: []*agentdv1.StandingPattern{{Argument: "a"}}}}
	if got := agentserver.ToOffers(unknown); got[0].Scope != "" || got[0].Patterns[0] != (tool.ArgumentPattern{Argument: "a"}) {
		t.Errorf("an unknown scope became %+v", got)
	}
	e, known := agentserver.ToEvent(&agentdv1.RunEvent{Seq: 7, Event: &agentdv1.RunEvent_StandingApproved{StandingApproved: &agentdv1.StandingApproved{
		DecisionId: "d1", CallId: "r.t1.c0", Tool: "write", ApprovalId: "sa-1", Approver: "ada",
	}}})
	want := &loop.StandingApproved{DecisionID: "d1", CallID: "r.t1.c0", Tool: "write", ApprovalID: "sa-1", Approver: "ada"}
	if diff := cmp.Diff(loop.Payload(want), e.Payload); !known || diff != "" {
		t.Errorf("the event (-want +got):\n%s", diff)
	}
}
