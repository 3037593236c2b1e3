package commands

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// /cost and /model show what the conversation has used and asks, and reach no model. Tab completes
// the commands.
func TestCommandsOfAChat(t *testing.T) {
	w := newWorld(t).withToolhost()
	y, wait := w.sits("chat", "--model", w.script("turns: [{text: 'You said {{prompt}}.', usage: {input: 7, output: 5}}]"))
	y.sees("/help shows the keys", atPrompt)
	y.press("/cost\r")
	y.sees("nothing yet", atPrompt)
	y.press("/mo\t\r")
	y.sees("/model", "model scripted:", atPrompt)
	y.press("hi\r")
	y.sees("You said hi.", "7 tokens read", atPrompt)
	y.press("/\t")
	y.sees("/attach  /cost  /exit  /help  /model  /prompts  /quit  /result")
	y.press("c\t\r")
	y.sees("7 tokens read, 5 written, 0 calls so far", atPrompt)
	y.press("/model\r")
	y.sees("model scripted:", atPrompt)
	y.press("/q\t\r")
	y.sees("the conversation is kept")
	if code := wait(); code != cli.ExitOK || strings.Contains(y.out.String(), "You said /") {
		t.Errorf("exit code %d:\n%s", code, y.out)
	}
}
