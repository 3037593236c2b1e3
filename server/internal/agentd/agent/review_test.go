package agent_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

const writeSchema = `{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}`

// payer is a toolhost whose tool write needs approval of its final arguments and shows previews.
type payer struct {
	*fakeTools
	result   func(text string) json.RawMessage // of the status of a preview; nil: the tool reports none
	previews error                             // of opening a preview

	mu      sync.Mutex
	shown   []string // the previewed arguments, with the ids of the calls
	closed  int      // previews that were closed
	sent    []tool.Call
	listing int
}

func newPayer(schema string, declared string) *payer {
	w := &payer{}
	w.fakeTools = newTools(func(ctx context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
		w.mu.Lock()
		w.sent = append(w.sent, call)
		w.mu.Unlock()
		if call.Approval == nil {
			return tool.Outcome{CallID: call.ID, Err: needsApproval(`{"path":"a"}`)}
		}
		return echo(ctx, call, nil)
	})
	spec := tool.Spec{Name: "write", InputSchema: json.RawMessage(schema), PartialArguments: true}
	if declared != "" {
		spec.Metadata = map[string]json.RawMessage{"preview": json.RawMessage(declared)}
	}
	w.infos = []tool.Info{{Spec: spec}}
	return w
}

func needsApproval(final string) *tool.Error {
	sum := sha256.Sum256([]byte(final))
	return &tool.Error{Kind: tool.KindApprovalRequired, Message: "it writes", Rule: "ask", Arguments: []byte(final), ArgumentsSHA256: hex.EncodeToString(sum[:])}
}

func (w *payer) ListTools(ctx context.Context, q tool.Query) ([]tool.Info, error) {
	w.mu.Lock()
	w.listing++
	w.mu.Unlock()
	return w.fakeTools.ListTools(ctx, q)
}

func (w *payer) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	if complete {
		return w.fakeTools.Open(ctx, call, complete)
	}
	if w.previews != nil {
		return nil, w.previews
	}
	if call.Approval != nil || len(call.Arguments) > 0 {
		return nil, tool.Errorf(tool.KindInternal, "the preview is %+v", call)
	}
	return &previewed{host: w, id: call.ID, events: make(chan tool.Event, 2)}, nil
}

// previewed is a call that is only previewed.
type previewed struct {
	host   *payer
	id     string
	events chan tool.Event
}

func (p *previewed) Send(_ context.Context, text []byte, complete bool) error {
	p.host.mu.Lock()
	defer p.host.mu.Unlock()
	p.host.shown = append(p.host.shown, p.id+" "+string(text))
	if complete {
		return tool.Errorf(tool.KindInternal, "the preview is executed")
	}
	if p.host.result != nil {
		p.events <- tool.Event{Status: &tool.Status{Message: "looking"}}
		p.events <- tool.Event{Status: &tool.Status{Result: p.host.result(string(text))}}
	}
	return nil
}

func (p *previewed) Next(ctx context.Context) (tool.Event, error) {
	select {
	case e := <-p.events:
		return e, nil
	case <-ctx.Done():
		return tool.Event{}, ctx.Err()
	}
}

func (p *previewed) Cancel(string) {}

func (p *previewed) Close() {
	p.host.mu.Lock()
	defer p.host.mu.Unlock()
	p.host.closed++
}

func diffResult(diff string) func(string) json.RawMessage {
	return func(string) json.RawMessage {
		data, _ := json.Marshal(map[string]string{"diff": diff})
		return data
	}
}

func writing() *fakeModel {
	return turns(response(model.StopToolUse, call("a", "write")), response(model.StopEndTurn, text("ok")))
}

// begin starts a run that waits for the approval of a write, and returns the pending decision.
func (w *payer) begin(t *testing.T) (*fixture, loop.Pending) {
	t.Helper()
	f := newFixture(t, writing(), newTools(echo), func(c *agent.Config) { c.Tools = w; withPeople(c) })
	f.start(loop.Task{})
	return f, w.pending(t, f)
}

func (w *payer) pending(t *testing.T, f *fixture) loop.Pending {
	t.Helper()
	time.Sleep(time.Minute) // longer than anything that the request of a decision waits for
	synctest.Wait()
	run, err := f.GetRun(t.Context(), "r")
	if err != nil || len(run.Pending) != 1 {
		t.Fatalf("the run is %+v, %v", run, err)
	}
	return run.Pending[0]
}

// The decision about an approval has the schema of the tool, and what the tool shows for the final
// arguments. Nothing is executed for that.
func TestADecisionHasItsReview(t *testing.T) {
	for name, test := range map[string]struct {
		declared string
		schema   string
		result   func(string) json.RawMessage
		previews error
		diff     string
		shown    int
	}{
		"a diff":           {`"diff"`, writeSchema, diffResult("--- a\n+++ a\n-x\n+y\n"), nil, "--- a\n+++ a\n-x\n+y\n", 1},
		"no line feed":     {`"diff"`, writeSchema, diffResult("+y"), nil, "+y\n", 1},
		"none declared":    {"", writeSchema, diffResult("+y"), nil, "", 0},
		"something else":   {`{"diff":1}`, writeSchema, diffResult("+y"), nil, "", 0},
		"never shown":      {`"diff"`, writeSchema, nil, nil, "", 1},
		"not an object":    {`"diff"`, writeSchema, func(string) json.RawMessage { return []byte(`[1]`) }, nil, "", 1},
		"not a text":       {`"diff"`, writeSchema, func(string) json.RawMessage { return []byte(`{"diff":{}}`) }, nil, "", 1},
		"broken":           {`"diff"`, writeSchema, func(string) json.RawMessage { return []byte(`{"diff":"`) }, nil, "", 1},
		"empty":            {`"diff"`, writeSchema, diffResult(" \n"), nil, "", 1},
		"refused":          {`"diff"`, writeSchema, nil, tool.Errorf(tool.KindDenied, "no"), "", 0},
		"unusable schema":  {"", `{"type":`, nil, nil, "", 0},
		"very large":       {`"diff"`, `{"description":"` + strings.Repeat("x", 65<<10) + `"}`, diffResult("+y"), nil, "+y\n", 1},
		"too much to show": {`"diff"`, writeSchema, diffResult(strings.Repeat("+ä\n", 20000)), nil, strings.Repeat("+ä\n", 8183) + "… the diff is longer than this\n", 1},
		"one endless line": {`"diff"`, writeSchema, diffResult(strings.Repeat("ä", 20000)), nil, "… the diff is longer than this\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayer(test.schema, test.declared)
				w.result, w.previews = test.result, test.previews
				f, p := w.begin(t)
				defer f.Close()
				if p.Diff != test.diff {
					t.Errorf("the diff has %d bytes, %.100q…; want %d, %.100q…", len(p.Diff), p.Diff, len(test.diff), test.diff)
				}
				wantSchema := test.schema
				if name == "very large" || name == "unusable schema" {
					wantSchema = ""
				}
				if string(p.Schema) != wantSchema || p.Rule != "ask" || p.Arguments != `{"path":"a"}` {
					t.Errorf("the decision is %+v", p)
				}
				w.mu.Lock()
				defer w.mu.Unlock()
				if len(w.shown) != test.shown || test.shown == 1 && (w.shown[0] != `r.t1.c0.preview {"path":"a"}` || w.closed != 1) || len(w.sent) != 1 {
					t.Errorf("previewed %q, closed %d, sent %+v", w.shown, w.closed, w.sent)
				}
			})
		})
	}
}

// A run without a person needs no review, and a run that continues in another process asks toolhost
// for the declaration that it has not read.
func TestReviewsAreOnlyForPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayer(writeSchema, `"diff"`)
		w.result = diffResult("+y")
		f := newFixture(t, writing(), newTools(echo), func(c *agent.Config) { c.Tools = w })
		f.start(loop.Task{})
		f.end()
		if len(w.shown) > 0 {
			t.Errorf("previewed %q for nobody", w.shown)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := newPayer(writeSchema, `"diff"`)
		w.result = diffResult("+y")
		hold := make(chan struct{})
		first := w.run
		w.run = func(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome {
			<-hold
			return first(ctx, call, status)
		}
		people := func(c *agent.Config) { c.Tools = w; withPeople(c) }
		f := newFixture(t, writing(), newTools(echo), people)
		f.start(loop.Task{})
		synctest.Wait()
		f.Close()
		before := w.listing
		close(hold)
		f.open(people)
		defer f.Close()
		if _, err := f.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p := w.pending(t, f); p.Diff != "+y\n" || string(p.Schema) != writeSchema || w.listing != before+1 {
			t.Errorf("the decision is %+v after %d lists", p, w.listing-before)
		}
	})
}

// Edited arguments have to fit the schema of the tool. toolhost gets the approval of exactly the
// edited arguments.
func TestEditsFitTheSchema(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayer(writeSchema, "")
		f, p := w.begin(t)
		edit := func(arguments string) error {
			_, err := f.Respond(t.Context(), "r", loop.DecisionMade{ID: p.ID, Verdict: loop.VerdictApprove, By: "ann", Principal: "uid:7", Arguments: []byte(arguments)})
			return err
		}
		for arguments, want := range map[string]string{
			`{}`:                   "path",
			`{"path":7}`:           "path",
			`{"path":"a","n":0}`:   "n",
			`{"path":"a","x":1}`:   "x",
			`[]`:                   "no JSON object",
			`{"path":"a"`:          "no JSON object",
			"{\"path\":\"a\x00\"}": "no JSON object",
			`{"path":"` + strings.Repeat("a", 10<<20): "no JSON object",
		} {
			if err := edit(arguments); tool.KindOf(err) != tool.KindInvalidArgument || !strings.Contains(err.Error(), want) {
				t.Errorf("%.40s: got %.200v, want %q", arguments, err, want)
			}
		}
		if err := edit(`{"path": "b", "n": 2}`); err != nil {
			t.Fatal(err)
		}
		if end := f.end(); end.StopReason != loop.StopEndTurn {
			t.Errorf("ended with %+v", end)
		}
		if len(w.sent) != 2 || string(w.sent[1].Arguments) != `{"path":"b","n":2}` || string(w.sent[1].Approval.Arguments) != `{"path":"b","n":2}` ||
			w.sent[1].Approval.ArgumentsSHA256 != "" || w.sent[1].Approval.Approver != "uid:7" {
			t.Errorf("sent %+v", w.sent)
		}
	})
}
