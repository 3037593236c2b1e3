package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/toolhost/toolhost/sdk"
)

type writeInput struct {
	Todos []newTodo `json:"todos" jsonschema:"the whole list, in the order in which it is to be done; an empty one clears it" maxItems:"100"`
}

type newTodo struct {
	Text   string `json:"text" jsonschema:"what is to be done, as one short instruction, such as: add a test for empty input" minLength:"1" maxLength:"500" aliases:"title,content,task"`
	Status string `json:"status" jsonschema:"how it stands" enum:"pending,in_progress,completed,cancelled" default:"pending"`
	Due    string `json:"due,omitempty" jsonschema:"when it has to be done: a day such as 2026-12-01, or a time such as 2026-12-01T15:00:00Z; leave it out if it has no date" maxLength:"40"`
}

func writeTool() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "write_todos",
		Version:     "1.1.0",
		DisplayName: "Write the todo list",
		Description: `Writes the whole list of things to do, in the place of the one before. Use it at the start of a task that takes three steps or more, and when the plan changes so much that most of the list is new. Do not use it for a task of one or two steps, nor to tick off one thing: that is update_todo.
People watch the list while you work. It stays when the conversation is shortened. The todos get the numbers 1, 2, 3 …, by which update_todo knows them; the answer is the list.`,
		Category: "planning",
		InputExamples: []sdk.InputExample{
			{Description: "a plan, with its first step begun",
				Arguments: json.RawMessage(`{"todos":[{"text":"Find where the date is parsed","status":"in_progress"},{"text":"Write a test that fails"},{"text":"Mend it and run all tests"}]}`)},
		},
		Idempotent:  true,
		ContextKeys: []string{sdk.KeyTodos},
		EffectKeys:  []string{sdk.KeyTodos},
	}, writeTodos)
}

// writeTodos replaces the list. A todo with the text of one of the present list keeps its time of
// creation.
func writeTodos(ctx context.Context, in writeInput) (sdk.Result, error) {
	created := make(map[string]string)
	before, _ := current(ctx) // a list of another form is replaced
	for _, t := range before {
		created[t.Text] = t.Created
	}
	list := make([]todo, 0, len(in.Todos))
	for i, t := range in.Todos {
		text := oneLine(t.Text)
		if text == "" {
			return sdk.Result{}, fmt.Errorf("todo %d has no text; say what is to be done", i+1)
		}
		if err := checkDue(t.Due); err != nil {
			return sdk.Result{}, fmt.Errorf("todo %d: %w", i+1, err)
		}
		list = append(list, todo{
			ID: strconv.Itoa(i + 1), Text: text, Status: t.Status, Due: t.Due, Created: cmp.Or(created[text], timestamp()),
		})
	}
	return changed(list, sdk.EffectReplace, list)
}

var errBlank = errors.New("the text is empty; say what is to be done")
