package commands

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

const paySchema = `{"type":"object","properties":{"to":{"type":"string"},"amount":{"type":"integer","minimum":1}},"required":["to"],"additionalProperties":false}`

// withPay makes a toolhost with the dangerous tool pay, which says what it got.
func (w *world) withPay() *world {
	w.host = hosttest.New(w.t, nil, hosttest.Tool{
		Spec: tool.Spec{Name: "pay", Description: "Pays.", InputSchema: json.RawMessage(paySchema), Dangerous: true},
		Run: func(_ context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
			return tool.TextResult("paid " + string(call.Arguments)), nil
		},
	})
	return w.withToolhost()
}

// editor writes a program that is the person's editor. It gets the path of the file as $1.
func (w *world) editor(script string) {
	w.t.Helper()
	path := filepath.Join(w.folder, "my editor")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.env["EDITOR"] = "'" + path + "'" // a command line with quotes
	w.env["TMPDIR"] = w.folder
	w.t.Setenv("TMPDIR", w.folder)
}

// left returns the temporary files that an editor has left.
func (w *world) left() []string {
	w.t.Helper()
	list, err := filepath.Glob(filepath.Join(w.folder, "agentd-edit-*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// sits starts agentd at a terminal, which is so wide that what a test waits for is on one line.
func (w *world) sits(args ...string) (y *typist, wait func() int) {
	w.t.Helper()
	keyboard, screen := openTerminal(w.t)
	if err := unix.IoctlSetWinsize(int(keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 250, Row: 50}); err != nil {
		w.t.Fatal(err)
	}
	shown := newOutput()
	go func() { _, _ = io.Copy(shown, keyboard) }() // ends when the terminal is closed
	p := w.process(ended{stdout: newOutput(), stderr: newOutput()}, args...)
	p.Stdin, p.Stdout, p.Stderr = screen, screen, screen
	done := make(chan int, 1)
	go func() { done <- run(context.WithoutCancel(w.t.Context()), p) }()
	return &typist{t: w.t, in: keyboard, out: shown}, func() int { return <-done }
}

const payScript = `
turns:
  - calls: [{id: a, tool: pay, arguments: {to: "mallory\u001b[31m", amount: 100}}]
  - text: 'It said {{result "a"}}.'
`

// A person edits the arguments in an editor that finds them in a file that only the user can read.
// Garbage, wrong arguments and an editor that fails change nothing.
func TestArgumentsAreEditedInAnEditor(t *testing.T) {
	w := newWorld(t).withPay()
	steps := filepath.Join(w.folder, "steps")
	w.editor(`
step=$(cat "` + steps + `")
stat -c '%a' "$1" "$(dirname "$1")" > "` + w.folder + `/modes"
cp "$1" "` + w.folder + `/seen"
stty raw -echo
case $step in
fails) echo '{"to":"eve"}' > "$1"; exit 3 ;;
nothing) ;;
garbage) printf '\033]0;owned\007{"to": ' > "$1" ;;
binary) head -c 100000 /dev/urandom > "$1" ;;
removed) rm "$1" ;;
link) rm "$1"; ln -s /etc/passwd "$1" ;;
wrong) echo '{"to":"bob","amount":0}' > "$1" ;;
right) echo '{"to":"bob","amount":7}' > "$1.new"; mv "$1.new" "$1" ;;
esac
`)
	step := func(name string) {
		t.Helper()
		if err := os.WriteFile(steps, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	y, wait := w.sits("chat", "--model", w.script(payScript))
	y.sees(atPrompt)
	y.press("go\r")
	for name, says := range map[string]string{
		"fails": "exit status 3; the arguments stay as they are", "nothing": "the arguments stay as they are",
		"removed": "the arguments stay as they are", "link": "no regular file; the arguments stay as they are",
	} {
		step(name)
		y.sees("allow it? ")
		y.press("e\r")
		y.sees(says)
	}
	y.sees("allow it? ")
	step("garbage")
	y.press("e\r")
	y.sees("[e]dit them again")
	step("binary")
	y.press("e\r")
	y.sees("(empty: back): e", "[e]dit them again")
	step("wrong")
	y.press("e\r")
	y.sees("(empty: back): e", "amount", "[e]dit them again")
	seen, err := os.ReadFile(filepath.Join(w.folder, "seen"))
	if err != nil || len(seen) != 100000 {
		t.Errorf("the second edit began with %d bytes, %v; want what the person left", len(seen), err)
	}
	step("right")
	y.press("e\r")
	y.sees("✓ d1 approved", `with {"to":"bob","amount":7}`, `It said [edited]`, atPrompt)
	y.press("/quit\r")
	if code := wait(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
	if modes, err := os.ReadFile(filepath.Join(w.folder, "modes")); err != nil || string(modes) != "600\n700\n" {
		t.Errorf("the modes of the file and its folder are %q, %v", modes, err)
	}
	if left := w.left(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if strings.Contains(y.out.String(), "\x1b]0;") {
		t.Error("what the editor wrote reached the terminal")
	}
}

// press types keys.
func (y *typist) press(keys string) {
	y.t.Helper()
	if _, err := io.WriteString(y.in, keys); err != nil {
		y.t.Fatal(err)
	}
}

// Without an editor, the person edits the arguments at the prompt, which begins with them. What
// does not fit the schema is edited again. Ctrl-C returns to the question.
func TestArgumentsAreEditedAtThePrompt(t *testing.T) {
	w := newWorld(t).withPay()
	y, wait := w.sits("chat", "--model", w.script(payScript))
	y.sees(atPrompt)
	y.press("go\r")
	y.sees("amount: 100", `to: "mallory\u001b[31m"`, "allow it? ")
	y.press("e\r")
	y.sees(`"amount": 100`)
	y.press("\x03") // clears the text
	y.press("\x03")
	y.sees("allow it? ")
	y.press("e\r")
	y.sees(`"amount": 100`)
	y.press("\x1b[A\x1b[A\x1b[F\x1b[D" + "\x7f\x7f\x7f0\r") // less than the schema admits, before the comma two lines above
	y.sees("at least 1", `"amount": 0`)
	y.press("\x1b[A\x1b[A\x1b[F\x1b[D\x7f7\r")
	y.sees("✓ d1 approved", `"amount":7,`, atPrompt)
	y.press("/quit\r")
	if code := wait(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
}

// A paste does not approve a call, and the person rejects it with a reason, which may be pasted.
func TestAPasteApprovesNothing(t *testing.T) {
	w := newWorld(t).withPay()
	y, wait := w.sits("chat", "--model", w.script(payScript))
	y.sees(atPrompt)
	y.press("go\r")
	y.sees("allow it? ")
	y.press("\x1b[200~y\ry\n\x1b[201~")
	y.sees("a paste decides nothing")
	y.press("n\r")
	y.sees("empty: no reason")
	y.press("\x1b[200~too\rmuch\x1b[201~\r")
	y.sees("rejected", ": too much", atPrompt)
	y.press("/quit\r")
	if code := wait(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
	if strings.Contains(y.out.String(), "paid ") {
		t.Error("the call was made")
	}
}

// The state of the terminal is restored after an editor, and the run can end while the editor is
// open: the editor ends then, and the edit has no effect.
func TestAnEditorEndsWithItsRun(t *testing.T) {
	w := newWorld(t).withPay()
	w.editor("stty raw -echo\ntouch '" + w.folder + "/open'\nexec sleep 1000\n")
	keyboard, screen := openTerminal(t)
	before, err := unix.IoctlGetTermios(int(screen.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, keyboard) }() // ends when the terminal is closed
	p := w.process(ended{stdout: newOutput(), stderr: newOutput()})
	p.Stdin, p.Stdout, p.Stderr = screen, screen, screen
	e := newArgumentEditor(p)
	e.begin("{}\n")
	eventually.Holds(t, "the editor is open", func() bool {
		_, err := os.Stat(filepath.Join(w.folder, "open"))
		return err == nil
	})
	if !e.busy() {
		t.Fatal("no edit is in progress")
	}
	e.end()
	if e.busy() || len(w.left()) > 0 {
		t.Errorf("after the end: busy %v, left %q", e.busy(), w.left())
	}
	after, err := unix.IoctlGetTermios(int(screen.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("the terminal is %+v, was %+v, %v", after, before, err)
	}
}

// `agentd respond --edit CALL` without arguments opens the editor. What does not fit the schema is
// not sent.
func TestRespondOpensAnEditor(t *testing.T) {
	w := newWorld(t).withPay()
	if err := os.Symlink(mustExecutable(t), filepath.Join(w.folder, program)); err != nil {
		t.Fatal(err)
	}
	d := &daemon{t: t, w: w, socket: "unix://" + filepath.Join(w.folder, "agentd.sock"), script: w.script(payScript)}
	d.start()
	a, err := client.DialAgent(d.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.StartRun(t.Context(), client.Task{Prompt: "pay", RunID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	awaitDecisions(t, a, id, 1)
	run, err := a.GetRun(t.Context(), id)
	if err != nil || string(run.Pending[0].Schema) != paySchema {
		t.Fatalf("the run is %v, %v", run, err)
	}
	respond := func(args ...string) ended {
		return w.run(append([]string{"respond", "r", "--addr", d.socket}, args...)...)
	}
	respond("--edit", "t1.c0").want(t, 2, "has no text")
	respond("--edit", "t1.c0", `{"to":7}`).want(t, 3, "do not fit", "to")
	respond("--edit", "t1.c0", `{"to":`).want(t, 3, "invalid_argument")
	atTerminal := func(code int, answer string, words ...string) {
		t.Helper()
		y, wait := w.sits("respond", "r", "--addr", d.socket, "--edit", "t1.c0")
		if answer == "\r" {
			y.sees(`"amount": 100`)
			y.press(answer)
		} else if answer != "" {
			y.sees("edit them again?")
			y.press(answer)
		}
		y.sees(words...)
		if got := wait(); got != code {
			t.Errorf("exit code %d, want %d: %s", got, code, y.out)
		}
	}
	atTerminal(2, "\r", "were not changed, and nothing was decided") // at the prompt
	w.editor("exit 0")
	atTerminal(2, "", "were not changed, and nothing was decided")
	w.editor(`echo '{"to":"eve","amount":0}' > "$1"`)
	atTerminal(3, "n\r", "amount")
	w.editor(`if grep -q eve "$1"; then echo '{"to":"bob","amount":3}' > "$1"; else echo '{"to":"eve","amount":0}' > "$1"; fi`)
	atTerminal(0, "y\r", "1 decided, 0 still wait")
	if text := finalText(t, a, id, 0); !strings.Contains(text, `paid {"amount":3,"to":"bob"}`) {
		t.Errorf("the run ends with %q", text)
	}
}

// In a terminal, `respond` shows the call that it is to approve, and decides nothing before the
// person agrees.
func TestRespondShowsWhatItApproves(t *testing.T) {
	w := newWorld(t).withPay()
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	server, interrupt, wait := w.begin("serve", "--listen", socket, "--journal", filepath.Join(w.folder, "served.db"), "--model", w.script(payScript))
	server.stdout.until(t, "agentd is ready")
	a, err := client.DialAgent(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.StartRun(t.Context(), client.Task{Prompt: "go", People: &client.People{Attended: true}})
	if err != nil {
		t.Fatal(err)
	}
	awaitDecisions(t, a, id, 1)
	for _, test := range []struct {
		args, says []string
		word       string
		code       int
		waits      int
	}{
		{[]string{"--approve", "d1"}, []string{"pay needs approval (d1)", "100", "mallory", "approve it?"}, "", 2, 1},
		{[]string{"--approve", "d1"}, []string{"approve it?"}, "n", 2, 1},
		{[]string{"--edit", "d1", `{"to":"bob","amount":7}`}, []string{"pay needs approval (d1)", "bob", "approve it?"}, "y", 0, 0},
	} {
		y, left := w.sits(append([]string{"respond", id, "--addr", socket}, test.args...)...)
		y.sees(test.says...)
		y.press(test.word + "\r")
		if code := left(); code != test.code {
			t.Errorf("%q, %q: exit code %d, want %d\n%s", test.args, test.word, code, test.code, y.out)
		}
		if strings.Contains(y.out.String(), "mallory\x1b[31m") {
			t.Errorf("the arguments reach the terminal without escapes: %q", y.out)
		}
		run, err := a.GetRun(t.Context(), id)
		if err != nil || len(run.Pending) != test.waits {
			t.Errorf("%q, %q: %d decisions wait, %v", test.args, test.word, len(run.Pending), err)
		}
	}
	interrupt()
	wait()
}
