package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// stander is a toolhost with standing approvals. Its tool write needs approval of a call unless the
// call is in a run with a standing approval. It creates an approval once for each request id.
type stander struct {
	*payer
	mu       sync.Mutex
	requests map[string]tool.ApprovalRequest
	approver []string
	tries    int
	refuse   func(try int) error // may be nil
}

func newStander() *stander {
	s := &stander{payer: newPayer(writeSchema, ""), requests: map[string]tool.ApprovalRequest{}}
	s.infos[0].Spec.Metadata = map[string]json.RawMessage{tool.KeyArguments: json.RawMessage(`{"path":"path"}`)}
	s.run = func(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome {
		s.mu.Lock()
		stands := slices.ContainsFunc(slices.Collect(maps.Values(s.requests)), func(r tool.ApprovalRequest) bool { return r.Run == call.Run && r.Session == call.Session })
		s.mu.Unlock()
		if call.Approval == nil && !stands {
			err := needsApproval(`{"path":"docs/a"}`)
			err.DefinitionSHA256 = "def"
			return tool.Outcome{CallID: call.ID, Err: err}
		}
		return echo(ctx, call, status)
	}
	return s
}

func (s *stander) approve(_ context.Context, r tool.ApprovalRequest, approver string) (tool.StandingApproval, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries++
	if s.refuse != nil {
		if err := s.refuse(s.tries); err != nil {
			return tool.StandingApproval{}, err
		}
	}
	if before, ok := s.requests[r.RequestID]; ok && cmp.Diff(before, r) != "" {
		return tool.StandingApproval{}, tool.Errorf(tool.KindConflict, "another request: %s", cmp.Diff(before, r))
	}
	s.requests[r.RequestID] = r
	s.approver = append(s.approver, approver)
	return tool.StandingApproval{ID: "sa-" + r.RequestID, Approver: approver, Expires: time.Now().Add(time.Hour)}, nil
}

func (s *stander) configure(c *agent.Config) {
	withPeople(c)
	c.Tools, c.ApproveStanding, c.Principal = s, s.approve, "uid:1"
}

// writes is a run of three calls that need approval.
func writes() *fakeModel {
	return turns(response(model.StopToolUse, call("a", "write")), response(model.StopToolUse, call("b", "write")),
		response(model.StopToolUse, call("c", "write")), response(model.StopEndTurn, text("ok")))
}

func (s *stander) begin(t *testing.T) (*fixture, loop.Pending) {
	t.Helper()
	f := newFixture(t, writes(), newTools(echo), s.configure)
	f.start(loop.Task{Principal: "uid:1"})
	return f, s.pending(t, f)
}

var anyInRun = &loop.Standing{Scope: tool.ScopeRun, AnyArguments: true}

func yes(id string, standing *loop.Standing) loop.DecisionMade {
	return loop.DecisionMade{ID: id, Verdict: loop.VerdictApprove, By: "ann", Principal: "uid:7", Text: "fine", Standing: standing}
}

// The decision offers standing approvals. The chosen one is created in toolhost for the run, in the
// name of the person, before the call is made. Later calls need no person then.
func TestLaterCallsAreApproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStander()
		f, p := s.begin(t)
		wantOffers := []loop.Standing{{}, {Patterns: []tool.ArgumentPattern{{Argument: "path", PathPrefix: "docs"}}}, {AnyArguments: true}}
		if diff := cmp.Diff(wantOffers, p.Offers); diff != "" || p.Definition != "def" {
			t.Errorf("the offers of %+v (-want +got):\n%s", p, diff)
		}
		if _, err := f.Respond(t.Context(), "r", yes(p.ID, anyInRun)); err != nil {
			t.Fatal(err)
		}
		if end := f.end(); end.StopReason != loop.StopEndTurn {
			t.Errorf("ended with %+v", end)
		}
		want := tool.ApprovalRequest{
			Tool: "write", Arguments: []byte(`{"path":"docs/a"}`), DefinitionSHA256: "def", Run: "r", Session: "r",
			Scope: tool.ScopeRun, AnyArguments: true, CallID: "r.t1.c0", ApprovedBy: "ann", Reason: "fine",
		}
		var got tool.ApprovalRequest
		for want.RequestID, got = range s.requests {
			got.Context = nil
		}
		if diff := cmp.Diff(want, got); diff != "" || len(s.requests) != 1 || !slices.Equal(s.approver, []string{"uid:7"}) {
			t.Errorf("%d requests by %q (-want +got):\n%s", len(s.requests), s.approver, diff)
		}
		var order []loop.Type
		for _, e := range f.watch(0) {
			switch p := e.Payload.(type) {
			case *loop.DecisionRequested, *loop.DecisionMade, *loop.CallStarted, *loop.CallResult:
				order = append(order, p.Type())
			case *loop.StandingApproved:
				order = append(order, p.Type())
				if p.ApprovalID != "sa-"+want.RequestID || p.Approver != "uid:7" || p.Failure != nil {
					t.Errorf("the event is %+v", p)
				}
			}
		}
		started, ended := loop.TypeCallStarted, loop.TypeCallResult
		if diff := cmp.Diff([]loop.Type{started, loop.TypeDecisionRequested, loop.TypeDecisionMade, loop.TypeStandingApproved, started, ended, started, ended, started, ended}, order); diff != "" {
			t.Errorf("the order of the events (-want +got):\n%s", diff)
		}
	})
}

// The id of a request fits toolhost, however long the id of the run is. Runs with the same id in
// two sessions, such as those of two agentd, make two requests.
func TestStandingRequestsAreToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStander()
		run := strings.Repeat("r", 64)
		for _, session := range []string{"one", "two"} {
			f := newFixture(t, writes(), newTools(echo), s.configure)
			defer f.Close()
			if _, err := f.StartRun(t.Context(), loop.Task{RunID: run, Prompt: "p", Session: session, Principal: "uid:1"}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if _, err := f.Respond(t.Context(), run, yes("d1", &loop.Standing{Scope: tool.ScopeSession})); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		sessions := map[string]bool{}
		for id, r := range s.requests {
			if sessions[r.Session] = true; tool.CheckID(id) != nil {
				t.Errorf("toolhost refuses the id %q", id)
			}
		}
		if len(sessions) != 2 {
			t.Errorf("toolhost has the requests %+v", s.requests)
		}
	})
}

// A choice that no approval can be is refused, and nothing is decided. If toolhost refuses the
// approval, the call that the person approved is made all the same.
func TestStandingChoicesThatDoNotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStander()
		s.refuse = func(int) error { return tool.Errorf(tool.KindDenied, "the operator does not allow it") }
		f, p := s.begin(t)
		for name, choice := range map[string]*loop.Standing{
			"no scope":                {AnyArguments: true},
			"an unknown scope":        {Scope: "forever"},
			"anything in a session":   {Scope: tool.ScopeSession, AnyArguments: true},
			"anything and a pattern":  {Scope: tool.ScopeRun, AnyArguments: true, Patterns: make([]tool.ArgumentPattern, 1)},
			"all runs without an end": {Scope: tool.ScopePrincipal},
			"too many patterns":       {Scope: tool.ScopeRun, Patterns: make([]tool.ArgumentPattern, 33)},
		} {
			if _, err := f.Respond(t.Context(), "r", yes(p.ID, choice)); tool.KindOf(err) != tool.KindInvalidArgument {
				t.Errorf("%s: %v", name, err)
			}
		}
		no := yes(p.ID, anyInRun)
		no.Verdict = loop.VerdictReject
		if _, err := f.Respond(t.Context(), "r", no); tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("a rejection that approves later calls: %v", err)
		}
		if _, err := f.Respond(t.Context(), "r", yes(p.ID, anyInRun)); err != nil {
			t.Fatal(err)
		}
		second := s.pending(t, f)
		if second.CallID != "r.t2.c0" || len(s.requests) != 0 || s.tries != 1 {
			t.Errorf("after the refusal it waits for %+v, %d tries", second, s.tries)
		}
		f.Close()
	})
	for name, change := range map[string]func(s *stander, c *agent.Config){
		"no standing approvals in agentd": func(_ *stander, c *agent.Config) { c.ApproveStanding = nil },
		"no standing approvals in toolhost": func(s *stander, _ *agent.Config) {
			s.run = func(context.Context, tool.Call, func(tool.Status)) tool.Outcome {
				return tool.Outcome{Err: needsApproval(`{"path":"a"}`)}
			}
		},
		"four eyes": func(s *stander, _ *agent.Config) {
			s.run = func(context.Context, tool.Call, func(tool.Status)) tool.Outcome {
				err := needsApproval(`{"path":"a"}`)
				err.DefinitionSHA256, err.FourEyes = "def", true
				return tool.Outcome{Err: err}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStander()
				f := newFixture(t, writes(), newTools(echo), func(c *agent.Config) { s.configure(c); change(s, c) })
				defer f.Close()
				f.start(loop.Task{Principal: "uid:1"})
				p := s.pending(t, f)
				if len(p.Offers) > 0 {
					t.Errorf("it offers %+v", p.Offers)
				}
				if _, err := f.Respond(t.Context(), "r", yes(p.ID, anyInRun)); tool.KindOf(err) != tool.KindInvalidArgument || s.tries != 0 {
					t.Errorf("responding: %v, %d tries", err, s.tries)
				}
			})
		})
	}
}

// A tool whose declaration cannot be read may have meant that an argument is a command. agentd
// offers nothing for it.
func TestUnreadableDeclarationsGetNoOffers(t *testing.T) {
	for _, text := range []string{`["path"]`, `{"path":"path","command":{"kind":"command"}}`, `{"path":"path","command":""}`, `{"path":null}`, `{"path":"pa`} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStander()
				s.infos[0].Spec.Metadata = map[string]json.RawMessage{tool.KeyArguments: json.RawMessage(text)}
				f, p := s.begin(t)
				defer f.Close()
				if len(p.Offers) > 0 || p.Definition == "" || p.Schema == nil {
					t.Errorf("the decision is %+v", p)
				}
			})
		})
	}
}

// While toolhost does not answer, the request is made again with the same id, and the call waits.
func TestStandingRequestsAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStander()
		s.refuse = func(try int) error {
			if try < 4 {
				return tool.Errorf(tool.KindUnavailable, "not now")
			}
			return nil
		}
		f, p := s.begin(t)
		if _, err := f.Respond(t.Context(), "r", yes(p.ID, anyInRun)); err != nil {
			t.Fatal(err)
		}
		if end := f.end(); end.StopReason != loop.StopEndTurn || s.tries != 4 || len(s.requests) != 1 {
			t.Errorf("ended with %+v after %d tries, %d requests", end, s.tries, len(s.requests))
		}
	})
}

// TestStandingAtEveryBoundary kills the agent before and after each append of a run with a standing
// approval. Each time one approval is created, a person is asked once, and each call is executed
// once.
func TestStandingAtEveryBoundary(t *testing.T) {
	approve := func(f *fixture) {
		for e, err := range f.WatchRun(f.t.Context(), "r", 0) {
			if err != nil {
				return
			}
			if p, ok := e.Payload.(*loop.DecisionRequested); ok {
				time.Sleep(time.Second) // fake time
				if _, err := f.Respond(f.t.Context(), "r", yes(p.ID, anyInRun)); err != nil && tool.KindOf(err) != tool.KindNotFound {
					return
				}
			}
		}
	}
	live := func(f *fixture, group *sync.WaitGroup) (died bool) {
		group.Go(func() { approve(f) })
		for _, err := range f.WatchRun(f.t.Context(), "r", 0) {
			died = died || err != nil
		}
		return died
	}
	boundaries := 0
	for _, after := range []bool{false, true} {
		for boundary, died := 1, true; died; boundary++ {
			boundaries++
			synctest.Test(t, func(t *testing.T) {
				var group sync.WaitGroup
				defer group.Wait()
				s := newStander()
				f := newFixture(t, writes(), newTools(echo), s.configure)
				dying := &dyingStore{Store: f.store, after: after}
				dying.left.Store(int64(boundary))
				f.Close()
				f.open(func(c *agent.Config) { s.configure(c); c.Store = dying })
				f.start(loop.Task{Principal: "uid:1"})
				died = live(f, &group)
				f.Close()
				group.Wait()
				f.open(s.configure)
				defer f.Close()
				if _, err := f.Resume(t.Context()); err != nil {
					t.Fatal(err)
				}
				live(f, &group)
				where := fmt.Sprintf("killed at %d (after: %v)", boundary, after)
				if end := f.end(); end.StopReason != loop.StopEndTurn || end.Calls != 3 {
					t.Errorf("%s, the run ends with %+v", where, end)
				}
				if n := questions(f); n != 1 || len(s.requests) != 1 {
					t.Errorf("%s, people are asked %d times, and %d approvals are created", where, n, len(s.requests))
				}
				for id, n := range s.executions() {
					if n != 1 {
						t.Errorf("%s, call %s was executed %d times", where, id, n)
					}
				}
			})
		}
	}
	if boundaries < 20 {
		t.Errorf("only %d boundaries were tried", boundaries)
	}
}
