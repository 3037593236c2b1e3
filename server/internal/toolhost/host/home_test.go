package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
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

func (h *homes) Home(_ context.Context, _, _ string, move bool) (callstore.Home, error) {
	if h.err == nil && move {
		h.home = callstore.Home{Here: true, At: "here"}
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
		ledger := &homes{home: callstore.Home{Here: true, At: "here"}}
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
			return func() { ledger.home = callstore.Home{At: "tools-1 (4f1c)", Life: life} }
		}
		fails := func(fails bool) func() {
			return func() {
				if ledger.err = nil; fails {
					ledger.err = errors.New("gone")
				}
			}
		}
		approval := &tool.Approval{ApprovedBy: "Ada"}
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
			{does: "the other one comes back", change: elsewhere(3), later: time.Second, call: tool.Call{Tool: "write", Session: "s", Approval: approval}, kind: tool.KindUnavailable},
			{does: "it is lost, and nobody was asked since", later: time.Minute, call: tool.Call{Tool: "write", Session: "s", Approval: approval}, kind: tool.KindApprovalRequired, says: "shows no life"},
			{does: "a move that cannot be written", change: fails(true), call: tool.Call{Tool: "write", Session: "s", Approval: approval}, kind: tool.KindUnavailable, says: "gone"},
			{does: "an unknown session", call: tool.Call{Tool: "write", Session: "other"}, kind: tool.KindUnavailable, says: "gone"},
			{does: "an unknown session, without effects", call: tool.Call{Tool: "read", Session: "other"}},
			{does: "the database fails for long", later: time.Minute, call: tool.Call{Tool: "read", Session: "s"}, kind: tool.KindUnavailable, says: "tools-1"},
			{does: "the home could not show that it lives", change: fails(false), later: 59 * time.Second, call: tool.Call{Tool: "write", Session: "s", Approval: approval}, kind: tool.KindUnavailable},
			{does: "it is lost", later: time.Second, call: tool.Call{Tool: "write", Session: "s"}, kind: tool.KindApprovalRequired},
			{does: "the move", call: tool.Call{Tool: "write", Session: "s", Approval: approval}},
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
		}
		if ledger.moved != 1 {
			t.Errorf("the session was moved %d times", ledger.moved)
		}
		r.Close() // in the bubble
	})
}
