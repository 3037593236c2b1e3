package terminal

import (
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/toolhost/toolhost/internal/cli"
)

// Editor reads messages that a person types at a terminal, with arrow keys, a history and several
// lines. A line that ends with a backslash continues in the next line. A paste of several lines is
// one message: lineMark replaces the line ends until the message is sent. It is for one goroutine.
type Editor struct {
	file  *os.File
	lines *term.Terminal
	size  func() (wide, high int)
}

const (
	PromptMessage = "› "
	promptMore    = "… "
)

// NewEditor returns an editor, or nil if standard input or output is not a terminal. in reads
// standard input.
func NewEditor(p cli.Process, in io.Reader) *Editor {
	file, ok := p.Stdin.(*os.File)
	if !ok || !cli.IsTerminal(file) || !cli.IsTerminal(p.Stdout) {
		return nil
	}
	e := &Editor{file: file, size: func() (int, int) { return cli.TerminalSize(p.Stdout) }}
	e.lines = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&PasteReader{In: in}, p.Stdout}, PromptMessage)
	return e
}

// Begin switches the terminal to raw mode until the caller calls end. The caller may call end while
// Read waits.
func (e *Editor) Begin() (end func(), err error) {
	before, err := term.MakeRaw(int(e.file.Fd()))
	if err != nil {
		return nil, err
	}
	if err := e.lines.SetSize(e.size()); err != nil {
		return nil, errors.Join(err, term.Restore(int(e.file.Fd()), before))
	}
	e.lines.SetBracketedPasteMode(true)
	return func() {
		e.lines.SetBracketedPasteMode(false)
		_ = term.Restore(int(e.file.Fd()), before)
	}, nil
}

// Read returns the next message. Its error is io.EOF if the person presses Ctrl-C or Ctrl-D.
func (e *Editor) Read() Typed { return ReadMessage(e.lines) }

// readMessage reads lines until the message is complete.
func ReadMessage(lines interface {
	ReadLine() (string, error)
	SetPrompt(prompt string)
}) Typed {
	var message strings.Builder
	defer lines.SetPrompt(PromptMessage)
	for {
		line, err := lines.ReadLine()
		// ErrPasteIndicator means that the whole line was pasted
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			return Typed{Err: err}
		}
		text, goesOn := strings.CutSuffix(line, `\`)
		message.WriteString(unmarked(text))
		if !goesOn {
			return Typed{Text: message.String()}
		}
		message.WriteByte('\n')
		lines.SetPrompt(promptMore)
	}
}
