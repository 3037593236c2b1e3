//go:build more

package database_test

import (
	"bytes"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// durable reads the durable events of the run r at an agentd, until it ends.
func (n *node) durable(t *testing.T, seen func(*agentdv1.RunEvent)) (events []*agentdv1.RunEvent) {
	t.Helper()
	stream, err := n.WatchRun(t.Context(), &agentdv1.WatchRunRequest{RunId: "r"})
	for err == nil {
		var m *agentdv1.WatchRunResponse
		if m, err = stream.Recv(); err == nil && m.GetEvent().GetIndex() == 0 {
			events = append(events, m.GetEvent())
			seen(m.GetEvent())
		}
	}
	if len(events) == 0 || events[len(events)-1].GetRunFinished() == nil {
		t.Fatalf("the watch ended after %d events: %v", len(events), err)
	}
	return events
}

// slow is script with a model that takes longer than a look of a watcher.
func (h *home) slow() string {
	h.t.Helper()
	path := h.script()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, bytes.ReplaceAll(text, []byte("delay: 50ms"), []byte("delay: 500ms")), 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return path
}

// A watch at one agentd follows a run of another one, which is killed, until the run has ended at
// the former. Each event of the journal comes once.
func TestWatchAtTheOtherAgentd(t *testing.T) {
	h := newHome(t)
	script := h.slow()
	a, b := h.node("a", script), h.node("b", script)
	if _, err := a.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "count", RunId: "r", Session: "s"}); err != nil {
		t.Fatal(err)
	}
	kill := func(e *agentdv1.RunEvent) {
		if e.GetSeq() == 5 {
			a.end(syscall.SIGKILL)
		}
	}
	got := b.durable(t, kill)
	if epoch := h.db.Do(t, "postgres", "SELECT epoch FROM agentd_runs WHERE id = 'r'")[0][0]; epoch == "0" {
		t.Error("the run ended at the agentd that was to be killed before")
	}
	if diff := cmp.Diff(b.durable(t, func(*agentdv1.RunEvent) {}), got, protocmp.Transform()); diff != "" {
		t.Errorf("(-the journal +the watch):\n%s", diff)
	}
	seqs := h.db.Do(t, "postgres", "SELECT seq FROM agentd_records JOIN agentd_runs ON run = number WHERE id = 'r' ORDER BY seq")
	for i, e := range got {
		if e.GetSeq() != uint64(i+1) || i >= len(seqs) {
			t.Fatalf("event %d has the position %d", i+1, e.GetSeq())
		}
	}
	if len(got) != len(seqs) || len(h.executed("s")) != calls {
		t.Errorf("%d events and %d calls, want %d and %d", len(got), len(h.executed("s")), len(seqs), calls)
	}
	for call, n := range h.executed("s") {
		if n != 1 {
			t.Errorf("call %s was executed %d times", call, n)
		}
	}
}
