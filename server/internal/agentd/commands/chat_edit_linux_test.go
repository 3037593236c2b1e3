package commands

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// An edit that nobody was asked about shows its diff below its line. One that a person approved has
// shown it before.
func TestEditsOfAChatAreShown(t *testing.T) {
	w := newWorld(t)
	edits := func(name string, dangerous bool) hosttest.Tool {
		return hosttest.Tool{
			Spec: tool.Spec{Name: name, Description: "Edits.", InputSchema: json.RawMessage(`{"type":"object"}`), Dangerous: dangerous},
			Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
				return tool.Result{Content: []tool.Content{tool.Text("edited")}}, nil
			},
		}
	}
	w.host = hosttest.New(t, nil, edits("edit", false), edits("asks", true))
	w.withToolhost()
	const change = `arguments: {old_text: "feed the cat\n", new_text: "feed the dog\n"}`
	y, wait := w.sits("chat", "--model", w.script("turns: [{calls: [{id: a, tool: edit, "+change+"}]}, {calls: [{id: b, tool: asks, "+change+"}]}, {text: done}]"))
	y.sees(atPrompt)
	y.press("go\r")
	y.sees("✓ edit (", "edited", "│ -feed the cat", "│ +feed the dog", "asks needs approval", "allow it? ")
	y.press("y\r")
	y.sees("✓ asks", "edited", "done", atPrompt)
	y.press("/quit\r")
	if code := wait(); code != cli.ExitOK || strings.Count(y.out.String(), "-feed the cat") != 2 {
		t.Errorf("exit code %d:\n%s", code, y.out)
	}
}
