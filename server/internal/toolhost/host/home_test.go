package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	holds "github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// homes is a ledger in which a test moves all sessions.
type homes struct {
	home  callstore.Home
	err   error
	moved int
}

func (h *homes) Home(_ context.Context, _, _, from string) (callstore.Home, error) {
	if h.err == nil && from == h.home.ID {
		h.home = callstore.Home{Here: true, At: "here", ID: "here"}
		h.moved++
	}
	return h.home, h.err
}

// A session whose files are at another toolhost executes nothing here while that one lives, and
// without the approval of a person who could read that the files are not here.
func TestASessionStaysWithItsFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		run := func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			ran++
			return tool.TextResult("done"), nil
		}
		ledger := &homes{home: callstore.Home{Here: true, At: "here", ID: "here"}}
		access := tool.AccessWrite
		r := newRig(t, []hosttest.Tool{
			{Spec: tool.Spec{Name: "write", Description: "Writes."}, Run: run},
			{Spec: tool.Spec{Name: "read", Description: "Reads.", ReadOnly: true}, Run: run},
			{Spec: tool.Spec{Name: "pay", Description: "Pays.", Dangerous: true}, Run: run},
		}, func(c *host.Config) {
			c.Homes = ledger
			c.Sandbox = func(string) tool.Sandbox { return tool.Sandbox{Mode: "off", Workspace: access} }
		})
		elsewhere := func(life int64) func() {
			return func() { ledger.home = callstore.Home{At: "tools-1 (4f1c)", ID: "4f1c", Life: life} }
		}
		fails := func(fails bool) func() {
			return func() {
				if ledger.err = nil; fails {
					ledger.err = errors.New("gone")
				}
			}
		}
		approval, moves := &tool.Approval{ApprovedBy: "Ada"}, &tool.Approval{ApprovedBy: "Ada", SessionMove: "4f1c"}
		for i, step := range []struct {
			does   string
			change func()
			later  time.Duration
			call   tool.Call
			kind   tool.Kind // empty: the call is executed
			says   string
		}{
			{does: "the first call", call: tool.Call{Tool: "write", Session: "s"}},
			{does: "the files are elsewhere, and this toolhost has not looked", change: elsewhere(1), later: 9 * time.Second, call: tool.Call{Tool: "write", Session: "s"}},
			{does: "it looks", later: time.Second, call: tool.Call{Tool: "read", Session: "s"}, kind: tool.KindUnavailable, says: "tools-1 (4f1c)"},
			{does: "no session", call: tool.Call{Tool: "write"}},
			{does: "the other one lives", change: elsewhere(2), later: 20 * time.Second, call: tool.Call{Tool: "write", Session: "s", Approval: approval}, kind: tool.KindUnavailable},
			{does: "it does not say so for a moment", later: 59 * time.Second, call: tool.Call{Tool: "write", Session: "s", Approval: approval}, kind: tool.KindUnavailable},
			{does: "a rule asks before this toolhost does", call: tool.Call{Tool: "pay", Session: "s"}, kind: tool.KindApprovalRequired, says: "dangerous"},
			{does: "an approval that came too early", later: time.Second, call: tool.Call{Tool: "pay", Session: "s", Approval: approval}, kind: tool.KindApprovalRequired, says: "may be empty"},
			{does: "both ask", call: tool.Call{Tool: "pay", Session: "s"}, kind: tool.KindApprovalRequired, says: "dangerous"},
			{does: "both ask, and say why", call: tool.Call{Tool: "pay", Session: "s"}, kind: tool.KindApprovalRequired, says: "may be empty"},
			{does: "an approval of another question, after this one", call: tool.Call{Tool: "pay", Session: "s", Approval: approval}, kind: tool.KindApprovalRequired, says: "may be empty"},
			{does: "an approval of a move from elsewhere", call: tool.Call{Tool: "pay", Session: "s", Approval: &tool.Approval{ApprovedBy: "Ada", SessionMove: "77"}}, kind: tool.KindApprovalRequired, says: "may be empty"},
			{does: "an answer that is late", change: elsewhere(1), later: time.Second, call: tool.Call{Tool: "write", Session: "s"}, kind: tool.KindApprovalRequired, says: "may be empty"},
			{does: "the other one comes back", change: elsewhere(3), later: time.Second, call: tool.Call{Tool: "write", Session: "s", Approval: moves}, kind: tool.KindUnavailable},
			{does: "it is lost, and the approval does not say it", later: time.Minute, call: tool.Call{Tool: "write", Session: "s", Approval: approval}, kind: tool.KindApprovalRequired, says: "shows no life"},
			{does: "a move that cannot be written", change: fails(true), call: tool.Call{Tool: "write", Session: "s", Approval: moves}, kind: tool.KindUnavailable, says: "gone"},
			{does: "an unknown session", call: tool.Call{Tool: "write", Session: "other"}, kind: tool.KindUnavailable, says: "gone"},
			{does: "an unknown session, without effects", call: tool.Call{Tool: "read", Session: "other"}},
			{does: "the database fails for long", later: time.Minute, call: tool.Call{Tool: "read", Session: "s"}, kind: tool.KindUnavailable, says: "tools-1"},
			{does: "the home could not show that it lives", change: fails(false), later: 59 * time.Second, call: tool.Call{Tool: "write", Session: "s", Approval: moves}, kind: tool.KindUnavailable},
			{does: "it is lost", later: time.Second, call: tool.Call{Tool: "write", Session: "s"}, kind: tool.KindApprovalRequired},
			{does: "the move", call: tool.Call{Tool: "write", Session: "s", Approval: moves}},
			{does: "after the move", later: time.Minute, call: tool.Call{Tool: "write", Session: "s"}},
			{does: "a plugin without a workspace", change: func() { elsewhere(4)(); access = tool.AccessNone }, later: time.Minute, call: tool.Call{Tool: "write", Session: "s"}},
		} {
			if step.change != nil {
				step.change()
			}
			time.Sleep(step.later)
			step.call.ID = fmt.Sprint("c", i)
			before := ran
			got := outcome(t, r, step.call)
			switch {
			case step.kind == "" && (got.Err != nil || ran != before+1):
				t.Errorf("%s: %+v, and the tool ran %d times", step.does, got.Err, ran-before)
			case step.kind != "" && (got.Err == nil || got.Err.Kind != step.kind || got.Err.RetryAfter != 0 || !strings.Contains(got.Err.Message, step.says) || ran != before):
				t.Errorf("%s: %+v, want %s with %q; the tool ran %d times", step.does, got.Err, step.kind, step.says, ran-before)
			}
			if e := got.Err; e != nil && (e.SessionMove == "4f1c") != (strings.Contains(e.Message, "may be empty")) {
				t.Errorf("%s: %q asks for the move %q", step.does, e.Message, e.SessionMove)
			}
		}
		if ledger.moved != 1 {
			t.Errorf("the session was moved %d times", ledger.moved)
		}
		r.Close() // in the bubble
	})
}

// lostHome is where the files of a session are, at a toolhost that is lost.
func lostHome() callstore.Home { return callstore.Home{At: "tools-1 (4f1c)", ID: "4f1c", Life: 1} }

// A held call moves its session only if the decision that a person made said so. The decision of
// before the question counts for the call, and not for the move.
func TestAHeldCallMovesItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &homes{home: callstore.Home{Here: true, At: "here", ID: "here"}}
		r := newStandingRig(t, func(c *host.Config) { c.Homes = ledger })
		ask := func() string { return r.ended(outcome(t, r.rig, holding(0, nil))) }
		check(t, "with its files", ask(), "approval_required")
		decides(t, r, true, "red/olga")
		other := holding(0, func(c *tool.Call) { c.Arguments = []byte(`{"path":"docs/b"}`) })
		check(t, "another call", r.ended(outcome(t, r.rig, other)), "approval_required")
		ledger.home = lostHome()
		time.Sleep(10 * time.Second) // virtual
		check(t, "just after it was lost", ask(), "unavailable")
		time.Sleep(time.Minute)
		check(t, "the other call", r.ended(outcome(t, r.rig, other)), "approval_required")
		var moves int
		for _, d := range r.HeldCalls().Waiting(func(*holds.Decision) bool { return true }) {
			if d.SessionMove == "4f1c" {
				moves++
			}
			if _, err := r.DecideHeld(t.Context(), holds.Verdict{Name: d.Name, Etag: d.Etag, By: "red/olga"}, "unix"); err != nil {
				t.Fatal(err)
			}
		}
		if moves != 1 {
			t.Errorf("%d decisions say that the session moves", moves)
		}
		check(t, "with the approval of before", ask(), "approval_required")
		if d := pending(t, r); d.SessionMove != "4f1c" || !strings.Contains(d.Reason, "may be empty") {
			t.Errorf("a person sees %+v", d.Call)
		}
		if ledger.moved != 0 {
			t.Error("the session was moved before anybody read of it")
		}
		decides(t, r, true, "red/olga")
		check(t, "with the approval of the move", ask(), "succeeded ran")
		if ledger.moved != 1 {
			t.Errorf("the session was moved %d times", ledger.moved)
		}
		r.Close() // in the bubble
	})
}

// A session moves after the approval is in the audit log, with the approver. A review moves
// nothing.
func TestAMoveFollowsItsRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &homes{home: lostHome()}
		r := newStandingRig(t, func(c *host.Config) { c.Homes = ledger })
		call := writing(`{"path":"docs/a"}`, nil)
		check(t, "before the home was silent", r.ended(outcome(t, r.rig, call)), "approval_required")
		time.Sleep(time.Minute) // virtual
		call.Approval = &tool.Approval{Approver: "red/olga", ApprovedBy: "Olga", SessionMove: "4f1c", Arguments: []byte(`{"path":"docs/a","mode":1}`)}
		if said, err := r.Review(t.Context(), call); said != nil || err != nil || ledger.moved != 0 {
			t.Errorf("the review says %+v, %v, and moved %d sessions", said, err, ledger.moved)
		}
		r.log.Close()
		check(t, "without a record", r.ended(outcome(t, r.rig, call)), "unavailable")
		if ledger.moved != 0 {
			t.Error("the session was moved without a record")
		}
		r.Close() // in the bubble
	})
}

// The record of an approval that moves a session has the approver, also if no rule asks for one.
func TestTheRecordOfAMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "audit.jsonl")
		log, err := audit.Open(audit.Config{File: file})
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		ledger := &homes{home: lostHome()}
		run := func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			return tool.TextResult("done"), nil
		}
		r := newRig(t, []hosttest.Tool{{Spec: tool.Spec{Name: "read", Description: "Reads.", ReadOnly: true}, Run: run}}, func(c *host.Config) { c.Homes, c.Audit = ledger, log })
		call := tool.Call{Tool: "read", Session: "s"}
		outcome(t, r, call)
		time.Sleep(time.Minute) // virtual
		call.Approval = &tool.Approval{Approver: "red/olga", ApprovedBy: "Olga", SessionMove: "4f1c"}
		if got := outcome(t, r, call); got.Err != nil || ledger.moved != 1 {
			t.Errorf("it ended with %+v, and %d sessions were moved", got.Err, ledger.moved)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var line struct{ Decision, Approver, Reason string }
		last := strings.Split(strings.TrimSpace(string(text)), "\n")
		if err := json.Unmarshal([]byte(last[len(last)-1]), &line); err != nil || line.Decision != "approved" || line.Approver != "red/olga" || !strings.Contains(line.Reason, "tools-1 (4f1c)") {
			t.Errorf("the log has %+v, %v", line, err)
		}
		r.Close() // in the bubble
	})
}

// A call that waits between its decision and its begin does not begin if its session has been moved
// meanwhile.
func TestASessionIsMovedBeforeACallBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &homes{home: callstore.Home{Here: true, At: "here", ID: "here"}}
		ran := 0
		tools := []hosttest.Tool{{Spec: tool.Spec{Name: "write", Description: "Writes."}, Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			ran++
			return tool.TextResult("done"), nil
		}}}
		r := newRig(t, tools, func(c *host.Config) { c.Homes = ledger })
		r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
			time.Sleep(10 * time.Second) // virtual
			ledger.home = lostHome()
			return r.start(ctx, hosttest.NewPlugin(tools))
		}
		if got := outcome(t, r, tool.Call{ID: "c", Tool: "write", Session: "s"}); got.Err == nil || got.Err.Kind != tool.KindUnavailable || ran != 0 {
			t.Errorf("it ended with %+v, and the tool ran %d times", got, ran)
		}
		r.Close() // in the bubble
	})
}

// A host remembers many sessions, and forgets one at a time: to forget that a home is silent lets a
// person wait.
func TestTooManyHomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &homes{home: lostHome()}
		h := host.NewHomes(ledger)
		for i := range 10_000 {
			h.Look(t.Context(), fmt.Sprint(i))
		}
		time.Sleep(time.Minute) // virtual
		h.Look(t.Context(), "more")
		if silent := h.Silent(time.Minute); silent != 9_999 {
			t.Errorf("%d homes are known to be silent", silent)
		}
	})
}
