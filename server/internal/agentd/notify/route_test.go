package notify_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/notify"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// stateOf returns the state of a run that has begun.
func stateOf(t *testing.T, started loop.RunStarted) *loop.State {
	t.Helper()
	var s loop.State
	if err := s.Apply(loop.Event{Seq: 1, Time: noon, Payload: &started}); err != nil {
		t.Fatal(err)
	}
	return &s
}

// waits lets a run wait for an approval of a call.
func waits(t *testing.T, s *loop.State, at time.Time, asks *loop.DecisionRequested) {
	t.Helper()
	asks.CallID = "c"
	message := loop.AssistantMessage{Calls: []loop.Call{{ID: "c", Tool: asks.Tool}}, StopReason: model.StopToolUse}
	message.Message.Blocks = []model.Block{{ToolCall: &model.ToolCall{ID: "c", Name: asks.Tool, Arguments: "{}"}}}
	for _, p := range []loop.Payload{&message, asks} {
		if err := s.Apply(loop.Event{Seq: s.Seq() + 1, Time: at, Payload: p}); err != nil {
			t.Fatal(err)
		}
	}
}

// Each event has its messages: to which target, of which kind, and how long after the event.
func TestRoutes(t *testing.T) {
	on := func(kinds ...notify.Kind) notify.Route { return notify.Route{On: kinds, To: []string{"ops"}} }
	with := func(r notify.Route, change func(*notify.Route)) notify.Route { change(&r); return r }
	wait := &loop.DecisionRequested{ID: "d1", Kind: loop.DecideApproval, Tool: "shell", Rule: "careful", Expiry: 10 * time.Hour}
	brief, endless := *wait, *wait
	brief.Expiry, endless.Expiry = 10*time.Minute, 0
	unknown := &loop.CallResult{CallID: "c", Failure: &loop.Failure{Kind: tool.KindOutcomeUnknown}}
	sub := loop.RunStarted{RunID: "red/r", Agent: "writer", Parent: &loop.Parent{RunID: "red/p"}}
	asks := loop.RunStarted{RunID: "red/r", People: loop.People{Attended: true, AskOutcome: true}}
	for name, test := range map[string]struct {
		route   notify.Route
		payload loop.Payload
		started loop.RunStarted
		want    []string
	}{
		"waits":               {on(notify.Waiting), wait, loop.RunStarted{RunID: "r"}, []string{"ops waiting 0s"}},
		"and ends":            {on(notify.Waiting, notify.Ending), wait, loop.RunStarted{RunID: "r"}, []string{"ops ending 9h0m0s", "ops waiting 0s"}},
		"ends early":          {on(notify.Ending), &brief, loop.RunStarted{RunID: "r"}, []string{"ops ending 8m0s"}},
		"never ends":          {on(notify.Ending), &endless, loop.RunStarted{RunID: "r"}, nil},
		"reminder":            {with(on(notify.Waiting), func(r *notify.Route) { r.Remind = time.Hour }), &endless, loop.RunStarted{RunID: "r"}, []string{"ops reminder 1h0m0s", "ops waiting 0s"}},
		"reminder behind it":  {with(on(notify.Waiting), func(r *notify.Route) { r.Remind = time.Hour }), &brief, loop.RunStarted{RunID: "r"}, []string{"ops waiting 0s"}},
		"two targets":         {with(on(notify.Waiting), func(r *notify.Route) { r.To = []string{"ops", "chat", "ops"} }), wait, loop.RunStarted{RunID: "r"}, []string{"chat waiting 0s", "ops waiting 0s"}},
		"tenant":              {with(on(notify.Waiting), func(r *notify.Route) { r.Tenants = []string{"red"} }), wait, sub, []string{"ops waiting 0s"}},
		"other tenant":        {with(on(notify.Waiting), func(r *notify.Route) { r.Tenants = []string{"red"} }), wait, loop.RunStarted{RunID: "r"}, nil},
		"agent":               {with(on(notify.Waiting), func(r *notify.Route) { r.Agents = []string{"writer"} }), wait, sub, []string{"ops waiting 0s"}},
		"other agent":         {with(on(notify.Waiting), func(r *notify.Route) { r.Agents = []string{"writer"} }), wait, loop.RunStarted{RunID: "r"}, nil},
		"rule":                {with(on(notify.Waiting), func(r *notify.Route) { r.Rules = []string{"careful"} }), wait, sub, []string{"ops waiting 0s"}},
		"other rule":          {with(on(notify.Waiting), func(r *notify.Route) { r.Rules = []string{"careless"} }), wait, sub, nil},
		"finished":            {on(notify.Finished), &loop.RunFinished{StopReason: loop.StopEndTurn}, loop.RunStarted{RunID: "r"}, []string{"ops finished 0s"}},
		"failed":              {on(notify.Failed, notify.Finished), &loop.RunFinished{StopReason: loop.StopModelError}, loop.RunStarted{RunID: "r"}, []string{"ops failed 0s"}},
		"sub-run failed":      {on(notify.Failed), &loop.RunFinished{StopReason: loop.StopModelError}, sub, nil},
		"unknown":             {on(notify.Unknown), unknown, loop.RunStarted{RunID: "r"}, []string{"ops unknown 0s"}},
		"unknown and asked":   {on(notify.Unknown), unknown, asks, nil},
		"failed call":         {on(notify.Unknown), &loop.CallResult{CallID: "c", Failure: &loop.Failure{Kind: tool.KindInternal}}, sub, nil},
		"budget":              {on(notify.Budget), &loop.BudgetWarning{Budget: loop.BudgetCost, Used: 8, Limit: 10}, sub, []string{"ops budget 0s"}},
		"nothing to say":      {on(notify.Waiting), &loop.CallResult{CallID: "c"}, sub, nil},
		"not wanted":          {on(notify.Failed), wait, sub, nil},
		"outcome, as waiting": {on(notify.Waiting), &loop.DecisionRequested{ID: "d1", Kind: loop.DecideOutcome}, asks, []string{"ops waiting 0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := loop.Event{Seq: 7, Time: noon, Payload: test.payload}
			var got []string
			ids := map[string]bool{}
			for _, m := range (notify.Routes{test.route}).Messages(stateOf(t, test.started), []loop.Event{e}) {
				got = append(got, fmt.Sprint(m.Target, " ", m.Kind, " ", m.Due.Sub(noon)))
				if m.RunID != test.started.RunID || m.Seq != 7 || !m.Created.Equal(noon) || ids[m.ID] {
					t.Errorf("the message is %+v", m)
				}
				ids[m.ID] = true
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The id of a message is the same each time, and another one for another event at the same position
// of the journal, which a restored backup has.
func TestIDsAreStable(t *testing.T) {
	routes := notify.Routes{{On: []notify.Kind{notify.Budget}, To: []string{"ops"}}}
	id := func(at time.Time) string {
		s := stateOf(t, loop.RunStarted{RunID: "r"})
		return routes.Messages(s, []loop.Event{{Seq: 7, Time: at, Payload: &loop.BudgetWarning{Budget: loop.BudgetCost}}})[0].ID
	}
	first, again, other := id(noon), id(noon), id(noon.Add(1))
	if first != again || first == other {
		t.Errorf("the ids are %s, %s and %s", first, again, other)
	}
}
