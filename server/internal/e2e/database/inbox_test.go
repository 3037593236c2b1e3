//go:build more

package database_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// node is one of several agentds of a database.
type node struct {
	*server
	agentdv1.AgentServiceClient
	decisions decisionv1.DecisionServiceClient
}

func (h *home) node(name, script string, flags ...string) *node {
	h.t.Helper()
	s := h.start("agentd", nil, append([]string{"serve", "--listen", h.socket(name), "--toolhost", h.socket("t"), "--journal", h.db.URL("postgres"), "--model", "scripted:" + script}, flags...)...)
	conn, err := grpc.NewClient(h.socket(name), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	return &node{s, agentdv1.NewAgentServiceClient(conn), decisionv1.NewDecisionServiceClient(conn)}
}

// dangerous writes a scripted model whose runs make calls that need an approval.
func (h *home) dangerous() string {
	h.t.Helper()
	path := filepath.Join(h.dir, "dangerous.yaml")
	const text = "turns:\n  - calls: [{tool: counterplugin_drop, arguments: {key: a}}]\n  - calls: [{tool: counterplugin_drop, arguments: {key: b}}]\n" +
		"  - calls: [{tool: counterplugin_drop, arguments: {key: c}}]\n  - text: done\n  - text: done again\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// waiting waits until the run r waits for a number of decisions in all, and returns the last one.
func (n *node) waiting(t *testing.T, id string) *decisionv1.Decision {
	t.Helper()
	var d *decisionv1.Decision
	eventually.Shows(t, "the run waits for "+id, func() (bool, any) {
		resp, err := n.decisions.GetDecision(t.Context(), &decisionv1.GetDecisionRequest{Name: "r/" + id})
		d = resp.GetDecision()
		return err == nil && d.GetState() == decisionv1.DecisionState_DECISION_STATE_WAITING, fmt.Sprint(resp, err)
	})
	return d
}

// events returns how many events of a type the run r has.
func (h *home) events(kind string) string {
	return h.db.Do(h.t, "postgres", "SELECT count(*) FROM agentd_records JOIN agentd_runs ON run = number WHERE id = 'r' AND type = '"+kind+"'")[0][0]
}

// Any agentd of a database takes messages, decisions and cancellations for the runs of another one.
// A request that is repeated at any of them has the same answer, and happens once.
func TestRequestsAtTheOtherAgentd(t *testing.T) {
	h := newHome(t)
	script := h.dangerous()
	a, b := h.node("a", script), h.node("b", script)
	start := &agentdv1.StartRunRequest{Prompt: "drop", RunId: "r", Session: "s"}
	for _, at := range []*node{b, a, b} {
		if resp, err := at.StartRun(t.Context(), start); err != nil || resp.GetRunId() != "r" {
			t.Fatalf("the start: %v, %v", resp, err)
		}
	}
	first := b.waiting(t, "d1")

	message := &agentdv1.SendMessageRequest{RunId: "r", Text: "and more", MessageId: "m1"}
	var seq uint64
	for _, at := range []*node{a, b, a} {
		resp, err := at.SendMessage(t.Context(), message)
		if err != nil || resp.GetSeq() == 0 || seq > 0 && resp.GetSeq() != seq {
			t.Fatalf("the message: %v, %v, before %d", resp, err, seq)
		}
		seq = resp.GetSeq()
	}
	if _, err := a.SendMessage(t.Context(), &agentdv1.SendMessageRequest{RunId: "r", Text: "another text", MessageId: "m1"}); err == nil {
		t.Error("another message with the same id is accepted")
	}
	if _, err := a.SendMessage(t.Context(), &agentdv1.SendMessageRequest{RunId: "r", Text: "and more", MessageId: "m2"}); err != nil {
		t.Errorf("the same text with another id: %v", err)
	}
	if n := h.events("user_message"); n != "2" {
		t.Errorf("the run has %s messages, want 2", n)
	}

	decide := &decisionv1.DecideRequest{Name: first.GetName(), Etag: first.GetEtag(), Verdict: decisionv1.Verdict_VERDICT_APPROVE, RequestId: "q1"}
	for _, at := range []*node{a, b, a} {
		if resp, err := at.decisions.Decide(t.Context(), decide); err != nil || resp.GetDecision().GetState() != decisionv1.DecisionState_DECISION_STATE_MADE {
			t.Fatalf("the decision: %v, %v", resp, err)
		}
	}
	if _, err := a.decisions.Decide(t.Context(), &decisionv1.DecideRequest{Name: first.GetName(), Etag: first.GetEtag(), Verdict: decisionv1.Verdict_VERDICT_REJECT, RequestId: "q2"}); err == nil {
		t.Error("a second verdict is accepted")
	}
	b.waiting(t, "d2")
	if resp, err := a.Respond(t.Context(), &agentdv1.RespondRequest{RunId: "r", Decisions: []*agentdv1.Decision{{DecisionId: "d2", Verdict: &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{}}}}}); err != nil || resp.GetSeq() == 0 {
		t.Errorf("the response: %v, %v", resp, err)
	}
	b.waiting(t, "d3")
	if got := h.executed("s"); len(got) != 2 {
		t.Errorf("executed: %v", got)
	}
	for _, at := range []*node{a, b, a} {
		if _, err := at.CancelRun(t.Context(), &agentdv1.CancelRunRequest{RunId: "r", Reason: "enough"}); err != nil {
			t.Errorf("the cancellation: %v", err)
		}
	}
	h.finished(a, agentdv1.StopReason_STOP_REASON_CANCELLED)
	for kind, want := range map[string]string{"decision_made": "2", "cancel_requested": "1", "user_message": "2"} {
		if n := h.events(kind); n != want {
			t.Errorf("the run has %s events %s, want %s", n, kind, want)
		}
	}
	// Nobody works on the run, so the one with the message continues it.
	if _, err := a.SendMessage(t.Context(), &agentdv1.SendMessageRequest{RunId: "r", Text: "go on", MessageId: "m3"}); err != nil {
		t.Error(err)
	}
	if n := h.db.Do(t, "postgres", "SELECT count(*) FROM agentd_inbox WHERE seq IS NULL OR data IS NOT NULL")[0][0]; n != "0" {
		t.Errorf("%s entries have no outcome", n)
	}
}

func (h *home) finished(at *node, want agentdv1.StopReason) {
	h.t.Helper()
	eventually.Shows(h.t, "the run has ended", func() (bool, any) {
		resp, err := at.GetRun(h.t.Context(), &agentdv1.GetRunRequest{RunId: "r"})
		return err == nil && resp.GetRun().GetState() == agentdv1.RunState_RUN_STATE_FINISHED && resp.GetRun().GetStopReason() == want, fmt.Sprint(resp, err)
	})
}

// The owner of a run is killed between the entry of a message and its append. The message becomes
// one event at the agentd that takes the run over, also if it is sent again there.
func TestTheOwnerIsKilledBeforeTheAppend(t *testing.T) {
	h := newHome(t)
	script := filepath.Join(h.dir, "slow.yaml") // a run that waits has no owner
	if err := os.WriteFile(script, []byte("turns:\n  - delay: 10m\n    text: done\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, b := h.node("a", script), h.node("b", script)
	if _, err := b.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "drop", RunId: "r", Session: "s"}); err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	message := &agentdv1.SendMessageRequest{RunId: "r", Text: "pay", MessageId: "m1"}
	gaveUp, giveUp := context.WithCancel(t.Context())
	sent := make(chan error, 1)
	go func() { // ends with giveUp
		_, err := a.SendMessage(gaveUp, message)
		sent <- err
	}()
	eventually.Holds(t, "the message is in the inbox", func() bool { return h.db.Do(t, "postgres", "SELECT count(*) FROM agentd_inbox")[0][0] == "1" })
	giveUp()
	if err := <-sent; err == nil {
		t.Error("the message has an answer, and its run has no owner")
	}
	b.end(syscall.SIGKILL)
	resp, err := a.SendMessage(t.Context(), message)
	if err != nil || resp.GetSeq() == 0 {
		t.Errorf("the message: %v, %v", resp, err)
	}
	b = h.node("b", script)
	again, err := b.SendMessage(t.Context(), message)
	if err != nil || again.GetSeq() != resp.GetSeq() {
		t.Errorf("the message again: %v, %v, want %v", again, err, resp)
	}
	if n := h.events("user_message"); n != "1" {
		t.Errorf("the run has %s messages, want 1", n)
	}
}
