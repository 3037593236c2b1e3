package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// atPrompt is what a terminal shows of the prompt of a chat before the person types.
const atPrompt = "›"

// openTerminal returns the two ends of a pseudoterminal. The test types by writing to keyboard.
func openTerminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	open := func(path string) *os.File {
		file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	keyboard = open("/dev/ptmx")
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return keyboard, open(fmt.Sprintf("/dev/pts/%d", number))
}

// A person who typed before a question appeared has not seen the question, so the text is no
// answer.
func TestWhatWasTypedBeforeAQuestionIsNoAnswer(t *testing.T) {
	keyboard, screen := openTerminal(t)
	types := func(line string) {
		t.Helper()
		if _, err := keyboard.WriteString(line); err != nil {
			t.Fatal(err)
		}
		there := []unix.PollFd{{Fd: int32(screen.Fd()), Events: unix.POLLIN}}
		if n, err := unix.Poll(there, -1); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	p := cli.Process{Stdin: screen, Stdout: newOutput(), Getenv: func(string) string { return "" }}
	c := terminal.NewConsole(p)
	v := newInterview(p, c, newTextDisplay(p))
	types("y\n")
	v.expect([]client.PendingDecision{{ID: "d1", Kind: client.DecideApproval, Tool: "drop"}})
	if err := v.ask(); err != nil {
		t.Fatal(err)
	}
	types("n\n")
	line := <-c.Read()
	if made, err := v.hear(line.Text); err != nil || made.Verdict != client.Reject {
		t.Errorf("%q became %q, %v", line.Text, made.Verdict, err)
	}
}

// At a terminal, a paste is one message, commands do not reach the model, and the banner shows the
// model and the tools.
func TestChatAtATerminal(t *testing.T) {
	w := newWorld(t).withToolhost()
	keyboard, screen := openTerminal(t)
	shown := newOutput()
	go func() { _, _ = io.Copy(shown, keyboard) }() // ends when the terminal is closed
	p := w.process(ended{stdout: newOutput(), stderr: newOutput()}, "chat", "--model",
		w.script("turns: [{text: 'first: {{json prompt}}', usage: {input: 7, output: 5}}, {text: 'second: {{json prompt}}'}]"))
	p.Stdin, p.Stdout, p.Stderr = screen, screen, screen
	done := make(chan int, 1)
	go func() { done <- run(context.WithoutCancel(t.Context()), p) }()
	types := func(keys string) {
		t.Helper()
		if _, err := keyboard.WriteString(keys); err != nil {
			t.Fatal(err)
		}
	}
	y := &typist{t: t, out: shown}
	y.sees("model scripted:", "tools", "/help shows the keys", atPrompt)
	types("/help\r")
	y.sees("Ctrl-C", "the conversation is kept", atPrompt)
	types("/hlep me\r")
	y.sees("there is no command /hlep", atPrompt)
	types("\x1b[200~a\rb\rc\x1b[201~\r")
	y.sees(`first: "a\nb\nc"`, "7 tokens read, 5 written", atPrompt)
	types("/etc/hostz\x1b[D\x1b[Cx\x7f\x7fs is it\r")
	y.sees(`second: "/etc/hosts is it"`, atPrompt)
	types("/quit\r")
	y.sees("the conversation is kept; go on with it")
	if code := <-done; code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
}

// While a call runs, a chat at a terminal shows an animation. Each frame replaces the one before,
// and nothing of the animation remains.
func TestTheAnimationOfAChatIsErased(t *testing.T) {
	w, release := newWorld(t), make(chan struct{})
	w.host = hosttest.New(t, nil, hosttest.Tool{
		Spec: tool.Spec{Name: "hold", Description: "Waits.", InputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true},
		Run: func(ctx context.Context, _ tool.Call, _ func(tool.Event)) (tool.Result, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return tool.Result{Content: []tool.Content{tool.Text("held")}}, nil
		},
	})
	w.withToolhost()
	w.env["TERM"] = "xterm-256color"
	keyboard, screen := openTerminal(t)
	if err := unix.IoctlSetWinsize(int(keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 80, Row: 24}); err != nil {
		t.Fatal(err)
	}
	shown := newOutput()
	go func() { _, _ = io.Copy(shown, keyboard) }() // ends when the terminal is closed
	p := w.process(ended{stdout: newOutput(), stderr: newOutput()}, "chat", "--model", w.script("turns: [{calls: [{id: a, tool: hold, arguments: {}}]}, {text: all is well}]"))
	p.Stdin, p.Stdout, p.Stderr = screen, screen, screen
	done := make(chan int, 1)
	go func() { done <- run(context.WithoutCancel(t.Context()), p) }()
	y := &typist{t: t, out: shown}
	types := func(keys string) {
		t.Helper()
		if _, err := keyboard.WriteString(keys); err != nil {
			t.Fatal(err)
		}
	}
	y.sees(atPrompt)
	types("go\r")
	for _, frame := range spinFrames[2:6] {
		y.sees(frame + " hold")
	}
	close(release)
	y.sees("✓ hold", "all is well", atPrompt)
	types("/quit\r")
	if code := <-done; code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
	drawn := strings.Split(shown.String(), terminal.EraseBelow)
	for i, text := range drawn {
		frames := 0
		for _, frame := range spinFrames {
			frames += strings.Count(text, frame)
		}
		if most := min(1, len(drawn)-1-i); frames > most {
			t.Errorf("%d frames remain on the screen in %q", frames, text)
		}
	}
}

// Ctrl-C in a decision clears the text, and without text it cancels the run. The chat goes on.
func TestControlCInADecision(t *testing.T) {
	w := newWorld(t).withPay()
	y, wait := w.sits("chat", "--model", w.script(payScript))
	y.sees(atPrompt)
	y.press("go\r")
	y.sees("allow it? ")
	y.press("y\x03") // does not approve
	y.press("\x03")
	y.sees("cancelling", "the run ended: cancelled: interrupted", atPrompt)
	y.press("go on\r")
	y.sees("It said [cancelled]", atPrompt)
	y.press("\x03")
	y.sees("Ctrl-C again leaves")
	y.press("\x03")
	y.sees("the conversation is kept")
	if code := wait(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
}

// A question that is taken back leaves the terminal as it was, and the next one is asked.
func TestAQuestionIsTakenBack(t *testing.T) {
	keyboard, screen := openTerminal(t)
	state := func() unix.Termios {
		t.Helper()
		now, err := unix.IoctlGetTermios(int(screen.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return *now
	}
	shown, before := newOutput(), state()
	go func() { _, _ = io.Copy(shown, keyboard) }() // ends when the terminal is closed
	c := terminal.NewConsole(cli.Process{Stdin: screen, Stdout: screen, Getenv: func(string) string { return "" }})
	y := &typist{t: t, in: keyboard, out: shown}
	for _, prompt := range []string{"first? ", "second? "} {
		if err := c.Ask(terminal.Question{Prompt: prompt, Decision: true}); err != nil {
			t.Fatal(err)
		}
		answer := c.Read()
		y.sees(strings.TrimSpace(prompt))
		if state() == before {
			t.Errorf("%q: no editor is in use", prompt)
		}
		if prompt == "second? " {
			y.press("no\r")
			typed := <-answer
			c.Take()
			if typed.Text != "no" || typed.Err != nil {
				t.Errorf("the answer is %q, %v", typed.Text, typed.Err)
			}
		} else {
			y.press("y")
			y.sees("y")
			c.Withdraw()
		}
		if state() != before {
			t.Errorf("%q: the terminal is not as it was", prompt)
		}
	}
}
