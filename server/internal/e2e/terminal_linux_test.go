package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
)

// steering has terminal controls and misleading characters by name. No program under test writes
// them by itself.
var steering = map[string]string{
	"clear the screen": "\x1b[2J", "set the clipboard": "\x1b]52;c;cHduZWQ=\x07", "set the title": "\x1b]0;pwned\x1b\\",
	"reset": "\x1bc", "hide text": "\x1b[8m", "report the cursor": "\x1b[6n", "device control": "\x1bP+q544e\x1b\\",
	"go to the line's begin": "kept\rforged", "backspace": "rm -rf\b\b\b\b\b\bls", "bell": "\a", "delete": "x\x7f", "shift out": "\x0e",
	"control sequence in one character": "\u009b31m", "operating system command in one character": "\u009d0;t\u009c", "next line": "\u0085",
	"override to the left": "\u202egnp.exe", "embedding": "\u202a\u202c", "isolate": "\u2066a\u2069", "mark": "\u200f", "Arabic mark": "\u061c",
	"zero width space": "a\u200bb", "zero width joiner": "a\u200db", "byte order mark": "\ufeff", "word joiner": "\u2060", "soft hyphen": "\u00ad",
	"tag": "\U000e0041", "line separator": "\u2028", "paragraph separator": "\u2029",
}

// attack returns a long text with all of steering between marks.
func attack() string {
	text := "[begin]"
	for _, name := range slices.Sorted(maps.Keys(steering)) {
		text += steering[name] + "|"
	}
	return text + strings.Repeat("long ", 2000) + "[end]"
}

// harmless fails the test if a text contains a terminal control, or nothing of the attack.
func harmless(t *testing.T, what, text string) {
	t.Helper()
	if !strings.Contains(text, "[begin]") {
		t.Errorf("%s: the attack is not in the output:\n%.2000q", what, text)
	}
	for name, part := range steering {
		for _, piece := range []string{part, strings.TrimSuffix(part, "\x1b\\")} {
			if strings.Contains(text, piece) {
				t.Errorf("%s: it can %s", what, name)
			}
		}
	}
}

// screen is a separate terminal for one command.
type screen struct {
	keyboard, terminal *os.File
	written            syncbuf.Buffer
	gone               chan struct{} // closed when all processes with the terminal have ended
}

// openScreen returns a terminal with the given width in characters.
func openScreen(t *testing.T, wide uint16) *screen {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keyboard.Close() })
	fd := int(keyboard.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: wide, Row: 40})
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{keyboard: keyboard, gone: make(chan struct{})}
	if s.terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the last process that has the terminal
		defer close(s.gone)
		_, _ = io.Copy(&s.written, keyboard)
	}()
	return s
}

// run runs a command at the terminal. It types the answer whenever a question appears again.
func (s *screen) run(t *testing.T, cmd *exec.Cmd, answers map[string]string) string {
	t.Helper()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.terminal, s.terminal, s.terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.terminal.Close()
	answered := map[string]int{}
	eventually.Holds(t, "the command ends", func() bool {
		for question, answer := range answers {
			if strings.Count(s.written.String(), question) > answered[question] {
				answered[question]++
				if _, err := s.keyboard.WriteString(answer); err != nil {
					t.Fatal(err)
				}
			}
		}
		select {
		case <-s.gone:
			return true
		default:
			return false
		}
	})
	_ = cmd.Wait() // the exit code does not matter here
	return strings.ReplaceAll(s.written.String(), "\r\n", "\n")
}

// onScreen runs a command in a separate terminal and returns its output there.
func onScreen(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	return openScreen(t, 100).run(t, cmd, nil)
}

// withUnruly starts a toolhost with a plugin that writes terminal controls in every possible place.
func withUnruly(t *testing.T) *toolhost {
	t.Helper()
	h := prepare(t)
	plugin := filepath.Join(h.plugins, "terminalplugin")
	if err := os.Mkdir(plugin, 0o700); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join(bin, "terminalplugin"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(plugin, "terminalplugin"), string(program), 0o755)
	write(t, filepath.Join(plugin, "terminalplugin.words"), attack(), 0o644)
	write(t, filepath.Join(plugin, "plugin.yaml"), "command: [./terminalplugin]\n", 0o644)
	h.serve(t)
	return h
}

// Every command shows texts of a tool without terminal controls taking effect.
func TestNoForeignTextSteersATerminal(t *testing.T) {
	t.Parallel()
	h := withUnruly(t)
	call := func(place string) []string {
		arguments, err := json.Marshal(map[string]string{"place": place, "words": attack()})
		if err != nil {
			t.Fatal(err)
		}
		return []string{"call", "terminalplugin", string(arguments), "--stream"}
	}
	key, err := json.Marshal(attack())
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		call("text"), call("structured"), call("error"), call("failure"), call("status"), call("log"), call("crash"),
		{"call", "terminalplugin", attack()}, {"call", "terminalplugin", `{` + string(key) + `:1}`},
		{"tools"}, {"tools", "terminalplugin"}, {"tools", "search", "begin"}, {"tools", "render", "--format", "markdown"},
		{"tools", "render", "--format", "openai"}, {"__complete", "call", ""}, {"__complete", "why", ""},
		{"logs", "terminalplugin"}, {"why", "terminalplugin"}, {"plugins"}, {"events", "terminalplugin"}, {"calls", attack()}, {"restart", attack()}, {"tools", attack()},
		{"serve", "--" + attack()}, {attack()}, {"call", "terminalplugin", "--call-id", attack()}, {"tools", "--addr", attack()},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		what := fmt.Sprintf("toolhost %.60q", command)
		shown := onScreen(t, commandOf(ctx, h, command...))
		cancel()
		if saysNothingOfIt(command[0]) {
			shown += "[begin]"
		}
		harmless(t, what, shown)
	}
	for _, place := range []string{"text", "structured", "file", "error", "failure", "status", "log"} {
		r := h.do(t, append(call(place), "-o", "json")...)
		if place == "log" || place == "status" || place == "file" {
			r.stdout += "[begin]"
		}
		harmless(t, "JSON of "+place, r.stdout+r.stderr)
		for line := range strings.Lines(strings.TrimSuffix(r.stdout, "[begin]")) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: %.200q is not JSON", place, line)
			}
		}
	}
	out, _ := h.callJSON(t, call("text")[1:3]...)
	if out.Text != attack() && len(out.Text) != len(attack()) {
		t.Errorf("the JSON says another text: %.300q", out.Text)
	}
}

// saysNothingOfIt reports whether a command may omit the attack.
func saysNothingOfIt(command string) bool {
	return command == "plugins" || command == "events" || command == "calls"
}

func commandOf(ctx context.Context, h *toolhost, args ...string) *exec.Cmd {
	return command(ctx, h.home, []string{"TOOLHOST_ADDR=" + h.addr, "TERM=xterm-256color"}, "toolhost", args...)
}

// A redirected result has its exact bytes.
func TestAResultThatIsNotForATerminalIsExact(t *testing.T) {
	h := withUnruly(t)
	const text = "a\r\nb\x1b[1mc\u202ed"
	arguments, err := json.Marshal(map[string]string{"place": "text", "words": text})
	if err != nil {
		t.Fatal(err)
	}
	if r := h.do(t, "call", "terminalplugin", string(arguments)); r.stdout != text+"\n" {
		t.Errorf("got %q", r.stdout)
	}
}

// Arguments, names, reasons and rules cannot hide a part of an approval prompt.
func TestAnApprovalPromptShowsWhatIsApproved(t *testing.T) {
	t.Parallel()
	h := withUnruly(t)
	arguments, err := json.Marshal(map[string]string{attack(): attack(), "\u202edrowssap": "\x1b[8msecret"})
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(string(arguments))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(attack())
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(h.home, "script.yaml")
	var entries bytes.Buffer
	fmt.Fprintf(&entries, `turns:
  - text: %[2]s
    calls: [{id: a, tool: terminalplugin_danger, arguments_raw: %[1]s}, {id: q, tool: ask_user, arguments: {question: %[2]s, options: [%[2]s, b]}}]
  - text: %[2]s
    calls: [{id: s, tool: terminalplugin, arguments: {place: status, words: %[2]s}}, {id: e, tool: terminalplugin, arguments: {place: error, words: %[2]s}}]
  - text: %[2]s
`, quoted, text)
	write(t, script, entries.String(), 0o600)
	journal := filepath.Join(h.home, "journal.db")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	agentd := func(args ...string) *exec.Cmd {
		return command(ctx, h.home, []string{"TERM=xterm-256color", "USER=" + "me"}, "agentd", append(args, "--journal", journal)...)
	}
	run := agentd("run", "--toolhost", h.addr, "--model", "scripted:"+script, attack())
	run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) }
	shown := openScreen(t, 100).run(t, run, map[string]string{"allow it?": "n\r", "no reason": "\r", "your answer": "1\r"})
	harmless(t, "agentd run", shown)
	for _, want := range []string{`\u202edrowssap`, `\x1b[8msecret`, `\u009b31m`} {
		if !strings.Contains(strings.ReplaceAll(shown, `\u001b`, `\x1b`), want) {
			t.Errorf("the question does not show %s:\n%.3000q", want, shown)
		}
	}
	listed := onScreen(t, agentd("runs"))
	harmless(t, "agentd runs", listed)
	id := strings.Fields(strings.SplitN(listed, "\n", 3)[1])[0]
	harmless(t, "agentd show", onScreen(t, agentd("show", id)))
	harmless(t, "agentd show -o json", onScreen(t, agentd("show", id, "-o", "json")))
	harmless(t, "agentd show of none", onScreen(t, agentd("show", attack())))
}
