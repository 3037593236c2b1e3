package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/sdk"
)

// todo is one item of the list.
type todo struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Status string `json:"status"`
	// Due is a day, 2026-12-01, or a time of RFC 3339. Empty: the todo is not due.
	Due string `json:"due,omitempty"`
	// Created is when a tool added the todo, a time of RFC 3339 in UTC. Empty in lists of others.
	Created string `json:"created,omitempty"`
}

// The states of a todo.
const (
	pending    = "pending"
	inProgress = "in_progress"
	completed  = "completed"
	cancelled  = "cancelled"
)

// maxTodos limits the list, because it stays in the conversation. A longer list is not a useful
// plan.
const maxTodos = 100

// current returns the list of the run. If another tool wrote something else there, it returns an
// error for the model, which can then write a new list.
func current(ctx context.Context) ([]todo, error) {
	list, _, err := sdk.Value[[]todo](ctx, sdk.KeyTodos)
	if err != nil {
		return nil, fmt.Errorf("the list is not one of this tool's: %w; write a new list with write_todos", err)
	}
	return list, nil
}

// next returns an unused id: the largest number plus one.
func next(list []todo) string {
	greatest := 0
	for _, t := range list {
		if n, err := strconv.Atoi(t.ID); err == nil {
			greatest = max(greatest, n)
		}
	}
	return strconv.Itoa(greatest + 1)
}

// changed returns a result that shows the changed list and has the effect that changes it.
func changed(list []todo, operation sdk.EffectOperation, value any) (sdk.Result, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return sdk.Result{}, fmt.Errorf("encoding the list: %w", err)
	}
	result := sdk.TextResult(shown(list))
	result.Effects = []sdk.Effect{{Key: sdk.KeyTodos, Operation: operation, Value: data}}
	return result, nil
}

// shown returns the list for the model: one line per todo, and the number of finished ones.
func shown(list []todo) string {
	if len(list) == 0 {
		return "The list is empty."
	}
	var b strings.Builder
	over := 0
	for _, t := range list {
		b.WriteString(t.line() + "\n")
		if t.finished() {
			over++
		}
	}
	fmt.Fprintf(&b, "%d of %d are done.", over, len(list))
	return b.String()
}

func (t *todo) finished() bool { return t.Status == completed || t.Status == cancelled }

// line returns the todo for the model.
func (t *todo) line() string {
	var notes []string
	if t.Status != pending && t.Status != completed {
		notes = append(notes, t.Status)
	}
	if t.Due != "" && !t.finished() {
		word := "due"
		if overdue(t.Due, time.Now()) {
			word = "overdue since"
		}
		notes = append(notes, word+" "+t.Due)
	}
	line := fmt.Sprintf("%s %s. %s", mark(t.Status), t.ID, t.Text)
	if len(notes) > 0 {
		line += " (" + strings.Join(notes, ", ") + ")"
	}
	return line
}

func mark(status string) string {
	switch status {
	case completed:
		return "[x]"
	case cancelled:
		return "[-]"
	case inProgress:
		return "[>]"
	}
	return "[ ]"
}

// oneLine removes line breaks, so that a todo is one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
