package snapshot_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/loop/looptest"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/snapshot"
	"github.com/toolhost/toolhost/tool"
)

// history is a run and its stored snapshot.
type history struct {
	t      *testing.T
	state  loop.State
	last   runstore.Record
	kept   snapshot.Kept
	stored runstore.Snapshot
}

func begin(t *testing.T) *history {
	h := &history{t: t}
	limits := loop.Limits{MaxTurns: 1000, MaxCalls: 1000}
	h.add(&loop.RunStarted{RunID: "r", Prompt: "hello", Model: "fake", Limits: limits, Window: loop.Window{Tokens: 1 << 30}})
	return h
}

func (h *history) add(p loop.Payload) {
	h.t.Helper()
	e := loop.Event{Seq: h.state.Seq() + 1, Time: time.Unix(int64(h.state.Seq()), 0), Payload: p}
	if err := h.state.Apply(e); err != nil {
		h.t.Fatal(err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		h.t.Fatal(err)
	}
	h.last = runstore.Record{Seq: e.Seq, Time: e.Time, Type: string(p.Type()), Version: 1, Data: data}
}

// ask folds a response with a call.
func (h *history) ask() (callID string) {
	h.t.Helper()
	id := fmt.Sprint("id", h.state.Seq())
	m := h.state.Respond(looptest.Response(model.StopToolUse, looptest.Call(id, "echo")), looptest.Offered(), h.state.Seq())
	h.add(m)
	return m.Calls[0].ID
}

// turn folds a response with a call, and the result of the call.
func (h *history) turn() {
	h.t.Helper()
	id := h.ask()
	h.add(&loop.CallResult{CallID: id, Tool: "echo", Result: tool.TextResult("the result of " + id)})
}

// store renews the stored snapshot, and returns the renewal.
func (h *history) store() *runstore.Renewal {
	h.t.Helper()
	renewal, kept, err := snapshot.Make(&h.state, h.kept, &h.last)
	if err != nil {
		h.t.Fatal(err)
	}
	h.kept = kept
	if renewal != nil {
		h.stored = runstore.Snapshot{State: renewal.State, Parts: slices.Concat(h.stored.Parts[:renewal.Keep], renewal.Parts)}
	}
	return renewal
}

// Make decides which stored parts stay and whether a part is added.
func TestPartsOfASnapshot(t *testing.T) {
	for name, test := range map[string]struct {
		change          func(h *history) // after a snapshot of three parts
		none            bool             // there is no new snapshot
		keep, added     int
		without, within string // texts of the conversation that are not, or are, in the added part
	}{
		"nothing was said":      {change: func(h *history) { h.add(&loop.BudgetWarning{Budget: loop.BudgetTurns}) }, keep: 3},
		"only the user said":    {change: func(h *history) { h.add(&loop.UserMessage{Text: "hurry"}) }, keep: 3},
		"the conversation grew": {change: (*history).turn, keep: 3, added: 1, within: "the result of r.t3.c0", without: "the result of r.t4.c0"},
		"a call is in progress": {change: func(h *history) { h.ask() }, none: true},
		"it was compacted": {
			change: func(h *history) { h.add(&loop.Compacted{Replaced: 3, Summary: "so far"}) }, added: 1, within: "so far", without: "the result of r.t1.c0",
		},
		"the run began again": {
			change: func(h *history) {
				h.add(h.state.Respond(looptest.Response(model.StopEndTurn, looptest.Text("done")), nil, h.state.Seq()))
				h.add(&loop.RunFinished{StopReason: loop.StopEndTurn})
				h.add(&loop.UserMessage{Text: "more"})
			},
			keep: 3, added: 1, within: "done",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := begin(t)
			for range 3 {
				h.turn()
				h.store()
			}
			test.change(h)
			renewal := h.store()
			if renewal == nil != test.none {
				t.Fatalf("the renewal is %v", renewal)
			}
			if renewal == nil {
				return
			}
			if renewal.Keep != test.keep || len(renewal.Parts) != test.added {
				t.Fatalf("%d parts stay and %d are added, want %d and %d", renewal.Keep, len(renewal.Parts), test.keep, test.added)
			}
			added := ""
			for _, part := range renewal.Parts {
				added += string(part)
			}
			if !strings.Contains(added, test.within) || test.without != "" && strings.Contains(added, test.without) {
				t.Errorf("the added part is %q", added)
			}
			h.wantStored()
		})
	}
}

// wantStored fails the test if the stored snapshot is not the present state.
func (h *history) wantStored() {
	h.t.Helper()
	state, kept, err := snapshot.Read(&h.stored)
	if err != nil {
		h.t.Fatal(err)
	}
	want, got := fmt.Sprint(h.state.Request().Messages), fmt.Sprint(state.Request().Messages)
	if state.Seq() != h.state.Seq() || len(state.Request().Messages) != len(h.state.Request().Messages) {
		h.t.Errorf("the snapshot has event %d and the conversation %s, want %d and %s", state.Seq(), got, h.state.Seq(), want)
	}
	if *kept.Last() != snapshot.FingerprintOf(&h.last) {
		h.t.Error("the snapshot does not name the last record")
	}
}

// A snapshot with too many parts is replaced by one with one part.
func TestTooManyParts(t *testing.T) {
	h := begin(t)
	most := 0
	for range 100 {
		h.turn()
		h.store()
		if n := len(h.stored.Parts); n < most {
			if n != 1 || most != 64 {
				t.Errorf("after %d parts there are %d", most, n)
			}
			h.wantStored()
			return
		}
		most = len(h.stored.Parts)
	}
	t.Errorf("there are %d parts", most)
}

// The fingerprint identifies a record: it differs if anything in the record differs, except its
// position, which the state contains.
func TestFingerprint(t *testing.T) {
	record := runstore.Record{Seq: 1, Time: time.Unix(1, 0), Type: "user_message", Version: 1, Data: []byte(`{}`)}
	same := snapshot.FingerprintOf(&record)
	for name, change := range map[string]func(r *runstore.Record){
		"time":    func(r *runstore.Record) { r.Time = r.Time.Add(1) },
		"type":    func(r *runstore.Record) { r.Type = "run_started" },
		"version": func(r *runstore.Record) { r.Version = 2 },
		"data":    func(r *runstore.Record) { r.Data = []byte(`{"text":"x"}`) },
	} {
		other := record
		change(&other)
		if snapshot.FingerprintOf(&other) == same {
			t.Errorf("a record with another %s has the same fingerprint", name)
		}
	}
}
