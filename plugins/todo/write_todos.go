package main

import (
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
	Text   string `json:"text" jsonschema:"what is to be done, as one short instruction, such as: add a test for empty input" minLength:"1" maxLength:"500"`
	Status string `json:"status" jsonschema:"how it stands" enum:"pending,in_progress,completed,cancelled" default:"pending"`
}

func writeTool() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "write_todos",
		Version:     "1.0.0",
		DisplayName: "Write the todo list",
		Description: `Writes the whole list of things to do, in the place of the one before. Use it at the start of a task that takes three steps or more, and when the plan changes so much that most of the list is new. Do not use it for a task of one or two steps, nor to tick off one thing: that is update_todo.
People watch the list while you work. It stays when the conversation is shortened. The todos get the numbers 1, 2, 3 …, by which update_todo knows them; the answer is the list.`,
		Category: "planning",
		InputExamples: []sdk.InputExample{
			{Description: "a plan, with its first step begun",
				Arguments: json.RawMessage(`{"todos":[{"text":"Find where the date is parsed","status":"in_progress"},{"text":"Write a test that fails"},{"text":"Mend it and run all tests"}]}`)},
		},
		Idempotent: true,
		EffectKeys: []string{sdk.KeyTodos},
	}, writeTodos)
}

func writeTodos(_ context.Context, in writeInput) (sdk.Result, error) {
	list := make([]todo, 0, len(in.Todos))
	for i, t := range in.Todos {
		text := oneLine(t.Text)
		if text == "" {
			return sdk.Result{}, fmt.Errorf("todo %d has no text; say what is to be done", i+1)
		}
		list = append(list, todo{ID: strconv.Itoa(i + 1), Text: text, Status: t.Status})
	}
	return changed(list, sdk.EffectReplace, list)
}

var errBlank = errors.New("the text is empty; say what is to be done")
