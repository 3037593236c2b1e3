package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

func inbox(t *testing.T, f *fixture, q agent.DecisionQuery) (names []string, next string) {
	t.Helper()
	list, next, err := f.ListDecisions(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		names = append(names, loop.DecisionRef(d.Run.ID, d.ID))
	}
	return names, next
}

// since returns what runs wait for whose decisions changed after a position, and moves the
// position.
func since(t *testing.T, f *fixture, principal string, at *int64) (sets []string) {
	t.Helper()
	found, now, err := f.ChangedDecisions(t.Context(), agent.DecisionQuery{Principal: principal}, *at)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range found {
		text := set.RunID + ":"
		for _, d := range set.Decisions {
			text += " " + d.ID
		}
		sets = append(sets, text)
	}
	*at = now
	return sets
}

// rung checks that a change of what runs wait for was announced.
func rung(t *testing.T, waits <-chan struct{}) {
	t.Helper()
	select {
	case <-waits:
	default:
		t.Error("the change was not announced")
	}
}

// The inbox has what runs wait for, also after a restart, until it is decided. A whole decision can
// be read before and afterwards.
func TestInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("ä", maxText)
		m := turns(response(model.StopToolUse, call("a", "serial"), question("which? "+long)), response(model.StopEndTurn, text("ok")))
		f := newFixture(t, m, newTools(careful), withPeople)
		if names, _ := inbox(t, f, agent.DecisionQuery{}); names != nil {
			t.Errorf("before all runs: %q", names)
		}
		waits := f.DecisionsChange()
		at := runstore.Now
		since(t, f, "", &at)
		start, other := at, at
		f.start(loop.Task{Principal: "ada"})
		synctest.Wait()
		rung(t, waits)
		f.Close()
		f.open(withPeople)
		defer f.Close()
		if names, next := inbox(t, f, agent.DecisionQuery{}); !cmp.Equal(names, []string{"r/d1", "r/d2"}) || next != "" {
			t.Errorf("the inbox is %q, %q", names, next)
		}
		if sets := since(t, f, "ada", &at); !cmp.Equal(sets, []string{"r: d1 d2"}) {
			t.Errorf("changed are %q", sets)
		}
		if sets := since(t, f, "bob", &other); sets != nil {
			t.Errorf("of another principal changed are %q", sets)
		}
		list, _, err := f.ListDecisions(t.Context(), agent.DecisionQuery{Principal: "ada"})
		if err != nil || len(list) != 2 {
			t.Fatalf("the inbox of the principal is %+v, %v", list, err)
		}
		whole := state(t, f, "r").Pending
		for i, d := range list {
			if d.Cut != (i == 0) || !d.Waits || !d.Expires.Equal(whole[i].Expires) || !d.Requested.Equal(whole[i].Requested) || d.Kind != whole[i].Kind || d.Tool != whole[i].Tool ||
				d.Rule != whole[i].Rule || d.Arguments != cutTo(whole[i].Arguments) || d.Reason != cutTo(whole[i].Reason) {
				t.Errorf("decision %d is %+v, and GetRun has %+v", i, d, whole[i])
			}
			one, err := f.Decision(t.Context(), "r", d.ID)
			if err != nil || !one.Waits || !cmp.Equal(one.Pending, whole[i]) {
				t.Errorf("decision %s is %+v, %v", d.ID, one, err)
			}
		}
		if names, _ := inbox(t, f, agent.DecisionQuery{Principal: "bob"}); names != nil {
			t.Errorf("another principal has %q", names)
		}
		if n, err := f.Resume(t.Context()); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		time.Sleep(time.Minute)
		waits = f.DecisionsChange()
		made := loop.DecisionMade{ID: "d2", Verdict: loop.VerdictReject, Text: "no", Principal: "eve"}
		if _, err := f.Respond(t.Context(), "r", made); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		rung(t, waits)
		if names, _ := inbox(t, f, agent.DecisionQuery{}); !cmp.Equal(names, []string{"r/d1"}) {
			t.Errorf("with one decided, the inbox is %q", names)
		}
		if sets := since(t, f, "", &at); !cmp.Equal(sets, []string{"r: d1"}) {
			t.Errorf("with one decided, changed are %q", sets)
		}
		d, err := f.Decision(t.Context(), "r", "d2")
		if err != nil || d.Waits || d.Made == nil || d.Made.Principal != "eve" || d.Made.Text != "no" || d.MadeAt.Sub(d.Requested) != time.Minute || d.Tool != "serial" {
			t.Errorf("the made decision is %+v, %v", d, err)
		}
		if err := f.CancelRun(t.Context(), "r", "enough"); err != nil {
			t.Fatal(err)
		}
		f.end()
		if names, _ := inbox(t, f, agent.DecisionQuery{}); names != nil {
			t.Errorf("after the run, the inbox is %q", names)
		}
		for _, position := range []int64{at, start} {
			if sets := since(t, f, "", &position); !cmp.Equal(sets, []string{"r:"}) {
				t.Errorf("after the run, changed are %q", sets)
			}
		}
		ahead := at + 1<<40
		if _, _, err := f.ChangedDecisions(t.Context(), agent.DecisionQuery{}, ahead); !errors.Is(err, runstore.ErrPosition) {
			t.Errorf("a position of another store: %v", err)
		}
		if d, err := f.Decision(t.Context(), "r", "d1"); err != nil || d.Waits || d.Made != nil || !strings.HasSuffix(d.Reason, long) {
			t.Errorf("the withdrawn decision is %+v, %v", d, err)
		}
		for _, name := range [][2]string{{"r", "d9"}, {"r", ""}, {"none", "d1"}} {
			if _, err := f.Decision(t.Context(), name[0], name[1]); tool.KindOf(err) != tool.KindNotFound {
				t.Errorf("the decision %q: %v", name, err)
			}
		}
	})
}

const maxText = 4 << 10 // bytes of a text in the inbox

// cutTo returns the beginning of a text as the inbox has it. An ä has two bytes.
func cutTo(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "")
}

// A decision of a sub-run is in the inbox once.
func TestTheInboxHasADecisionOfASubRunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, asking(), newTools(echo), func(c *agent.Config) { withPeople(c); withSystem(c) })
		defer f.Close()
		f.start(loop.Task{})
		synctest.Wait()
		child := loop.SubRunID("r", "r.t1.c0")
		asker := loop.SubRunID(child, child+".t1.c0")
		if names, _ := inbox(t, f, agent.DecisionQuery{}); !cmp.Equal(names, []string{asker + "/d1"}) {
			t.Errorf("the inbox is %q", names)
		}
	})
}

// The pages of the inbox have each decision once, the first end first. A run that cannot be read
// hides no other, a run that waited before the store had decisions is read from its journal, and
// one that waits no more is left out.
func TestPagesOfTheInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := turns(response(model.StopToolUse, question("which?")))
		f := newFixture(t, m, newTools(echo), withPeople)
		defer f.Close()
		f.start(loop.Task{Principal: "ada"})
		synctest.Wait()
		var first runstore.Record
		for rec, err := range f.store.Read(t.Context(), "r", 0) {
			if err != nil {
				t.Fatal(err)
			}
			first = rec
			break
		}
		noon := time.Now()
		put := func(id, decisions string, by time.Duration, summary string) {
			t.Helper()
			head := runstore.Head{Unfinished: true, Summary: json.RawMessage(summary), Decisions: json.RawMessage(decisions), DecideBy: noon.Add(by), Tenant: agent.TenantOf(id)}
			if err := f.store.Append(t.Context(), runstore.Batch{RunID: id, Records: []runstore.Record{first}, Head: head}); err != nil {
				t.Fatal(err)
			}
		}
		const waits = `{"prompt":"p","waiting":true}`
		var want []string
		for n := range 7 {
			id := fmt.Sprintf("red/run-%d", n)
			put(id, fmt.Sprintf(`{"seq":1,"list":[{"id":"late","kind":"question","requested":%q},{"id":"soon","kind":"question","requested":%q,"expires":%q}]}`,
				noon.Format(time.RFC3339), noon.Format(time.RFC3339), noon.Add(time.Duration(n)*time.Minute).Format(time.RFC3339)), time.Duration(n)*time.Minute, waits)
			want = append(want, id+"/soon", id+"/late")
		}
		put("broken", `[7]`, time.Second, waits)
		put("goes on", `{"seq":1,"list":[{"id":"d1"}]}`, time.Second, `{"prompt":"p"}`)
		put("blue/x", `{"seq":1,"list":[{"id":"d1"}]}`, time.Second, waits)
		var got []string
		query := agent.DecisionQuery{Size: 3, Tenants: []string{"red", "green"}}
		for pages := 0; ; pages++ {
			names, next := inbox(t, f, query)
			if got = append(got, names...); next == "" {
				break
			}
			query.Token = next
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the pages (-want +got):\n%s", diff)
		}
		both, _ := inbox(t, f, agent.DecisionQuery{Size: 100, Tenants: []string{"blue"}, Principal: "ada"})
		if diff := cmp.Diff([]string{"blue/x/d1", "r/d1"}, both); diff != "" {
			t.Errorf("a tenant and the own runs (-want +got):\n%s", diff)
		}
		all, _ := inbox(t, f, agent.DecisionQuery{Size: 100})
		if diff := cmp.Diff(append([]string{want[0], want[1], "blue/x/d1"}, append(want[2:len(want):len(want)], "r/d1")...), all); diff != "" {
			t.Errorf("all (-want +got):\n%s", diff)
		}
		for _, token := range []string{"x", "-", "zz-", "-1-2", "!", strings.Repeat("z", 40) + "-1"} {
			if _, _, err := f.ListDecisions(t.Context(), agent.DecisionQuery{Token: token}); tool.KindOf(err) != tool.KindInvalidArgument {
				t.Errorf("the token %q: %v", token, err)
			}
		}
	})
}

// A run that waited when its store got the column of decisions has them in its journal only, and so
// has one that an agentd of before has continued.
func TestTheInboxOfAMigratedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, turns(response(model.StopToolUse, question("which?"))), newTools(echo), withPeople)
		defer f.Close()
		f.start(loop.Task{})
		synctest.Wait()
		f.Close()
		now := f.store
		for _, kept := range []string{`null`, `{"seq":1,"list":[{"id":"d7"}]}`} {
			f.store = migrated{now, kept}
			f.open(withPeople)
			if names, _ := inbox(t, f, agent.DecisionQuery{}); !cmp.Equal(names, []string{"r/d1"}) {
				t.Errorf("with %s the inbox is %q", kept, names)
			}
			f.Close()
		}
	})
}

// migrated is a store whose heads have other decisions than the journals.
type migrated struct {
	runstore.Store
	kept string
}

func (s migrated) Waiting(ctx context.Context, q runstore.WaitingQuery) ([]runstore.Run, runstore.Place, error) {
	runs, last, err := s.Store.Waiting(ctx, q)
	for i := range runs {
		runs[i].Head.Decisions = []byte(s.kept)
	}
	return runs, last, err
}
