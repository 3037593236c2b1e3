package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/sdk"
)

func addTool() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "add_todo",
		Version:     "1.1.0",
		DisplayName: "Add a todo",
		Description: `Adds one thing to the end of the list of things to do. Use it when you find, while you work, something more that has to be done. To begin a list, or to change its order, use write_todos. The answer is the list, with the new todo's number.`,
		Category:    "planning",
		InputExamples: []sdk.InputExample{
			{Description: "something that was found on the way", Arguments: json.RawMessage(`{"text":"Mend the typo in README.md"}`)},
			{Description: "something that is begun at once", Arguments: json.RawMessage(`{"text":"Ask which database is meant","status":"in_progress"}`)},
			{Description: "something with a date", Arguments: json.RawMessage(`{"text":"Send the report","due":"2026-12-01"}`)},
		},
		Idempotent: true,
		// Each serial call sees the effects of the calls before it.
		Serial:      true,
		ContextKeys: []string{sdk.KeyTodos},
		EffectKeys:  []string{sdk.KeyTodos},
	}, addTodo)
}

func addTodo(ctx context.Context, in newTodo) (sdk.Result, error) {
	list, err := current(ctx)
	if err != nil {
		return sdk.Result{}, err
	}
	added := todo{ID: next(list), Text: oneLine(in.Text), Status: in.Status, Due: in.Due, Created: timestamp()}
	switch {
	case added.Text == "":
		return sdk.Result{}, errBlank
	case checkDue(in.Due) != nil:
		return sdk.Result{}, checkDue(in.Due)
	case len(list) >= maxTodos:
		return sdk.Result{}, fmt.Errorf("the list has %d todos, the most that there may be; write a shorter one with write_todos", len(list))
	}
	return changed(append(slices.Clip(list), added), sdk.EffectAppend, added)
}
