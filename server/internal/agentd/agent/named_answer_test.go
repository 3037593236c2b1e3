package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

const countSchema = `{"type":"object","properties":{"n":{"type":"integer"},"note":{"type":"string"}},"required":["n"],"additionalProperties":false}`

// answersWith is a model that gives an answer by final_answer in each turn.
func answersWith(answers ...string) *fakeModel {
	var list []*model.Response
	for _, answer := range answers {
		list = append(list, response(model.StopToolUse, with("f", loop.SystemFinalAnswer, answer)))
	}
	return turns(list...)
}

// counting configures an agent that answers with a schema, and one that delegates to it.
func counting(lead, counter *fakeModel, schema string) func(*agent.Config) {
	return func(c *agent.Config) {
		c.Models = map[string]agent.OfferedModel{"lead": {Model: namedModel{lead, "fake:lead"}}, "counter": {Model: namedModel{counter, "fake:counter"}}}
		c.Agents = map[string]agent.NamedAgent{
			"lead": {Models: []string{"lead"}, Delegates: []string{"counter"}}, "counter": {Models: []string{"counter"}, ResponseSchema: json.RawMessage(schema)},
		}
	}
}

// The parent of a sub-run gets the answer that fits the schema of its agent, as JSON and whole,
// after at most two repairs. Without one, it gets an error.
func TestDelegatesGiveStructuredAnswers(t *testing.T) {
	long := `{"n":1,"note":"` + strings.Repeat("x", 20_000) + `"}` // longer than a text that a parent gets
	for name, test := range map[string]struct {
		answers []string
		want    string
		fails   bool
	}{
		"right":         {[]string{`{"n": 7}`}, `{"n":7}`, false},
		"repaired":      {[]string{`{"n":"x"}`, `{}`, `{"n":8}`}, `{"n":8}`, false},
		"never right":   {[]string{`{}`, `{}`, `{}`}, "[invalid_answer] The task was not finished", true},
		"a long answer": {[]string{long}, long, false},
	} {
		t.Run(name, func(t *testing.T) {
			lead := turns(response(model.StopToolUse, newTask("a", `{"agent":"counter","task":"count"}`)), response(model.StopEndTurn, text("done")))
			f := newFixture(t, turns(), newTools(echo), counting(lead, answersWith(test.answers...), " "+countSchema+"\n"))
			f.start(loop.Task{Agent: "lead", Confined: true})
			if end := f.end(); end.Text != "done" || end.Result != nil {
				t.Fatalf("the run ended with %+v", end)
			}
			for _, e := range f.watch(0) {
				p, ok := e.Payload.(*loop.CallResult)
				if !ok {
					continue
				}
				if p.Result.IsError != test.fails || !strings.HasPrefix(p.Result.Text(), test.want) {
					t.Errorf("the parent gets %.300q", p.Result.Text())
				}
				if !test.fails && (len(p.Result.Content) != 1 || string(p.Result.Content[0].JSON) != test.want) {
					t.Errorf("the content is %.300v", p.Result.Content)
				}
			}
			if read := results(lead.seen()[1])[0]; !strings.HasPrefix(read, test.want) {
				t.Errorf("the model of the parent reads %.300q", read)
			}
		})
	}
}

// A run of an agent with a schema has it. Another schema needs the right to customize.
func TestResponseSchemaOfAnAgent(t *testing.T) {
	const other = `{"type":"object"}`
	for name, test := range map[string]struct {
		schema   string
		confined bool
		want     string
		kind     tool.Kind
	}{
		"none":                    {"", true, countSchema, ""},
		"the same":                {"\n" + countSchema, true, countSchema, ""},
		"another":                 {other, true, "", tool.KindDenied},
		"another, with the right": {other, false, other, ""},
		"none that can be used":   {`{"type":"string"}`, false, "", tool.KindInvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, turns(), newTools(echo), counting(turns(), answersWith(`{"n":7}`), countSchema))
			_, err := f.StartRun(t.Context(), loop.Task{
				RunID: "r", Prompt: "count", Agent: "counter", ResponseSchema: json.RawMessage(test.schema), Confined: test.confined,
			})
			if tool.KindOf(err) != test.kind {
				t.Fatalf("starting it: %v, want %q", err, test.kind)
			}
			if test.kind != "" {
				return
			}
			if end := f.end(); string(end.Result) != `{"n":7}` {
				t.Errorf("the run ended with %+v", end)
			}
			if got := f.watch(0)[0].Payload.(*loop.RunStarted).ResponseSchema; string(got) != test.want {
				t.Errorf("the schema is %s", got)
			}
		})
	}
	_, err := agent.New(agent.Config{Store: newFixture(t, turns(), newTools(echo), nil).store, Model: turns(), Tools: newTools(echo), Agents: map[string]agent.NamedAgent{
		"bad": {ResponseSchema: json.RawMessage(`{"type":"array"}`)},
	}})
	if err == nil || !strings.Contains(err.Error(), "the agent bad: ") {
		t.Errorf("an agent whose schema cannot be used: %v", err)
	}
}

// The same request joins its run, also after the schema of the agent has changed. A schema of the
// caller distinguishes requests.
func TestAChangedSchemaOfAnAgentIsTheSameRequest(t *testing.T) {
	f := newFixture(t, turns(), newTools(echo), counting(turns(), answersWith(`{"n":7}`), countSchema))
	f.start(loop.Task{Agent: "counter"})
	f.end()
	f.Close()
	f.open(counting(turns(), turns(), `{"type":"object"}`))
	f.start(loop.Task{Agent: "counter"})
	if end := f.end(); string(end.Result) != `{"n":7}` {
		t.Errorf("the run ended with %+v", end)
	}
	_, err := f.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "hello", Agent: "counter", ResponseSchema: json.RawMessage(countSchema)})
	if tool.KindOf(err) != tool.KindConflict {
		t.Errorf("the same run id with a schema: %v", err)
	}
}
