package terminal

import (
	"errors"
	"io"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// answer types keys into an editor as the bytes of a terminal, and returns the answer.
func answer(t *testing.T, q Question, history []string, keys string) Typed {
	t.Helper()
	in, keyboard := io.Pipe()
	t.Cleanup(func() { _ = keyboard.Close() })
	go func() { _, _ = io.WriteString(keyboard, keys) }() // ends with the last key, or with Close
	e := newEditor(q, history)
	e.ready = true
	p := tea.NewProgram(e, tea.WithInput(in), tea.WithOutput(io.Discard), tea.WithWindowSize(40, 10), tea.WithEnvironment([]string{"TERM=xterm-256color"}), tea.WithoutSignalHandler())
	if _, err := p.Run(); err != nil {
		t.Fatal(err)
	}
	return e.typed
}

// The keys of terminals and pastes make whole messages.
func TestMessagesAreEdited(t *testing.T) {
	const (
		left, right, up, down = "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B"
		home, end, wordLeft   = "\x1b[1~", "\x1b[4~", "\x1b[1;5D"
	)
	history := []string{"make test", "git log", "make\nbuild"}
	for name, test := range map[string]struct{ keys, want string }{
		"one line":                      {"hi\r", "hi"},
		"an arrow":                      {"ac" + left + "b\r", "abc"},
		"Home and End":                  {"b" + home + "a" + end + "c\r", "abc"},
		"Home and End of xterm":         {"b\x1b[Ha\x1b[Fc\r", "abc"},
		"Ctrl-Left":                     {"one two" + wordLeft + "and \r", "one and two"},
		"Ctrl-A, Ctrl-E, Ctrl-W":        {"two\x01one \x05 three\x17!\r", "one two !"},
		"wide characters":               {"日本語" + left + left + "の\x7f\x7f" + end + "😀\r", "本語😀"},
		"a paste of three lines":        {"see: \x1b[200~a\rb\rc\x1b[201~ end\r", "see: a\nb\nc end"},
		"a paste that ends":             {"\x1b[200~a\rb\r\x1b[201~\r", "a\nb\n"},
		"a paste of CR LF and a tab":    {"\x1b[200~a\r\n\tb\x1b[201~\r", "a\n\tb"},
		"a pasted backslash":            {"\x1b[200~a\\\rb\x1b[201~\r", "a\\\nb"},
		"a control sequence in a paste": {"\x1b[200~a\x1b]0;t\x07b\x1b[201~\r", "ab"},
		"a typed tab":                   {"a\tb\r", "a\tb"},
		"a backslash before Enter":      {"one\\\rtwo\r", "one\ntwo"},
		"Alt-Enter":                     {"one\x1b\rtwo\r", "one\ntwo"},
		"Ctrl-J":                        {"one\ntwo\r", "one\ntwo"},
		"up":                            {up + "\r", "make\nbuild"},
		"up in a message of two lines":  {up + up + up + "\r", "git log"},
		"up and back":                   {"new" + up + down + "\r", "new"},
		"a search":                      {"\x12test\r\r", "make test"},
		"a search for an older one":     {"\x12MAKE\x12\r!\r", "make test!"},
		"a search that ends":            {"new\x12test\x07\r", "new"},
		"a search without a result":     {"new\x12nothing\r\r", "new"},
		"an arrow ends a search":        {"\x12log" + left + right + "s\r", "git logs"},
		"Ctrl-C clears the text":        {"half\x03whole\r", "whole"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := answer(t, Question{Prompt: PromptMessage, Message: true}, history, test.keys); got.Text != test.want || got.Err != nil {
				t.Errorf("%q became %q, %v; want %q", test.keys, got.Text, got.Err, test.want)
			}
		})
	}
}

// Ctrl-C and Ctrl-D leave only if there is no text.
func TestAnEmptyLineIsLeft(t *testing.T) {
	for keys, want := range map[string]error{"\x03": ErrInterrupted, "half\x03\x03": ErrInterrupted, "\x04": io.EOF, "x\x1b[D\x04\x04": io.EOF} {
		if got := answer(t, Question{}, nil, keys); !errors.Is(got.Err, want) {
			t.Errorf("%q ended with %q, %v; want %v", keys, got.Text, got.Err, want)
		}
	}
}

// Tab completes a word of the question, and is a tab elsewhere.
func TestTabCompletesWords(t *testing.T) {
	q := Question{Message: true, Words: []string{"/cost", "/compare", "/help"}}
	for keys, want := range map[string]string{
		"/h\t\r": "/help ", "/h\tme\r": "/help me", "/c\t\r": "/co", "/co\ts\t\r": "/cost ", "\t\r": "\t", "a\tb\r": "a\tb", "/x\t\r": "/x\t", "/help\tx\r": "/help x",
	} {
		if got := answer(t, q, nil, keys); got.Text != want || got.Err != nil {
			t.Errorf("%q became %q, %v; want %q", keys, got.Text, got.Err, want)
		}
	}
	if got := answer(t, Question{Decision: true, Words: q.Words}, nil, "/h\t\r"); got.Text != "/h" {
		t.Errorf("a decision became %q", got.Text)
	}
}

// A message is not left by one Ctrl-C, and the editor says so.
func TestAMessageIsLeftByTwoInterrupts(t *testing.T) {
	for keys, want := range map[string]Typed{
		"\x03\x03": {Err: ErrInterrupted}, "half\x03\x03\x03": {Err: ErrInterrupted}, "\x03hi\r": {Text: "hi"}, "\x03a\x7f\x03b\r": {Text: "b"}, "\x04": {Err: io.EOF},
	} {
		if got := answer(t, Question{Message: true}, nil, keys); got.Text != want.Text || !errors.Is(got.Err, want.Err) {
			t.Errorf("%q ended with %q, %v; want %q, %v", keys, got.Text, got.Err, want.Text, want.Err)
		}
	}
	e := newEditor(Question{Message: true}, nil)
	_, _ = e.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
	if e.ended || !strings.Contains(e.View().Content, "Ctrl-C again leaves") {
		t.Errorf("ended %t, drawn %q", e.ended, e.View().Content)
	}
}

// The person finds the text of a question on the line.
func TestAQuestionBeginsWithAText(t *testing.T) {
	text := "{\n\t\"to\": \"bob\"\n}"
	if got := answer(t, Question{Text: text}, nil, "\x7f,}\r"); got.Text != text[:len(text)-1]+",}" {
		t.Errorf("the edited text is %q", got.Text)
	}
}

// Neither a paste nor a key that came before the question answers a decision.
func TestADecisionTakesNoPasteAndNoEarlyKey(t *testing.T) {
	q := Question{Prompt: "allow it? ", Decision: true}
	if got := answer(t, q, nil, "\x1b[200~y\r\x1b[201~\x1b[200~y\x1b[201~\n\tno\r"); got.Text != "no" {
		t.Errorf("the decision is %q", got.Text)
	}
	e := newEditor(q, nil)
	press := func(k tea.KeyPressMsg) { _, _ = e.Update(k) }
	enter := tea.KeyPressMsg{Code: tea.KeyEnter}
	press(tea.KeyPressMsg{Code: 'y', Text: "y"})
	press(enter)
	_, _ = e.Update(calm{0}) // of the time before the keys
	press(enter)
	if e.ended || e.ready || e.View().Content != "" {
		t.Errorf("an early key counts: ended %v, ready %v, drawn %q", e.ended, e.ready, e.View().Content)
	}
	_, _ = e.Update(calm{e.early})
	if !strings.Contains(e.View().Content, "allow it?") {
		t.Errorf("the question is not drawn: %q", e.View().Content)
	}
	press(tea.KeyPressMsg{Code: 'n', Text: "n"})
	if press(enter); !e.ended || e.typed.Text != "n" {
		t.Errorf("the decision is %q", e.typed.Text)
	}
}

// Lines are not longer than the terminal, before and after it has got another size. A prompt that
// leaves no room for the answer stands above it.
func TestTheEditorFitsTheTerminal(t *testing.T) {
	e := newEditor(Question{Prompt: "  " + strings.Repeat("a question ", 6), Message: true, Text: strings.Repeat("日本語 ", 20)}, nil)
	for _, wide := range []int{60, 24} {
		_, _ = e.Update(tea.WindowSizeMsg{Width: wide, Height: 50})
		view := e.View()
		lines := strings.Split(view.Content, "\n")
		for _, line := range lines {
			if n := columns(line); n > wide {
				t.Errorf("at %d columns, the line %q has %d", wide, line, n)
			}
		}
		if view.Cursor == nil || view.Cursor.X >= wide || view.Cursor.Y != len(lines)-1 {
			t.Errorf("at %d columns, the cursor is at %+v of %d lines", wide, view.Cursor, len(lines))
		}
	}
}

// columns counts wide characters twice.
func columns(line string) (n int) {
	for _, r := range line {
		n++
		if r > 0x2fff {
			n++
		}
	}
	return n
}

// A paste that an editor cannot hold is refused, and not cut.
func TestAPasteThatIsTooLongIsRefused(t *testing.T) {
	e := newEditor(Question{Message: true, Text: "kept"}, nil)
	_, _ = e.Update(tea.PasteMsg{Content: strings.Repeat("\n", maxEditedLines)})
	if e.text() != "kept" || !strings.Contains(e.View().Content, "too long") {
		t.Errorf("the text is %q, drawn %q", e.text(), e.View().Content)
	}
}
