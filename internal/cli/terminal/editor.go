package terminal

import (
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/toolhost/toolhost/internal/cli"
)

// editor lets a person at a terminal write messages: with arrow keys, a history, and several lines. A line that ends with a
// backslash goes on in the next one, and a paste of several lines is one message, in which lineMark stands for the line ends
// until it is sent. It is for one goroutine.
type Editor struct {
	file  *os.File
	lines *term.Terminal
	size  func() (wide, high int)
}

const (
	PromptMessage = "› "
	promptMore    = "… "
)

// newEditor returns an editor, or nil where standard input or output is not a terminal. in reads standard input.
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

// begin lets the editor have the terminal's keys until end is called, which may be done while read is waiting.
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

// read returns the next message. Its error is io.EOF if the person leaves with Ctrl-C or Ctrl-D.
func (e *Editor) Read() Typed { return ReadMessage(e.lines) }

// readMessage reads lines until a message is whole.
func ReadMessage(lines interface {
	ReadLine() (string, error)
	SetPrompt(prompt string)
}) Typed {
	var message strings.Builder
	defer lines.SetPrompt(PromptMessage)
	for {
		line, err := lines.ReadLine()
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) { // all of it was pasted, and then the return key came
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
