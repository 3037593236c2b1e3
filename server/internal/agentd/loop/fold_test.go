package loop_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/loop/looptest"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// folder folds events as the driver does, without a driver.
type folder struct {
	t      *testing.T
	state  loop.State
	events []loop.Event
	now    time.Time // of the next event; one second later each time
	kept   *archive  // if not nil, each state is stored and compared with its restored copy
}

func newFolder(t *testing.T, limits loop.Limits) *folder {
	return newFolderOf(t, loop.RunStarted{Limits: limits})
}

// attended is a run that can ask a person.
func attended() loop.RunStarted {
	return loop.RunStarted{
		People:      loop.People{Attended: true, Expiry: time.Hour, AskOutcome: true},
		SystemTools: []string{loop.SystemAskUser, loop.SystemAttemptCompletion},
	}
}

func newFolderOf(t *testing.T, started loop.RunStarted) *folder {
	f := &folder{t: t, now: time.Unix(1000, 0)}
	if started.Limits.MaxTurns == 0 {
		started.Limits.MaxTurns = 100
	}
	if started.Limits.MaxCalls == 0 {
		started.Limits.MaxCalls = 100
	}
	started.RunID, started.Prompt, started.Model, started.Session = "r", "hello", "fake", "s"
	f.add(&started)
	return f
}

// add folds one event and then everything that follows from the state alone.
func (f *folder) add(p loop.Payload) {
	f.t.Helper()
	f.apply(p)
	for {
		next := loop.Next(&f.state)
		if len(next) == 0 {
			return
		}
		if _, ok := next[0].(loop.Record); !ok {
			return
		}
		for _, command := range next {
			f.apply(command.(loop.Record).Payload)
		}
	}
}

func (f *folder) apply(p loop.Payload) {
	f.t.Helper()
	e := loop.Event{Seq: f.state.Seq() + 1, Time: f.now, Payload: p}
	f.now = f.now.Add(time.Second)
	if err := f.state.Apply(e); err != nil {
		f.t.Fatal(err)
	}
	f.events = append(f.events, e)
	if f.kept != nil {
		f.kept.note(f)
	}
}

// respond folds a response to the state's request.
func (f *folder) respond(reason model.StopReason, blocks ...model.Block) *loop.AssistantMessage {
	f.t.Helper()
	next := loop.Next(&f.state)
	if len(next) == 0 || next[0] != (loop.AskModel{Turn: f.state.Turn()}) {
		f.t.Fatalf("the model is not to be asked now: %v", next)
	}
	checkPaired(f.t, f.state.Request().Messages)
	resp := &model.Response{Message: model.Message{Role: model.RoleAssistant, Blocks: blocks}, StopReason: reason, Usage: tool.Usage{OutputTokens: 1}}
	m := f.state.Respond(resp, offered, f.state.Seq())
	f.add(m)
	return m
}

func (f *folder) result(callID, text string) {
	f.t.Helper()
	f.add(&loop.CallResult{CallID: callID, Tool: "echo", Result: tool.TextResult(text)})
}

// ended folds the end of a call as the driver does.
func (f *folder) ended(r *loop.CallResult) {
	f.t.Helper()
	f.add(f.state.Settle(r))
}

// failed ends a call with an infrastructure failure.
func (f *folder) failed(callID string, kind tool.Kind) {
	f.t.Helper()
	f.ended(&loop.CallResult{CallID: callID, Tool: "echo", Result: tool.ErrorResult("[" + string(kind) + "]"), Failure: &loop.Failure{Kind: kind, Message: "it is " + string(kind), Rule: "rule"}, Plugin: "p", Instance: "p-1"})
}

// wanted returns the ids of the pending decisions.
func (f *folder) wanted() []string {
	var ids []string
	for _, p := range f.state.Pending() {
		ids = append(ids, p.ID)
	}
	return ids
}

// read returns the texts of the last message, which the model reads next.
func (f *folder) read() []string {
	f.t.Helper()
	messages := f.state.Request().Messages
	checkPaired(f.t, messages)
	var list []string
	for _, b := range messages[len(messages)-1].Blocks {
		switch {
		case b.Text != nil:
			list = append(list, b.Text.Text)
		case b.ToolResult != nil:
			r := tool.Result{Content: b.ToolResult.Content}
			list = append(list, r.Text())
		}
	}
	return list
}

// kept returns the payloads of a type.
func kept[P loop.Payload](f *folder) []P {
	var list []P
	for _, e := range f.events {
		if p, ok := e.Payload.(P); ok {
			list = append(list, p)
		}
	}
	return list
}

// running returns the ids of the calls in progress.
func (f *folder) running() []string {
	var ids []string
	for _, command := range loop.Next(&f.state) {
		if c, ok := command.(loop.CallTool); ok {
			ids = append(ids, c.Call.ID)
		}
	}
	return ids
}

// What the tests of the reducer and of the driver share.
var (
	text, call, effect = looptest.Text, looptest.Call, looptest.Effect
	response           = looptest.Response
	completion         = looptest.Completion
	offered            = looptest.Offered()
	checkPaired        = looptest.CheckPaired
)

// difference is cmp.Diff for values that are almost always equal, which reflect detects much
// faster.
func difference[T any](want, got T, opts ...cmp.Option) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, opts...)
}
