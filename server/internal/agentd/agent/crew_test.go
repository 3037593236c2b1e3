package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// The crew is three named agents that work on one task, which needs everything that a run can have:
// instructions with variables, a fallback in the middle of a stream, delegation at two levels,
// attachments of the prompt and of a message, questions of tools to a person and to a model, a
// question of the model, approvals with and without an edit, a summary that the model asks for, and
// structured answers of a run and of a sub-run, with one repair each. Everything in it depends only
// on the conversation, so two runs of the crew are comparable.

const (
	leadPrompt    = "hello"
	writerPrompt  = "write it"
	checkerPrompt = "check it"
	crewSchema    = `{"type":"object","properties":{"word":{"type":"string"},"n":{"type":"integer"}},"required":["word","n"],"additionalProperties":false}`
	checkSchema   = `{"type":"object","properties":{"good":{"type":"boolean"},"verdict":{"type":"string"}},"required":["good","verdict"],"additionalProperties":false}`
	lateNote      = "and this note"
)

// reply is what a model answers: a response, or a failure in the middle of it.
type reply struct {
	response *model.Response
	failure  *model.Error
}

// crewModel is one model of the crew. It streams each reply in pieces. A failure comes after half
// of the response.
type crewModel struct {
	name string
	says func(prompt string, turn int, req model.Request) reply
	log  *requestLog
}

// requestLog has the requests of all models, as JSON.
type requestLog struct {
	mu    sync.Mutex
	asked map[string][]string // by model, prompt and turn
}

func (l *requestLog) note(key string, req model.Request) {
	data, err := json.Marshal(req)
	if err != nil {
		panic(err) // a request has only texts, numbers and bytes
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[key] = append(l.asked[key], string(data))
}

func (m *crewModel) Name() string { return "fake:" + m.name }

func (m *crewModel) Features() model.Features {
	return model.Features{Attachments: []string{"text/*", "image/png"}}
}

// promptOf returns the text with which a conversation began.
func promptOf(req model.Request) string {
	if req.Summary > 0 {
		return "summary"
	}
	for _, b := range req.Messages[0].Blocks {
		if b.Text != nil {
			return b.Text.Text
		}
	}
	return ""
}

func (m *crewModel) Generate(_ context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	prompt, turn := promptOf(req), req.Replaced+1
	for _, msg := range req.Messages {
		if msg.Role == model.RoleAssistant {
			turn++
		}
	}
	m.log.note(fmt.Sprintf("%s, %s, turn %d", m.name, prompt, turn), req)
	r := m.says(prompt, turn, req)
	return func(yield func(model.Chunk, error) bool) {
		if r.response == nil {
			yield(model.Chunk{}, &model.Error{Message: fmt.Sprintf("the script of %s for %q has no turn %d", m.name, prompt, turn)})
			return
		}
		for _, chunk := range pieces(r) {
			if !yield(chunk, nil) {
				return
			}
		}
		if r.failure != nil {
			yield(model.Chunk{}, r.failure)
			return
		}
		yield(model.Chunk{Response: r.response}, nil)
	}
}

// pieces returns the deltas of a reply. The last call of a reply that fails is not complete.
func pieces(r reply) (list []model.Chunk) {
	calls := 0
	for _, b := range r.response.Message.Blocks {
		switch {
		case b.Text != nil:
			list = append(list, model.Chunk{TextDelta: &model.TextDelta{Text: b.Text.Text}})
		case b.ToolCall != nil:
			half := len(b.ToolCall.Arguments) / 2
			list = append(list, model.Chunk{CallBegun: &model.CallBegun{Index: calls, ID: b.ToolCall.ID, Name: b.ToolCall.Name}},
				model.Chunk{ArgumentDelta: &model.ArgumentDelta{Index: calls, Text: b.ToolCall.Arguments[:half]}},
				model.Chunk{ArgumentDelta: &model.ArgumentDelta{Index: calls, Text: b.ToolCall.Arguments[half:]}})
			calls++
		}
	}
	if r.failure != nil {
		list = list[:len(list)-1]
	}
	return list
}

func with(id, name, arguments string) model.Block {
	b := call(id, name)
	b.ToolCall.Arguments = arguments
	return b
}

func says(reason model.StopReason, blocks ...model.Block) reply {
	return reply{response: response(reason, blocks...)}
}

// leadTurn returns the responses of the lead. In its second turn the first model is overloaded.
func leadTurn(overloaded bool) func(string, int, model.Request) reply {
	busy := &model.Error{Status: 529, Message: "busy", Retryable: true, Usage: tool.Usage{InputTokens: 100, OutputTokens: 7}}
	return func(prompt string, turn int, _ model.Request) reply {
		if prompt == "summary" {
			return says(model.StopEndTurn, text("the work is done but for the answer"))
		}
		switch turn {
		case 1:
			return says(model.StopToolUse, text("begin"), with("a1", "write", `{"key":"one"}`), with("a2", "ask", `{"kind":"person","message":"Which color?"}`))
		case 2:
			r := says(model.StopToolUse, text("delegate"), with("b1", loop.SystemNewTask, `{"agent":"writer","task":"`+writerPrompt+`","attachments":["note.txt"]}`),
				with("b2", "write", `{"key":"beside"}`))
			if overloaded {
				r.failure = busy
			}
			return r
		case 3:
			return says(model.StopToolUse, with("c1", "drop", `{"key":"edit me"}`), question("where to?"))
		case 4:
			return says(model.StopToolUse, with("d1", loop.SystemCompact, `{}`))
		case 5:
			return says(model.StopToolUse, with("e1", loop.SystemFinalAnswer, `{"word":1}`), with("e2", "write", `{"key":"last"}`))
		case 6:
			return says(model.StopToolUse, with("f1", loop.SystemFinalAnswer, `{"word": "done", "n": 6}`))
		}
		return reply{}
	}
}

func writerTurn(_ string, turn int, req model.Request) reply {
	switch turn {
	case 1:
		return says(model.StopToolUse, with("w1", "write", `{"key":"draft"}`), with("w2", loop.SystemNewTask, `{"agent":"checker","task":"`+checkerPrompt+`"}`))
	case 2:
		return says(model.StopEndTurn, text("written, and "+results(req)[1]))
	}
	return reply{}
}

func checkerTurn(prompt string, turn int, req model.Request) reply {
	switch {
	case prompt == "Is it good?":
		return says(model.StopEndTurn, text("it is"))
	case turn == 1:
		return says(model.StopToolUse, with("k1", "ask", `{"kind":"model","message":"Is it good?"}`), with("k2", "drop", `{"key":"old"}`))
	case turn == 2:
		return says(model.StopToolUse, with("m1", loop.SystemFinalAnswer, `{"verdict":"good"}`))
	case turn == 3:
		answer, err := json.Marshal(map[string]any{"good": true, "verdict": strings.Join(results(model.Request{Messages: req.Messages[:3]}), ", ")})
		if err != nil {
			panic(err) // texts always marshal
		}
		return says(model.StopToolUse, with("n1", loop.SystemFinalAnswer, string(answer)))
	}
	return reply{}
}

// crew is an agent with the named agents, and the toolhost that they use. The toolhost outlives the
// agent.
type crew struct {
	*fixture
	host   *hosttest.Toolhost
	log    *requestLog
	models map[string]agent.OfferedModel

	mu      sync.Mutex
	effects map[string]int // executions, by call, tool and arguments
}

func newCrew(t *testing.T) *crew {
	t.Helper()
	g := &crew{log: &requestLog{asked: map[string][]string{}}, models: map[string]agent.OfferedModel{}, effects: map[string]int{}}
	offer := func(name string, price model.Price, says func(string, int, model.Request) reply) {
		g.models[name] = agent.OfferedModel{Model: &crewModel{name, says, g.log}, Price: &price}
	}
	offer("big", model.Price{Input: 1000, Output: 2000}, leadTurn(true))
	offer("small", model.Price{Input: 300, Output: 500}, leadTurn(false))
	offer("plain", model.Price{Input: 70, Output: 110}, writerTurn)
	offer("deep", model.Price{Input: 13, Output: 17}, checkerTurn)
	g.host = hosttest.New(t, nil, g.tools()...)
	g.fixture = newFixture(t, turns(), newTools(echo), g.configure(t))
	return g
}

// tools returns the crew's tools: each counts its executions.
func (g *crew) tools() (list []hosttest.Tool) {
	keyed := json.RawMessage(`{"type":"object","properties":{"key":{"type":"string"}},"required":["key"]}`)
	done := func(_ context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
		return tool.TextResult("done with " + string(call.Arguments)), nil
	}
	list = []hosttest.Tool{
		{Spec: tool.Spec{Name: "write", Description: "Writes.", InputSchema: keyed}, Run: done}, {Spec: tool.Spec{Name: "drop", Description: "Drops.", InputSchema: keyed, Dangerous: true}, Run: done},
	}
	for _, known := range hosttest.Tools() {
		if known.Spec.Name == "ask" {
			list = append(list, known)
		}
	}
	for i := range list {
		run := list[i].Run
		list[i].Run = func(ctx context.Context, call tool.Call, emit func(tool.Event)) (tool.Result, error) {
			g.mu.Lock()
			g.effects[fmt.Sprintf("%s %s %s", call.ID, call.Tool, call.Arguments)]++
			g.mu.Unlock()
			return run(ctx, call, emit)
		}
	}
	return list
}

// configure returns the configuration of the agents. Once the run has begun, its agent, its memory
// and the statistics of its tools are others, which must not change the run.
func (g *crew) configure(t *testing.T) func(*agent.Config) {
	return func(c *agent.Config) {
		begun, calls := "first", uint64(20)
		for _, err := range g.events() {
			if err == nil {
				begun, calls = "later", 500
			}
			break
		}
		c.Statistics = func(context.Context, tool.StatsQuery) ([]tool.Stats, error) {
			return []tool.Stats{{Tool: "write", Calls: calls, Succeeded: calls}}, nil
		}
		c.Tools, c.LedgerID, c.Models = g.host, g.host.LedgerID, g.models
		c.People = loop.People{Attended: true, Expiry: 100 * time.Hour}
		c.Agents = map[string]agent.NamedAgent{
			"lead": {
				Models: []string{"big", "small"}, Instructions: instructions(t, "Lead ${context.team} "+begun+"."), Delegates: []string{"writer"},
				Memory: []agent.MemoryFile{{Name: "AGENTS.md", Text: "the habits of " + begun}}, ToolStatistics: agent.StatisticsAll,
				SystemTools: []string{loop.SystemCompact, loop.SystemAskUser}, Tools: loop.ToolChoice{Names: []string{"write", "drop", "ask"}},
				Sampling: model.Sampling{Effort: model.EffortHigh}, Limits: loop.Limits{MaxCost: 50},
			},
			"writer": {
				Description: "It writes.", Models: []string{"plain"}, Instructions: instructions(t, "Write for ${context.team}."), Delegates: []string{"checker"},
				SystemTools: []string{}, Tools: loop.ToolChoice{Names: []string{"write"}},
			},
			"checker": {
				Description: "It checks.", Models: []string{"deep"}, Instructions: instructions(t, "Check for ${context.team}."),
				SystemTools: []string{}, Tools: loop.ToolChoice{Names: []string{"ask", "drop"}}, ResponseSchema: json.RawMessage(checkSchema),
			},
		}
	}
}

// begin starts the run, or joins it.
func (g *crew) begin(ctx context.Context) error {
	_, err := g.StartRun(ctx, loop.Task{
		RunID: "r", Prompt: leadPrompt, Agent: "lead", Context: team, ResponseSchema: json.RawMessage(crewSchema), Confined: true,
		Attachments: []loop.NewAttachment{photo(g.t), note("remember the milk")},
	})
	return err
}

// person follows the run and makes each decision by a rule that depends only on the decision. It
// sends a message with an attachment before it approves a call of the lead, so that the next
// request of the lead has the message. It returns when the run ends, and when the agent does not
// answer any more.
func (g *crew) person(ctx context.Context) {
	for e, err := range g.WatchRun(ctx, "r", 0) {
		if err != nil {
			return
		}
		if of := e.Payload.Type(); of != loop.TypeDecisionRequested && of != loop.TypeSubRunWaiting {
			continue
		}
		run, err := g.GetRun(ctx, "r")
		if err != nil {
			return
		}
		for _, p := range run.Pending {
			if p.Kind == loop.DecideApproval && p.RunID == "" && g.remind(ctx) != nil {
				return
			}
			// A decision that was made before the agent ended is no longer pending.
			if _, err := g.Respond(ctx, "r", decide(&p)); err != nil && tool.KindOf(err) != tool.KindNotFound {
				return
			}
		}
	}
}

// events returns the stored events of the run. The first value is an error if it has not begun.
func (g *crew) events() iter.Seq2[runstore.Record, error] {
	if g.fixture == nil { // newFixture is making it
		return func(yield func(runstore.Record, error) bool) {}
	}
	return g.store.Read(g.t.Context(), "r", 0)
}

// remind sends the message, unless the journal has it.
func (g *crew) remind(ctx context.Context) error {
	for rec, err := range g.events() {
		if err != nil || rec.Type == string(loop.TypeUserMessage) {
			return err
		}
	}
	_, err := g.SendMessage(ctx, "r", lateNote, loop.NewAttachment{Name: "late.txt", MIMEType: "text/plain", Data: []byte("and the bread")})
	return err
}

func decide(p *loop.Pending) loop.DecisionMade {
	d := loop.DecisionMade{ID: p.ID, Verdict: loop.VerdictApprove, By: "ann"}
	switch {
	case p.Kind == loop.DecideQuestion || p.Kind == loop.DecideTool:
		d.Verdict, d.Text = loop.VerdictAnswer, "blue"
	case p.Kind == loop.DecideOutcome:
		d.Verdict = loop.VerdictReject
	case strings.Contains(p.Arguments, "edit me"):
		d.Arguments = []byte(`{"key":"edited"}`)
	}
	return d
}
