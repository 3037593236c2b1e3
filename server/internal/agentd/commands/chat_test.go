package commands

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// typist types lines into a chat and waits for its output.
type typist struct {
	t   *testing.T
	in  io.WriteCloser
	out *output
	seq int // the position in the output from which sees searches
}

func (y *typist) types(line string) {
	y.t.Helper()
	if _, err := io.WriteString(y.in, line+"\n"); err != nil {
		y.t.Fatal(err)
	}
}

// sees waits for words after the words that it found before.
func (y *typist) sees(words ...string) {
	y.t.Helper()
	for _, w := range words {
		for {
			rest := y.out.String()[y.seq:]
			if i := strings.Index(rest, w); i >= 0 {
				y.seq += i + len(w)
				break
			}
			select {
			case <-y.out.changed:
			case <-y.t.Context().Done():
				y.t.Fatalf("%q never came after:\n%s", w, y.out)
			}
		}
	}
}

// chats starts `agentd chat` in this process, with a pipe as keyboard.
func (w *world) chats(args ...string) (y *typist, e ended, wait func() int) {
	w.t.Helper()
	in, keyboard := io.Pipe()
	e = ended{stdout: newOutput(), stderr: newOutput()}
	p := w.process(e, append([]string{"chat"}, args...)...)
	p.Stdin = in
	done := make(chan int, 1)
	go func() { done <- run(context.WithoutCancel(w.t.Context()), p) }()
	w.t.Cleanup(func() { _ = keyboard.Close() })
	return &typist{t: w.t, in: keyboard, out: e.stdout}, e, func() int { return <-done }
}

const conversation = `
turns:
  - text: Hello.
    calls:
      - {id: a, tool: danger, arguments: {}}
      - {id: b, tool: danger, arguments: {}}
      - {id: c, tool: danger, arguments: {}}
  - calls: [{id: q, tool: ask_user, arguments: {question: Which one?, options: [left, right]}}]
  - text: 'So: {{result "a"}}, {{result "b"}}, {{result "c"}}, {{result "q"}}.'
  - text: 'You said {{prompt}}.'
`

func TestChat(t *testing.T) {
	w := newWorld(t).withToolhost()
	w.env["USER"] = "ann"
	y, e, wait := w.chats("--model", w.script(conversation))
	y.sees("› ")
	y.types("hi")
	y.sees("Hello.", "? danger needs approval (d", "allow it? ")
	y.types("what?") // the reason for the rejection
	y.sees("rejected by ann: what?", "allow it? ")
	y.types("") // an empty message
	y.sees("Nothing happens before you decide.", "allow it? ")
	y.types("e")
	y.sees("now: {}", "as JSON")
	y.types("[1]")
	y.sees("no JSON object", "as JSON")
	y.types("")
	y.sees("allow it? ")
	y.types("Y")
	y.sees("approved by ann", "allow it? ")
	y.types("n")
	y.sees("rejected by ann", "your answer")
	y.types("2")
	y.sees("answered by ann: right", "So: ", "right.", "› ")
	y.types("more")
	y.sees("You said more.", "› ")
	_ = y.in.Close()
	e.code = wait()
	e.want(t, 0, "the conversation is kept; go on with it: agentd chat run-")
	if strings.Contains(e.stdout.String(), "\x1b") {
		t.Errorf("colours where no terminal is:\n%q", e.stdout)
	}
}

// A question that was open when the person left appears again when the conversation continues.
func TestChatIsLeftAndGoesOn(t *testing.T) {
	w := newWorld(t).withToolhost()
	script := w.script("turns: [{calls: [{id: a, tool: danger, arguments: {}}]}, {text: 'It is {{result \"a\"}}.'}]")
	y, e, wait := w.chats("--model", script)
	y.types("go")
	y.sees("allow it? ")
	_ = y.in.Close()
	e.code = wait()
	e.want(t, 0)
	_, command, _ := strings.Cut(strings.TrimSpace(e.stdout.String()), "agentd chat ")
	id, flags, _ := strings.Cut(command, " ")
	if flags != "--model "+script {
		t.Errorf("it goes on with the flags %q, and was begun with --model %s", flags, script)
	}
	w.run("runs", "--state", "waiting").want(t, 0, id)
	w.run("show", id).want(t, 0, "› go", "? danger needs approval", "waits for d1", "if that process has ended: agentd resume "+id)

	y, e, wait = w.chats("--model", script, id)
	y.sees("? danger needs approval", "allow it? ")
	y.types("yes")
	y.sees("It is done.", "› ")
	y.types("/quit")
	e.code = wait()
	e.want(t, 0)
	w.run("show", id).want(t, 0, "✓ d1 approved", "✓ danger", "■ the run ended: end_turn", "2 turns, 1 call,")
}

// The first Ctrl-C cancels the turn, and the second one, at the prompt, leaves. The test uses a
// separate process because of the signals.
func TestControlC(t *testing.T) {
	w := newWorld(t).withToolhost()
	if err := os.Symlink(mustExecutable(t), filepath.Join(w.folder, program)); err != nil {
		t.Fatal(err)
	}
	script := w.script("turns: [{calls: [{id: a, tool: wait, arguments: {key: k}}]}, {text: 'whole again'}]")
	cmd := exec.Command(filepath.Join(w.folder, program), "chat", "--model", script)
	cmd.Env = []string{"HOME=" + w.folder, "TOOLHOST_ADDR=" + w.toolhost.String(), raceEnv + "=" + atOnce}
	out := newOutput()
	cmd.Stdout, cmd.Stderr = out, t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	y := &typist{t: t, in: in, out: out}
	y.sees("› ")
	y.types("go")
	y.sees("→ wait")
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	y.sees("cancelling", "✗ wait", "the run ended: cancelled: interrupted", "› ")
	y.types("go on")
	y.sees("whole again", "› ")
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("chat ended with %v\n%s", err, out)
	}
}
