package main

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/toolhost/toolhost/sdk"
)

type listInput struct {
	Status []string `json:"status,omitempty" jsonschema:"list only todos that stand so; leave it out for all" enum:"pending,in_progress,completed,cancelled"`
}

func listTool() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "list_todos",
		Version:     "1.0.0",
		DisplayName: "List the todos",
		Description: `Returns the list of things to do, with the number and status of each. Use it when you are not sure any more what is left, after a long detour for example. The answers of write_todos, add_todo and update_todo show the list already.`,
		Category:    "planning",
		InputExamples: []sdk.InputExample{
			{Description: "all", Arguments: json.RawMessage(`{}`)},
			{Description: "what is left", Arguments: json.RawMessage(`{"status":["pending","in_progress"]}`)},
		},
		ReadOnly:    true,
		Idempotent:  true,
		ContextKeys: []string{sdk.KeyTodos},
	}, listTodos)
}

func listTodos(ctx context.Context, in listInput) (string, error) {
	list, err := current(ctx)
	if err != nil {
		return "", err
	}
	if len(in.Status) == 0 || len(list) == 0 {
		return shown(list), nil
	}
	chosen := slices.DeleteFunc(slices.Clone(list), func(t todo) bool { return !slices.Contains(in.Status, t.Status) })
	if len(chosen) == 0 {
		return "None of the todos stands so.", nil
	}
	text := ""
	for _, t := range chosen {
		text += t.line() + "\n"
	}
	return text[:len(text)-1], nil
}
