package commands

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// withHold adds a toolhost with the tool hold, whose calls end when the test sends to release.
func (w *world) withHold() (_ *world, release chan struct{}) {
	release = make(chan struct{})
	w.host = hosttest.New(w.t, nil, hosttest.Tool{
		Spec: tool.Spec{Name: "hold", Description: "Waits.", InputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true},
		Run: func(ctx context.Context, _ tool.Call, _ func(tool.Event)) (tool.Result, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return tool.Result{Content: []tool.Content{tool.Text("held")}}, nil
		},
	})
	return w.withToolhost(), release
}

// What a person types while the model works is shown below the calls. A message that is ended is
// sent afterwards, also a command; what is not ended is at the prompt then.
func TestMessagesAreQueuedWhileTheModelWorks(t *testing.T) {
	w, release := newWorld(t).withHold()
	w.env["TERM"] = "xterm-256color"
	y, wait := w.sits("chat", "--model", w.script("turns: [{calls: [{id: a, tool: hold, arguments: {}}]}, {text: all is held}, {text: 'You said {{json prompt}}.'}, {text: 'At last {{json prompt}}.'}]"))
	y.sees(atPrompt)
	y.press("go\r")
	y.sees("hold")
	y.press("sec")
	y.sees("› sec")
	y.press("ond\r")
	y.sees("› second (queued)")
	y.press("/help\r\x1b[200~two\rlines\x1b[201~\rthi")
	y.sees("› /help (queued)", "› two lines (queued)", "› thi")
	release <- struct{}{}
	y.sees("all is held", "› second", `You said "second".`, "› /help", "Ctrl-R searches it", "› two", "› lines", `At last "two\nlines".`, "tokens read", atPrompt, "thi")
	y.press("\x03/quit\r")
	y.sees("the conversation is kept")
	if code := wait(); code != cli.ExitOK || strings.Contains(y.out.String(), "not sent") {
		t.Errorf("exit code %d:\n%s", code, y.out)
	}
}

// After a turn that was cancelled, what waits is at the prompt. What was not sent when the person
// leaves is named.
func TestMessagesAreHeldAfterACancel(t *testing.T) {
	w, release := newWorld(t).withHold()
	y, wait := w.sits("chat", "--model", w.script("turns: [{calls: [{id: a, tool: hold, arguments: {}}]}, {calls: [{id: b, tool: hold, arguments: {}}]}, {text: 'You said {{json prompt}}.'}]"))
	y.sees(atPrompt)
	y.press("go\r")
	y.sees("hold")
	y.press("more\rand")
	y.sees("› more (queued)", "› and")
	if err := terminal.Interrupt(); err != nil { // as a terminal does for Ctrl-C
		t.Fatal(err)
	}
	y.sees("the run ended: cancelled", atPrompt, "more")
	y.press("!\r")
	y.sees("hold")
	release <- struct{}{}
	y.sees(`You said "more\nand!".`, atPrompt)
	y.press("\x04")
	y.sees("the conversation is kept")
	if code := wait(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
}
