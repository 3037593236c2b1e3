package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/sdk"
)

type updateInput struct {
	ID     number `json:"id"`
	Status string `json:"status,omitempty"`
	Text   string `json:"text,omitempty"`
	Due    string `json:"due,omitempty"`
}

// number is the number of a todo. Models write it as a number or as a string.
type number string

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, (*string)(n))
	}
	*n = number(data)
	return nil
}

// noDue is the argument that removes a due time.
const noDue = "none"

// updateSchema is the schema of updateInput. It cannot be derived, because no Go type is both a
// number and a string.
const updateSchema = `{
  "type": "object",
  "properties": {
    "id": {"type": ["string", "integer"], "description": "the todo's number, as the list shows it, such as 2", "minLength": 1},
    "status": {"type": "string", "description": "how it stands now; leave it out to change the text alone", "enum": ["pending", "in_progress", "completed", "cancelled"]},
    "text": {"type": "string", "description": "what is to be done, in the place of the old text; leave it out to change the status alone", "maxLength": 500, "x-toolhost-aliases": ["title", "content", "task"]},
    "due": {"type": "string", "description": "` + dueDescription + `; none removes the date; leave it out to keep it", "maxLength": 40}
  },
  "required": ["id"],
  "additionalProperties": false
}`

func updateTool() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "update_todo",
		Version:     "1.2.0",
		DisplayName: "Update a todo",
		Description: `Changes the status, the text or the due date of one thing on the list of things to do. Mark a todo in_progress when you begin it, one at a time, and completed as soon as it is done, not several at the end; mark it completed only if it really is, and cancelled if it is not needed any more. The answer is the list.`,
		Category:    "planning",
		InputSchema: json.RawMessage(updateSchema),
		InputExamples: []sdk.InputExample{
			{Description: "the second todo is done", Arguments: json.RawMessage(`{"id":"2","status":"completed"}`)},
			{Description: "the third one means something else now", Arguments: json.RawMessage(`{"id":"3","text":"Run the tests of the parser only"}`)},
		},
		Idempotent: true,
		// Each serial call sees the effects of the calls before it.
		Serial:      true,
		ContextKeys: []string{sdk.KeyTodos},
		EffectKeys:  []string{sdk.KeyTodos},
	}, updateTodo)
}

func updateTodo(ctx context.Context, in updateInput) (sdk.Result, error) {
	list, err := current(ctx)
	if err != nil {
		return sdk.Result{}, err
	}
	text := oneLine(in.Text)
	if in.Status == "" && text == "" && in.Due == "" {
		return sdk.Result{}, errors.New("nothing is to be changed; give a status, a text or a due date")
	}
	if in.Due != noDue {
		if err := checkDue(in.Due); err != nil {
			return sdk.Result{}, err
		}
	}
	i := slices.IndexFunc(list, func(t todo) bool { return t.ID == string(in.ID) })
	if i < 0 {
		return sdk.Result{}, fmt.Errorf("there is no todo %q; %s", in.ID, numbers(list))
	}
	list = slices.Clone(list)
	if in.Status != "" {
		list[i].Status = in.Status
	}
	if text != "" {
		list[i].Text = text
	}
	switch in.Due {
	case "":
	case noDue:
		list[i].Due = ""
	default:
		list[i].Due = in.Due
	}
	return changed(list, sdk.EffectReplace, list)
}

// numbers lists the numbers of the todos.
func numbers(list []todo) string {
	if len(list) == 0 {
		return "the list is empty; write one with write_todos"
	}
	var all []string
	for _, t := range list {
		all = append(all, t.ID)
	}
	return "there are: " + strings.Join(all, ", ")
}
