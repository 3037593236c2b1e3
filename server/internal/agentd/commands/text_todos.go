package commands

import (
	"encoding/json"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// mostTodos is how many unfinished todos the display shows after a change. A plan of that length
// fits on a screen beside the conversation.
const mostTodos = 8

// todo has the fields of a todo that the display shows. A tool chooses all of them.
type todo struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Status string `json:"status"`
	Due    string `json:"due"`
}

func (t *todo) finished() bool { return t.Status == "completed" || t.Status == "cancelled" }

// todos shows the changed list: how much of it is done, and what is left. A list of another form is
// shown as JSON.
func (d *textDisplay) todos(list json.RawMessage) error {
	var all []todo
	if json.Unmarshal(list, &all) != nil {
		return d.line(dim, "☐ %s", cli.Clip(cli.OneLine(string(list)), resultWidth))
	}
	var open []todo
	for _, t := range all {
		if !t.finished() {
			open = append(open, t)
		}
	}
	if err := d.line(dim, "☐ todos: %d of %d are done", len(all)-len(open), len(all)); err != nil {
		return err
	}
	for i, t := range open {
		if i == mostTodos {
			return d.line(dim, "  and %d more", len(open)-i)
		}
		text := t.ID + ". " + t.Text
		if t.Status == "in_progress" {
			text += " (in progress)"
		}
		if t.Due != "" {
			text += ", due " + t.Due
		}
		if err := d.line(dim, "  %s", cli.Clip(cli.OneLine(text), resultWidth)); err != nil {
			return err
		}
	}
	return nil
}
