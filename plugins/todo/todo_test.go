package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

// run keeps the list in the same way as a run of agentd: each call sees the effects of the calls
// before it.
type run struct {
	host  *sdktest.Host
	todos json.RawMessage
}

func (r *run) call(t *testing.T, name, arguments string) *sdktest.Call {
	t.Helper()
	var options []sdktest.Option
	if r.todos != nil {
		options = append(options, sdktest.WithValue(sdk.KeyTodos, r.todos))
	}
	got := r.host.Call(name, arguments, options...)
	if got.Err != nil {
		t.Fatalf("%s %s: %v", name, arguments, got.Err)
	}
	for _, e := range got.Effects {
		switch {
		case e.Key != sdk.KeyTodos:
			t.Errorf("%s changes the key %q", name, e.Key)
		case e.Operation == sdk.EffectAppend:
			var list []json.RawMessage
			if r.todos != nil {
				if err := json.Unmarshal(r.todos, &list); err != nil {
					t.Fatal(err)
				}
			}
			data, err := json.Marshal(append(list, e.Value))
			if err != nil {
				t.Fatal(err)
			}
			r.todos = data
		default:
			r.todos = e.Value
		}
	}
	return got
}

// toolhost accepts the names that models know from other tools for todos.
func TestOtherNamesOfATodo(t *testing.T) {
	for _, spec := range plugin().Describe().Tools {
		names := regexp.MustCompile(`"x-toolhost-aliases": ?\["title", ?"content", ?"task"\]`).Match(spec.InputSchema)
		if takes := spec.Name != "list_todos"; names != takes {
			t.Errorf("%s: %s", spec.Name, spec.InputSchema)
		}
	}
}

func TestPluginIsWellDeclared(t *testing.T) {
	if err := plugin().Validate(); err != nil {
		t.Fatal(err)
	}
}

// The result of each call of a plan shows the list after the call.
func TestPlan(t *testing.T) {
	r := &run{host: sdktest.NewOverWire(t, plugin())}
	for _, step := range []struct{ name, arguments, want string }{
		{"list_todos", `{}`, "The list is empty."},
		{"add_todo", `{"text":"look\naround"}`, "[ ] 1. look around\n0 of 1 are done."},
		{"write_todos", `{"todos":[{"text":"read","status":"in_progress"},{"text":"write"},{"text":"test"}]}`, "[>] 1. read (in_progress)\n[ ] 2. write\n[ ] 3. test\n0 of 3 are done."},
		{"update_todo", `{"id":"1","status":"completed"}`, "[x] 1. read\n[ ] 2. write\n[ ] 3. test\n1 of 3 are done."},
		{"update_todo", `{"id":2,"text":"write it","status":"cancelled"}`, "[x] 1. read\n[-] 2. write it (cancelled)\n[ ] 3. test\n2 of 3 are done."},
		{"add_todo", `{"text":"tell","status":"in_progress"}`, "[x] 1. read\n[-] 2. write it (cancelled)\n[ ] 3. test\n[>] 4. tell (in_progress)\n2 of 4 are done."},
		{"list_todos", `{"status":["pending","in_progress"]}`, "[ ] 3. test\n[>] 4. tell (in_progress)"},
		{"list_todos", `{}`, "[x] 1. read\n[-] 2. write it (cancelled)\n[ ] 3. test\n[>] 4. tell (in_progress)\n2 of 4 are done."},
		{"write_todos", `{"todos":[]}`, "The list is empty."},
		{"list_todos", `{"status":["completed"]}`, "The list is empty."},
	} {
		if got := r.call(t, step.name, step.arguments); got.IsError || got.Text() != step.want {
			t.Errorf("%s %s:\n%s\nwant:\n%s", step.name, step.arguments, got.Text(), step.want)
		}
	}
	if string(r.todos) != "[]" {
		t.Errorf("the list is %s", r.todos)
	}
}

// The list in the context is an ordinary JSON list that other tools can read.
func TestEffects(t *testing.T) {
	h := sdktest.New(t, plugin())
	got := h.Call("write_todos", `{"todos":[{"text":"a"}]}`)
	want := []sdk.Effect{{Key: "todos", Operation: sdk.EffectReplace, Value: json.RawMessage(`[{"id":"1","text":"a","status":"pending"}]`)}}
	if diff := cmp.Diff(want, undated(t, got.Effects)); diff != "" {
		t.Error(diff)
	}
	got = h.Call("add_todo", `{"text":"b"}`, sdktest.WithValue(sdk.KeyTodos, json.RawMessage(`[{"id":"7","text":"a"},{"id":"x","text":"foreign"}]`)))
	want = []sdk.Effect{{Key: "todos", Operation: sdk.EffectAppend, Value: json.RawMessage(`{"id":"8","text":"b","status":"pending"}`)}}
	if diff := cmp.Diff(want, undated(t, got.Effects)); diff != "" {
		t.Error(diff)
	}
}

// undated returns effects without the times of creation, which it checks.
func undated(t *testing.T, effects []sdk.Effect) []sdk.Effect {
	t.Helper()
	created := regexp.MustCompile(`,"created":"([^"]*)"`)
	for i := range effects {
		for _, match := range created.FindAllSubmatch(effects[i].Value, -1) {
			if at, err := time.Parse(time.RFC3339, string(match[1])); err != nil || time.Since(at) > time.Hour || at.Location() != time.UTC {
				t.Errorf("created at %s: %v", match[1], err)
			}
		}
		effects[i].Value = created.ReplaceAll(effects[i].Value, nil)
	}
	return effects
}

// A due time is shown, can be changed and removed, and says when it has passed. A todo keeps its
// time of creation when its text stays.
func TestDueTimes(t *testing.T) {
	r := &run{host: sdktest.NewOverWire(t, plugin()), todos: json.RawMessage(`[{"id":"1","text":"read","status":"pending","created":"2026-01-01T00:00:00Z"}]`)}
	for _, step := range []struct{ name, arguments, want string }{
		{"write_todos", `{"todos":[{"text":"read","due":"2999-12-01"},{"text":"write","due":"2001-02-03T04:05:06Z"}]}`,
			"[ ] 1. read (due 2999-12-01)\n[ ] 2. write (overdue since 2001-02-03T04:05:06Z)\n0 of 2 are done."},
		{"update_todo", `{"id":1,"due":"none"}`, "[ ] 1. read\n[ ] 2. write (overdue since 2001-02-03T04:05:06Z)\n0 of 2 are done."},
		{"update_todo", `{"id":2,"due":"2999-01-01"}`, "[ ] 1. read\n[ ] 2. write (due 2999-01-01)\n0 of 2 are done."},
		{"add_todo", `{"text":"rest","status":"in_progress","due":"2001-01-01"}`, "[ ] 1. read\n[ ] 2. write (due 2999-01-01)\n[>] 3. rest (in_progress, overdue since 2001-01-01)\n0 of 3 are done."},
		{"update_todo", `{"id":3,"status":"completed"}`, "[ ] 1. read\n[ ] 2. write (due 2999-01-01)\n[x] 3. rest\n1 of 3 are done."},
	} {
		if got := r.call(t, step.name, step.arguments); got.IsError || got.Text() != step.want {
			t.Errorf("%s %s:\n%s\nwant:\n%s", step.name, step.arguments, got.Text(), step.want)
		}
	}
	var list []todo
	if err := json.Unmarshal(r.todos, &list); err != nil || list[0].Created != "2026-01-01T00:00:00Z" || list[1].Created == "" || list[2].Created == "" {
		t.Errorf("the list is %s: %v", r.todos, err)
	}
	day := time.Date(2026, 12, 1, 23, 59, 59, 0, time.UTC)
	if overdue("2026-12-01", day) || !overdue("2026-12-01", day.Add(time.Second)) {
		t.Error("a day passes at its end in UTC")
	}
}

// A mistake changes nothing, and the error says how to correct it.
func TestMistakes(t *testing.T) {
	h := sdktest.New(t, plugin())
	full := "[" + strings.Repeat(`{"id":"1","text":"a","status":"pending"},`, maxTodos-1) + `{"id":"2","text":"a","status":"pending"}]`
	for _, test := range []struct{ name, arguments, todos, want string }{
		{"update_todo", `{"id":"3","status":"completed"}`, `[{"id":"1","text":"a"},{"id":"2","text":"b"}]`, `there is no todo "3"; there are: 1, 2`},
		{"update_todo", `{"id":"1","status":"completed"}`, `[]`, "the list is empty; write one with write_todos"},
		{"update_todo", `{"id":3,"status":"completed"}`, `[{"id":"1","text":"a"}]`, `there is no todo "3"; there are: 1`},
		{"update_todo", `{"id":1.5,"status":"completed"}`, `[{"id":"1","text":"a"}]`, "id"},
		{"update_todo", `{"id":"1"}`, `[{"id":"1","text":"a"}]`, "nothing is to be changed"},
		{"update_todo", `{"id":"1","status":"done"}`, `[{"id":"1","text":"a"}]`, "completed"},
		{"add_todo", `{"text":" \n "}`, `[]`, "the text is empty"},
		{"write_todos", `{"todos":[{"text":"a"},{"text":"\t"}]}`, `[]`, "todo 2 has no text"},
		{"add_todo", `{"text":"a","due":"tomorrow"}`, `[]`, "write a day such as"},
		{"write_todos", `{"todos":[{"text":"a"},{"text":"b","due":"2026-13-01"}]}`, `[]`, "todo 2: the due time"},
		{"update_todo", `{"id":"1","due":"soon"}`, `[{"id":"1","text":"a"}]`, "write a day such as"},
		{"add_todo", `{"text":"a"}`, full, "the list has 100 todos"},
		{"add_todo", `{"text":"a"}`, `{"not":"a list"}`, "write a new list with write_todos"},
		{"list_todos", `{}`, `["only", "texts"]`, "write a new list with write_todos"},
	} {
		got := h.Call(test.name, test.arguments, sdktest.WithValue(sdk.KeyTodos, json.RawMessage(test.todos)))
		if got.Err != nil || !got.IsError || !strings.Contains(got.Text(), test.want) || len(got.Effects) > 0 {
			t.Errorf("%s %s: %q, %v, effects %v", test.name, test.arguments, got.Text(), got.Err, got.Effects)
		}
	}
	if got := h.Call("write_todos", `{"todos":[`+strings.Repeat(`{"text":"a"},`, maxTodos)+`{"text":"a"}]}`); !got.IsError {
		t.Errorf("%d todos are taken", maxTodos+1)
	}
}
