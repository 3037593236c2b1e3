package loop_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// TestAnyHistory walks through random runs and checks in any order of events: each call has exactly
// one result, in order; no command is issued twice; each model request is well-paired; folding the
// journal again leads to the same state, and so does folding the events after any snapshot.
func TestAnyHistory(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := &walk{rand: rand.New(rand.NewPCG(seed, 7)), asked: make(map[int]bool), calls: make(map[string]*lifetime), sent: make(map[string]bool)}
			w.folder = newFolderOf(t, w.anyRun())
			if seed%4 == 0 { // comparing whole states is slow
				w.kept = &archive{every: 1 + int(seed%25)}
			}
			for range 80 {
				w.step()
			}
			w.finish()
			if w.kept != nil {
				w.kept.check(w.folder)
			}
		})
	}
}

type walk struct {
	*folder
	rand  *rand.Rand
	asked map[int]bool // by turn
	calls map[string]*lifetime
	sent  map[string]bool // the ids at toolhost of calls that have ended
}

type lifetime struct{ starts, results int }

// anyRun is a random run with small limits, so that it often reaches them.
func (w *walk) anyRun() loop.RunStarted {
	started := loop.RunStarted{
		Limits: loop.Limits{
			MaxTurns: 1 + w.rand.IntN(12), MaxCalls: 1 + w.rand.IntN(20), MaxTokens: int64(w.rand.IntN(60)), MaxCost: float64(w.rand.IntN(20)),
			MaxWallTime: time.Duration(w.rand.IntN(3)) * 50 * time.Second, MaxOutput: int64(w.rand.IntN(3) * 30), MaxFailures: w.rand.IntN(6),
			MaxTimeouts: w.rand.IntN(4), MaxRepeats: w.rand.IntN(8),
		},
		ExplicitCompletion: w.rand.IntN(3) == 0,
	}
	if w.rand.IntN(4) > 0 {
		started.SystemTools, started.SubRuns = loop.SystemTools(), w.rand.IntN(2)
		started.People = loop.People{Attended: w.rand.IntN(4) > 0, Expiry: time.Duration(w.rand.IntN(2)) * 20 * time.Second, AskOutcome: w.rand.IntN(2) == 0}
	}
	return started
}

func (w *walk) step() {
	if w.rand.IntN(16) == 0 {
		w.refold()
	}
	switch w.rand.IntN(20) {
	case 0, 1:
		w.add(&loop.UserMessage{Text: "more"})
		return
	case 2:
		if w.state.Finished() == nil {
			w.add(&loop.CancelRequested{})
		}
		return
	case 3, 4, 5, 6:
		w.decide()
		return
	}
	next := loop.Next(&w.state)
	if len(next) == 0 {
		return
	}
	switch c := next[w.rand.IntN(len(next))].(type) {
	case loop.AskModel:
		if w.asked[c.Turn] {
			w.t.Fatalf("turn %d is asked for twice", c.Turn)
		}
		w.answer(c)
	case loop.CallTool:
		if w.sent[c.Call.SentID()] {
			w.t.Fatalf("%s is called again after it has ended", c.Call.SentID())
		}
		w.sent[c.Call.SentID()] = true
		w.ended(w.anyResult(&c.Call))
	case loop.ReviewCall:
		if p := loop.Review(&w.state, w.anyResult(&c.Call)); p != nil {
			w.add(p)
		}
	case loop.Summarize:
		w.sumUp(c)
	case loop.Wait:
		w.ring(c)
	default:
		w.t.Fatalf("a record is left: %+v", c)
	}
}

func (w *walk) answer(c loop.AskModel) {
	checkPaired(w.t, w.state.Request().Messages)
	read := w.state.Seq()
	if w.rand.IntN(4) == 0 {
		w.add(&loop.UserMessage{Text: "meanwhile"})
		if next := loop.Next(&w.state); len(next) == 0 || next[0] != c {
			return // the time budget was used up
		}
	}
	if w.rand.IntN(10) == 0 {
		w.add(w.state.Failed(loop.StopModelError, "down"))
		return
	}
	w.asked[c.Turn] = true
	reasons := []model.StopReason{
		model.StopEndTurn, model.StopToolUse, model.StopToolUse, model.StopToolUse, model.StopMaxTokens, model.StopPauseTurn,
		model.StopRefusal, model.StopContentFilter, model.StopContextOverflow,
	}
	w.add(w.state.Respond(&model.Response{
		Message: model.Message{Blocks: w.anyBlocks()}, StopReason: reasons[w.rand.IntN(len(reasons))], Usage: tool.Usage{OutputTokens: uint64(w.rand.IntN(10))},
	}, offered, read))
}

func (w *walk) anyBlocks() []model.Block {
	var blocks []model.Block
	if w.rand.IntN(3) > 0 {
		blocks = append(blocks, text([]string{"", "hm"}[w.rand.IntN(2)]))
	}
	for range w.rand.IntN(5) {
		id := []string{"", "same", fmt.Sprint(w.rand.IntN(1000))}[w.rand.IntN(3)]
		names := []string{"echo", "echo", "direct", "serial", "missing", "bad name", loop.SystemAskUser, loop.SystemAttemptCompletion, loop.SystemNewTask, loop.SystemCompact}
		b := call(id, names[w.rand.IntN(len(names))])
		b.ToolCall.Arguments = []string{`{}`, `{"question":"what?","result":"this","task":"do it"}`, `{`}[w.rand.IntN(3)]
		blocks = append(blocks, b)
	}
	return blocks
}

func (w *walk) anyResult(c *loop.Call) *loop.CallResult {
	r := &loop.CallResult{CallID: c.ID, Tool: c.Tool, Result: tool.TextResult(fmt.Sprint("ok ", w.rand.IntN(3)))}
	switch w.rand.IntN(8) {
	case 0, 1:
		kinds := []tool.Kind{tool.KindTimeout, tool.KindApprovalRequired, tool.KindApprovalRequired, tool.KindOutcomeUnknown, tool.KindCrashed}
		r.Failure = &loop.Failure{Kind: kinds[w.rand.IntN(len(kinds))], Message: "went wrong"}
		r.Result = tool.ErrorResult("went wrong")
	case 2:
		r.Result = tool.ErrorResult("bad")
	case 3:
		r.Result.Effects = []tool.Effect{effect([]string{"todos", "k", "run"}[w.rand.IntN(3)], []tool.EffectOperation{"", "append", "merge"}[w.rand.IntN(3)], `{"a":[1]}`)}
		r.Result.Cost = w.rand.Float64()
	}
	return r
}

// decide makes a random decision, which may not fit.
func (w *walk) decide() {
	pending := w.state.Pending()
	if len(pending) == 0 {
		return
	}
	if p := pending[w.rand.IntN(len(pending))]; w.rand.IntN(4) == 0 {
		e := &loop.DecisionExtended{ID: p.ID, Expires: w.now.Add(time.Duration(w.rand.IntN(40)) * time.Second)}
		if moves, _ := p.Extends(e, w.now); moves {
			w.add(e)
		}
		return
	}
	verdicts := []loop.Verdict{loop.VerdictApprove, loop.VerdictReject, loop.VerdictAnswer}
	d := &loop.DecisionMade{ID: pending[w.rand.IntN(len(pending))].ID, Verdict: verdicts[w.rand.IntN(3)], Text: []string{"", "so"}[w.rand.IntN(2)]}
	if w.rand.IntN(3) == 0 {
		d.Arguments = json.RawMessage(`{"edited":true}`)
	}
	if w.state.Check(d) == nil {
		w.add(d)
	}
}

// ring advances the time to the one that the run waits for.
func (w *walk) ring(c loop.Wait) {
	if c.Until.IsZero() || w.rand.IntN(3) == 0 {
		return
	}
	if w.now.Before(c.Until) {
		w.now = c.Until
	}
	due := w.state.Due(w.now)
	if len(due) == 0 {
		w.t.Fatalf("nothing is due at %s", w.now)
	}
	for _, p := range due {
		if _, stop := p.(*loop.CancelRequested); !stop || w.state.Finished() == nil {
			w.add(p)
		}
	}
}

// refold folds the journal from the start and compares the next commands.
func (w *walk) refold() {
	var again loop.State
	for _, e := range w.events {
		if err := again.Apply(e); err != nil {
			w.t.Fatal(err)
		}
	}
	if diff := difference(loop.Next(&w.state), loop.Next(&again)); diff != "" {
		w.t.Fatalf("folded again, something else is next:\n%s", diff)
	}
	if diff := difference(w.state.Request(), again.Request()); diff != "" {
		w.t.Fatalf("folded again, the conversation differs:\n%s", diff)
	}
	if diff := difference(w.state.Pending(), again.Pending()); diff != "" {
		w.t.Fatalf("folded again, other decisions are wanted:\n%s", diff)
	}
	if len(w.state.Pending()) > 0 && w.state.Finished() != nil {
		w.t.Fatal("a finished run waits for a person")
	}
}

// finish ends the run and counts the events of its journal.
func (w *walk) finish() {
	w.refold()
	if w.state.Finished() == nil {
		w.add(&loop.CancelRequested{})
	}
	for _, command := range loop.Next(&w.state) {
		if c, ok := command.(loop.CallTool); ok {
			w.result(c.Call.ID, "late")
		}
	}
	if w.state.Finished() == nil {
		w.t.Fatalf("the run does not end: %v", loop.Next(&w.state))
	}
	checkPaired(w.t, w.state.Request().Messages)
	for _, e := range w.events {
		switch p := e.Payload.(type) {
		case *loop.AssistantMessage:
			for _, c := range p.Calls {
				if w.calls[c.ID] != nil {
					w.t.Fatalf("the call id %s is given twice", c.ID)
				}
				w.calls[c.ID] = new(lifetime)
			}
		case *loop.CallStarted:
			w.calls[p.CallID].starts++
			if want := max(p.Attempt, 1); w.calls[p.CallID].starts != want {
				w.t.Errorf("start %d of call %s says it is attempt %d", w.calls[p.CallID].starts, p.CallID, p.Attempt)
			}
		case *loop.CallResult:
			w.calls[p.CallID].results++
		}
	}
	for id, l := range w.calls {
		if l.results != 1 {
			w.t.Errorf("call %s was started %d times and has %d results", id, l.starts, l.results)
		}
	}
}
