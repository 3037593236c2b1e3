package agent_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// TestAnyHistory walks through random runs and checks, whatever happens and in whatever order: each call has exactly
// one result, in order; no command is issued twice; each request to a model is well-paired; folding the journal again
// leads to the same state.
func TestAnyHistory(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := &walk{rand: rand.New(rand.NewPCG(seed, 7)), asked: make(map[int]bool), calls: make(map[string]*lifetime)}
			w.folder = newFolder(t, agent.Limits{MaxTurns: 1 + w.rand.IntN(12), MaxCalls: 1 + w.rand.IntN(20)})
			for range 80 {
				w.step()
			}
			w.finish()
		})
	}
}

type walk struct {
	*folder
	rand  *rand.Rand
	asked map[int]bool // by turn
	calls map[string]*lifetime
}

type lifetime struct{ starts, results int }

func (w *walk) step() {
	if w.rand.IntN(16) == 0 {
		w.refold()
	}
	switch w.rand.IntN(20) {
	case 0, 1:
		w.add(&agent.UserMessage{Text: "more"})
		return
	case 2:
		if w.state.Finished() == nil {
			w.add(&agent.CancelRequested{})
		}
		return
	}
	next := agent.Next(&w.state)
	if len(next) == 0 {
		return
	}
	switch c := next[w.rand.IntN(len(next))].(type) {
	case agent.AskModel:
		if w.asked[c.Turn] {
			w.t.Fatalf("turn %d is asked for twice", c.Turn)
		}
		w.answer(c)
	case agent.CallTool:
		result := tool.TextResult("ok")
		if w.rand.IntN(3) == 0 {
			result = tool.ErrorResult("bad")
		}
		w.add(&agent.CallResult{CallID: c.Call.ID, Tool: c.Call.Tool, Result: result})
	default:
		w.t.Fatalf("a record is left: %+v", c)
	}
}

func (w *walk) answer(c agent.AskModel) {
	checkPaired(w.t, w.state.Request().Messages)
	read := w.state.Seq()
	if w.rand.IntN(4) == 0 {
		w.add(&agent.UserMessage{Text: "meanwhile"})
	}
	if w.rand.IntN(10) == 0 {
		w.add(w.state.Failed(agent.StopModelError, "down"))
		return
	}
	w.asked[c.Turn] = true
	reasons := []model.StopReason{
		model.StopEndTurn, model.StopToolUse, model.StopToolUse, model.StopToolUse, model.StopMaxTokens, model.StopPauseTurn,
		model.StopRefusal, model.StopContentFilter, model.StopContextOverflow,
	}
	var blocks []model.Block
	if w.rand.IntN(3) > 0 {
		blocks = append(blocks, text([]string{"", "hm"}[w.rand.IntN(2)]))
	}
	for range w.rand.IntN(5) {
		id := []string{"", "same", fmt.Sprint(w.rand.IntN(1000))}[w.rand.IntN(3)]
		blocks = append(blocks, call(id, []string{"echo", "echo", "direct", "serial", "missing", "bad name"}[w.rand.IntN(6)]))
	}
	resp := &model.Response{Message: model.Message{Blocks: blocks}, StopReason: reasons[w.rand.IntN(len(reasons))]}
	w.add(w.state.Respond(resp, offered, read))
}

// refold folds the journal anew and compares what it says is next.
func (w *walk) refold() {
	var again agent.State
	for _, e := range w.events {
		if err := again.Apply(e); err != nil {
			w.t.Fatal(err)
		}
	}
	if diff := cmp.Diff(agent.Next(&w.state), agent.Next(&again)); diff != "" {
		w.t.Fatalf("folded again, something else is next:\n%s", diff)
	}
	if diff := cmp.Diff(w.state.Request(), again.Request()); diff != "" {
		w.t.Fatalf("folded again, the conversation differs:\n%s", diff)
	}
}

// finish ends the run and counts what its journal holds.
func (w *walk) finish() {
	w.refold()
	if w.state.Finished() == nil {
		w.add(&agent.CancelRequested{})
	}
	for _, command := range agent.Next(&w.state) {
		w.result(command.(agent.CallTool).Call.ID, "late")
	}
	if w.state.Finished() == nil {
		w.t.Fatalf("the run does not end: %v", agent.Next(&w.state))
	}
	checkPaired(w.t, w.state.Request().Messages)
	for _, e := range w.events {
		switch p := e.Payload.(type) {
		case *agent.AssistantMessage:
			for _, c := range p.Calls {
				if w.calls[c.ID] != nil {
					w.t.Fatalf("the call id %s is given twice", c.ID)
				}
				w.calls[c.ID] = new(lifetime)
			}
		case *agent.CallStarted:
			w.calls[p.CallID].starts++
		case *agent.CallResult:
			w.calls[p.CallID].results++
		}
	}
	for id, l := range w.calls {
		if l.starts > 1 || l.results != 1 {
			w.t.Errorf("call %s was started %d times and has %d results", id, l.starts, l.results)
		}
	}
}
