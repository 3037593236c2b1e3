package loop_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

func TestEffects(t *testing.T) {
	for name, test := range map[string]struct {
		before  string
		effects []tool.Effect
		want    string // of key "k"
		refused string
	}{
		"replace":               {`1`, []tool.Effect{effect("k", tool.EffectReplace, `{"a":1}`)}, `{"a":1}`, ""},
		"no operation":          {`1`, []tool.Effect{effect("k", "", `2`)}, `2`, ""},
		"append to nothing":     {``, []tool.Effect{effect("k", tool.EffectAppend, `1`), effect("k", tool.EffectAppend, `[2]`)}, `[1,[2]]`, ""},
		"append to a list":      {`[1]`, []tool.Effect{effect("k", tool.EffectAppend, `"two"`)}, `[1,"two"]`, ""},
		"append to no list":     {`"x"`, []tool.Effect{effect("k", tool.EffectAppend, `1`)}, `"x"`, "no list"},
		"merge":                 {`{"a":{"b":1,"c":2},"d":3.10}`, []tool.Effect{effect("k", tool.EffectMerge, `{"a":{"b":null,"e":[4]},"f":"<"}`)}, `{"a":{"c":2,"e":[4]},"d":3.10,"f":"<"}`, ""},
		"merge into no object":  {`[1]`, []tool.Effect{effect("k", tool.EffectMerge, `{"a":{"b":null}}`)}, `{"a":{}}`, ""},
		"merge with no object":  {`{"a":1}`, []tool.Effect{effect("k", tool.EffectMerge, `7`)}, `7`, ""},
		"unknown operation":     {`1`, []tool.Effect{effect("k", "increment", `1`)}, `1`, "unknown"},
		"too much":              {`1`, []tool.Effect{effect("k", "", `"`+strings.Repeat("x", 300<<10)+`"`)}, `1`, "262144"},
		"one refused, one done": {`1`, []tool.Effect{effect("run", "", `"me"`), effect("k", "", `2`)}, `2`, "agent's own"},
	} {
		t.Run(name, func(t *testing.T) {
			started := loop.RunStarted{}
			if test.before != "" {
				started.Context = map[string]json.RawMessage{"k": json.RawMessage(test.before)}
			}
			f := newFolderOf(t, started)
			f.respond(model.StopToolUse, call("a", "echo"))
			f.add(&loop.CallResult{CallID: "r.t1.c0", Result: tool.Result{Effects: test.effects}})
			values := f.state.Context(2, "")
			if got := string(values["k"]); got != test.want {
				t.Errorf("the value is %s, want %s", got, test.want)
			}
			if string(values["run"]) != `"r"` || string(values["turn"]) != `2` || string(values["session"]) != `"s"` {
				t.Errorf("the context is %s", values)
			}
			refused := ""
			for _, p := range kept[*loop.ContextChange](f) {
				for _, why := range p.Refused {
					refused += why
				}
			}
			if (test.refused == "") != (refused == "") || !strings.Contains(refused, test.refused) {
				t.Errorf("refused: %q, want %q", refused, test.refused)
			}
			if got := f.read(); got[0] == "" {
				t.Error("a result with effects alone has nothing for the provider")
			}
		})
	}
}

// No tool changes the run's tenant or user, even if neither was set. Other effects of the same
// result apply. The model reads of the refusal in the result, and people in an event.
func TestEffectsOnIdentity(t *testing.T) {
	for _, key := range []string{"tenant", "user", "session", "run", "turn"} {
		for _, before := range []string{`"acme"`, `["acme"]`, ``} {
			for _, op := range []tool.EffectOperation{tool.EffectReplace, tool.EffectAppend, tool.EffectMerge, ""} {
				started := loop.RunStarted{Context: map[string]json.RawMessage{}}
				if generated := key != "tenant" && key != "user"; before != "" && !generated {
					started.Context[key] = json.RawMessage(before)
				}
				f := newFolderOf(t, started)
				was := string(f.state.Context(1, "")[key])
				f.respond(model.StopToolUse, call("a", "serial"), call("b", "serial"))
				f.add(&loop.CallResult{CallID: "r.t1.c0", Result: tool.Result{
					Content: []tool.Content{tool.Text("the rows")}, Effects: []tool.Effect{effect(key, op, `"globex"`), effect("k", "", `2`)},
				}})
				if got := string(f.state.Context(1, "")[key]); got != was {
					t.Errorf("the next call of the batch sees %s = %s, want %s", key, got, was)
				}
				f.add(&loop.CallResult{CallID: "r.t1.c1", Result: tool.Result{Content: []tool.Content{tool.Text("fine")}}})
				values := f.state.Context(1, "")
				if got := string(values[key]); got != was || string(values["k"]) != "2" {
					t.Errorf("%s %s: %s is %s, want %s; k is %s", op, before, key, got, was, values["k"])
				}
				changes := kept[*loop.ContextChange](f)
				if len(changes) != 1 || changes[0].Refused[key] == "" || !cmp.Equal(changes[0].Keys, []string{"k"}) {
					t.Errorf("told: %v", changes)
				}
				shown := f.read()
				if !strings.Contains(shown[0], "the rows") || !strings.Contains(shown[0], key) || !strings.Contains(shown[0], "refused") || strings.Contains(shown[0], "globex") {
					t.Errorf("the model reads %q", shown[0])
				}
				if shown[1] != "fine" {
					t.Errorf("of the call without effects the model reads %q", shown[1])
				}
			}
		}
	}
}

// Only a few refused effects of one call are reported.
func TestManyRefusedEffects(t *testing.T) {
	effects := make([]tool.Effect, 1000)
	for i := range effects {
		effects[i] = effect(fmt.Sprint("k", i), "increment", `1`)
	}
	f := newFolder(t, loop.Limits{})
	f.respond(model.StopToolUse, call("a", "echo"))
	f.add(&loop.CallResult{CallID: "r.t1.c0", Result: tool.Result{Effects: effects}})
	if changes := kept[*loop.ContextChange](f); len(changes) != 1 || len(changes[0].Refused) != 3 {
		t.Errorf("told: %v", changes)
	}
	if shown := f.read()[0]; !strings.Contains(shown, "and 997 more") || len(shown) > 500 {
		t.Errorf("the model reads %q", shown)
	}
}

// The last call of the response decides a value, whatever call ends first. Failed calls have no
// effects.
func TestEffectsFoldInCallOrder(t *testing.T) {
	results := []loop.CallResult{
		{CallID: "r.t1.c0", Result: tool.Result{Effects: []tool.Effect{effect("todos", tool.EffectAppend, `"first"`), effect("k", "", `1`)}}},
		{CallID: "r.t1.c1", Result: tool.Result{Effects: []tool.Effect{effect("todos", tool.EffectAppend, `"second"`), effect("k", "", `2`)}}},
		{CallID: "r.t1.c2", Result: tool.Result{IsError: true, Effects: []tool.Effect{effect("k", "", `3`)}}},
	}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		f := newFolder(t, loop.Limits{})
		f.respond(model.StopToolUse, call("a", "echo"), call("b", "echo"), call("c", "echo"))
		for _, i := range order {
			if len(kept[*loop.TodoChange](f)) > 0 {
				t.Error("told before the batch was complete")
			}
			f.add(&results[i])
		}
		if got := string(f.state.Context(1, "")["k"]); got != "2" {
			t.Errorf("ended in order %v, k is %s", order, got)
		}
		if diff := cmp.Diff([]*loop.TodoChange{{Todos: json.RawMessage(`["first","second"]`)}}, kept[*loop.TodoChange](f)); diff != "" {
			t.Errorf("todos (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]*loop.ContextChange{{Keys: []string{"k", "todos"}}}, kept[*loop.ContextChange](f)); diff != "" {
			t.Errorf("change (-want +got):\n%s", diff)
		}
		f.respond(model.StopToolUse, call("a", "echo"))
		f.add(&loop.CallResult{CallID: "r.t2.c0", Result: tool.Result{Effects: []tool.Effect{effect("todos", "", `["first","second"]`)}}})
		if n := len(kept[*loop.TodoChange](f)); n != 1 {
			t.Errorf("the same todos again were told: %d", n)
		}
	}
}

// Each call of a serial batch sees the effects of the calls before it, and people get one event at
// the end. Parallel calls see the same context.
func TestSerialCallsSeeWhatWasBefore(t *testing.T) {
	for second, want := range map[string]string{"serial": `["first"]`, "echo": ""} {
		f := newFolder(t, loop.Limits{})
		f.respond(model.StopToolUse, call("a", "echo"), call("b", second), call("c", "echo"))
		f.add(&loop.CallResult{CallID: "r.t1.c0", Result: tool.Result{Effects: []tool.Effect{effect("todos", tool.EffectAppend, `"first"`)}}})
		if got := string(f.state.Context(1, "r.t1.c1")["todos"]); got != want {
			t.Errorf("%s: the second call sees %q, want %q", second, got, want)
		}
		f.add(&loop.CallResult{CallID: "r.t1.c1", Result: tool.Result{IsError: true, Effects: []tool.Effect{effect("todos", "", `[]`)}}})
		f.add(&loop.CallResult{CallID: "r.t1.c2", Result: tool.Result{Effects: []tool.Effect{effect("todos", tool.EffectAppend, `"second"`)}}})
		if diff := cmp.Diff([]*loop.TodoChange{{Todos: json.RawMessage(`["first","second"]`)}}, kept[*loop.TodoChange](f)); diff != "" {
			t.Errorf("%s: todos (-want +got):\n%s", second, diff)
		}
	}
}

// What tools learn of the run comes from the agent: neither the caller of the run nor a tool
// chooses it, and a sub-run has its own.
func TestContextOfTheRunItself(t *testing.T) {
	f := newFolderOf(t, loop.RunStarted{
		Agent: "reviewer", SystemTools: []string{loop.SystemNewTask}, SubRuns: 1,
		Context: map[string]json.RawMessage{"agent": []byte(`"forged"`), "usage": []byte(`{"cost":0}`), "team": []byte(`"blue"`)}, // of an earlier version
	})
	before := f.state.Context(f.state.Turn(), "")
	task := call("a", loop.SystemNewTask)
	task.ToolCall.Arguments = `{"task":"look"}`
	answer := response(model.StopToolUse, task, call("b", "echo"))
	answer.Usage = tool.Usage{InputTokens: 70, OutputTokens: 5}
	message := f.state.Respond(answer, nil, f.state.Seq())
	message.Cost = 0.25
	f.add(message)
	want := map[string]string{
		"run": `"r"`, "turn": "1", "session": `"s"`, "agent": `"reviewer"`, "model": `"fake"`,
		"usage": `{"cost":0}`, "team": `"blue"`,
	}
	seen := f.state.Context(f.state.Turn()-1, "")
	got := make(map[string]string)
	for key, value := range seen {
		got[key] = string(value)
	}
	if got["session"] = want["session"]; !cmp.Equal(want, got) {
		t.Errorf("the context (-want +got):\n%s", cmp.Diff(want, got))
	}
	if diff := cmp.Diff(before, seen); diff != "" {
		t.Errorf("the response has changed the context of its calls (-before +after):\n%s", diff)
	}
	if got, want := string(f.state.Context(f.state.Turn(), "")["usage"]), `{"input_tokens":70,"output_tokens":5,"cost":0.25}`; got != want {
		t.Errorf("the next response has the usage %s, want %s", got, want)
	}
	child := f.state.SubTask(&message.Calls[0]).Context
	for _, key := range []string{"run", "turn", "session", "model"} {
		if value, ok := child[key]; ok {
			t.Errorf("the sub-run begins with the run's own %s, %s", key, value)
		}
	}
	for _, key := range []string{"agent", "model", "usage"} {
		if err := loop.CheckContext(map[string]json.RawMessage{key: []byte("1")}); err == nil {
			t.Errorf("a caller can set %s", key)
		}
	}
}

func TestCheckContext(t *testing.T) {
	for want, values := range map[string]map[string]json.RawMessage{
		"":            {"k": []byte("1")},
		"agent's own": {"turn": []byte("1")},
		"no JSON":     {"k": []byte("{")},
		"needs 1":     {"": []byte("1")},
		"may have":    {"k": []byte(`"` + strings.Repeat("x", 300<<10) + `"`)},
	} {
		err := loop.CheckContext(values)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// The agent does not rely on toolhost: an effect needs the tool's declaration, and the operator's
// permission for a key that was set at the start. Effects that toolhost removed are reported like
// those that the agent refuses.
func TestUndeclaredEffects(t *testing.T) {
	echo := tool.Info{Spec: tool.Spec{Name: "echo", EffectKeys: []string{"role", "plan", "todos"}}}
	for name, tc := range map[string]struct {
		rules *loop.EffectRules
		want  string // the keys that have changed
	}{
		"begun with role": {&loop.EffectRules{Protected: []string{"role"}}, "plan todos"},
		"allowed":         {&loop.EffectRules{Protected: []string{"role"}, Allowed: map[string][]string{"echo": {"role"}}}, "plan role todos"},
		"another's":       {&loop.EffectRules{Protected: []string{"role"}, Allowed: map[string][]string{"other": {"role"}}}, "plan todos"},
		"earlier version": {nil, "plan role todos undeclared"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolderOf(t, loop.RunStarted{Effects: tc.rules})
			f.add(f.state.Respond(response(model.StopToolUse, call("a", "echo")), []tool.Info{echo}, f.state.Seq()))
			result := tool.TextResult("done")
			for _, key := range []string{"role", "plan", "todos", "undeclared"} {
				result.Effects = append(result.Effects, effect(key, "", `[]`))
			}
			result.Metadata = map[string]json.RawMessage{"toolhost.refused_effects": []byte(`[{"key":"secret","reason":"a rule reads it"}]`)}
			f.add(&loop.CallResult{CallID: "r.t1.c0", Tool: "echo", Result: result})
			change := kept[*loop.ContextChange](f)[0]
			if got := strings.Join(change.Keys, " "); got != tc.want {
				t.Errorf("changed: %s, want %s", got, tc.want)
			}
			if change.Refused["secret"] != "secret: a rule reads it" || !strings.Contains(f.read()[0], "secret: a rule reads it") {
				t.Errorf("refused: %v, the model reads %q", change.Refused, f.read())
			}
		})
	}
}
