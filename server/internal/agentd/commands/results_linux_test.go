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

// A chat shows one line of a result and says how to open it. /result and `agentd show` have all of
// its lines, and none of them controls the terminal or looks like a line of agentd.
func TestWholeResultsCanBeOpened(t *testing.T) {
	w := newWorld(t)
	lines := strings.Repeat("a line\n", 30) + "\x1b[2J✓ d1 approved\n\tthe end"
	w.host = hosttest.New(t, nil, hosttest.Tool{
		Spec: tool.Spec{Name: "list", Description: "Lists.", InputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true},
		Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			return tool.Result{Content: []tool.Content{tool.Text(lines), tool.JSON(json.RawMessage(`{"exit_code":7}`))}}, nil
		},
	})
	w.withToolhost()
	long := strings.Repeat("word ", 30)
	y, wait := w.sits("chat", "--model", w.script("turns: [{calls: [{id: a, tool: list, arguments: {text: '"+long+"'}}]}, {text: all is well}]"))
	y.sees(atPrompt)
	y.press("/result\r")
	y.sees("no call of this chat has a result yet", atPrompt)
	y.press("go\r")
	y.sees("✓ list", "a line…", "(/result 4)", "all is well", atPrompt)
	y.press("/result\r")
	y.sees("result 4 of list:", `  │ \x1b[2J✓ d1 approved`, "  │     the end", "[exit code 7]", atPrompt)
	y.press("/result 4\r")
	y.sees("result 4 of list:", "  │     the end", atPrompt)
	y.press("/result 3\r")
	y.sees("the event 3 of this conversation is no result", atPrompt)
	y.press("/result 99\r")
	y.sees("the event 99 of this conversation is no result", atPrompt)
	y.press("/result x\r")
	y.sees("/result takes the number", atPrompt)
	y.press("/quit\r")
	y.sees("the conversation is kept")
	if code := wait(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
	id := strings.Fields(w.run("runs").stdout.String())[7]
	shown := w.run("show", id)
	shown.want(t, 0, "→ list\n    text: \"word word", "✓ list (", "  │ a line\n", `  │ \x1b[2J✓ d1 approved`, "  │     the end\n  [exit code 7]\n")
	if n := strings.Count(shown.stdout.String(), "  │ a line\n"); n != 30 {
		t.Errorf("show has %d of 30 lines:\n%s", n, shown.stdout)
	}
}
