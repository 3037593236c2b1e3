package commands

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// A chat that goes on with a run shows the end of the conversation, and the history has the
// messages of the run.
func TestChatShowsTheEndOfAConversation(t *testing.T) {
	w := newWorld(t).withToolhost()
	script := w.script(`turns: [{text: said one}, {text: said two}, {calls: [{id: e, tool: echo, arguments: {text: aloud}}]}, {text: said three}, {text: "` +
		strings.Repeat(`long  \n`, pastLines) + `end"}, {text: 'again {{prompt}}'}]`)
	y, wait := w.sits("chat", "--model", script)
	for i, answer := range []string{"one", "two", "three"} {
		y.sees(atPrompt)
		y.press(fmt.Sprintf("ask %d\r", i+1))
		y.sees("said " + answer)
	}
	y.sees(atPrompt)
	y.press("/quit\r")
	y.sees("go on with it: agentd chat run-")
	if code := wait(); code != cli.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	id := w.newestRun()

	y, wait = w.sits("chat", "--model", script, id)
	y.sees("/help shows the keys", "› ask 1", "said one", "› ask 2", "› ask 3", "✓ echo", "aloud", "said three", atPrompt)
	if strings.Contains(y.out.String(), "what was before") {
		t.Errorf("something was before all:\n%s", y.out)
	}
	y.press("four\r")
	y.sees("end", atPrompt)
	y.press("/quit\r")
	y.sees("go on with it")
	_ = wait()

	y, wait = w.sits("chat", "--model", script, id)
	y.sees("… `agentd show "+id+"` shows what was before", "long", "end", atPrompt)
	if n := strings.Count(y.out.String(), "long"); n != pastLines-1 || strings.Contains(y.out.String(), "ask 3") {
		t.Errorf("%d lines of the last turn:\n%s", n, y.out)
	}
	y.press("\x1b[A\x1b[A\r") // the message before the last one
	y.sees("again ask 3", atPrompt)
	y.press("/quit\r")
	if code := wait(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
}
